/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "outlet.h"

#include "boxes.h"
#include "drainspawn.h"
#include "environ.h"
#include "handover.h"
#include "hosttime.h"
#include "injection.h"
#include "names.h"
#include "pin.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS 2000000000ull /* less than the reader is waited for at exit */
#define STEP_NS     200000 /* half a ring is given back at once, in about that time */
#define RETRY_NS    1000000000ull
#define EXPECT_NS   10000000000ull /* gpurt_open takes a second or two */

enum {
    BORROW_STEPS = 5000 /* a second */
};

/* One process, one outlet. */
static struct {
    pthread_mutex_t lock; /* guards all but xleft and xasked */
    gpurt_boxmap_t map;
    gpurt_hostring_t ring;
    gpurt_hostbatch_t batch; /* between enter and exit; else empty */
    names_t names;
    int drainer;        /* pipe to a drainer of our own, or -1 */
    bool open, ours;    /* ours: we made the box */
    bool theirs;        /* the program opens gpurt itself: its boxes are the place */
    bool stalled;       /* the last batch found no room in time */
    uint64_t expect_ns; /* the program is making a box: until then none is made */
    uint64_t retry_ns;  /* a box could not be had: not before this time again */
    char asked[GPURT_HANDOVER_NAME]; /* who asked for the box; empty: the environment */
    gpurt_pin_t pin;   /* of who borrows the ring; live while the box is open */
    uint32_t boxes;    /* that were opened so far */
    uint32_t xrefused; /* 1: it was told that there is no log; written by: a holder */
    uint32_t xasked;   /* 1: `asked` names somebody; written by: who asks */
    uint64_t xleft;    /* 1: a forked child; written by: that child, alone in its process */
} outlet = {.lock = PTHREAD_MUTEX_INITIALIZER, .drainer = -1};

bool outlet_wanted(void)
{
    const char *off = gpurt_env_get("GPURT_OFF"),
               *opens = gpurt_env_get(GPURT_INJECTION_OPENS);

    if (opens && strtol(opens, NULL, 10) == (long)getpid())
        outlet.expect_ns = gpurt_steady_ns() + EXPECT_NS;
    return (gpurt_env_get(GPURT_HANDOVER_ENV) || gpurt_env_get("GPURT_LOG")) &&
           (!off || strcmp(off, "0") == 0);
}

void outlet_ask(const char *drainer)
{
    pthread_mutex_lock(&outlet.lock);
    snprintf(outlet.asked, sizeof outlet.asked, "%s", drainer);
    gpurt_store_relaxed_sys_u32(&outlet.xasked, drainer[0] != 0); /* relaxed: it says all */
    outlet.retry_ns = 0; /* the one before may be gone */
    pthread_mutex_unlock(&outlet.lock);
}

static void wait_a_step(void)
{
    struct timespec step = {.tv_nsec = STEP_NS};

    nanosleep(&step, NULL);
}

/* ---- the box ------------------------------------------------------------------------- */

static bool life_is_open(void)
{
    return gpurt_load_acquire_sys_u32(&outlet.map.box->xlife) ==
           GPURT_LIFE_OPEN; /* B4.acq */
}

static bool box_fits(const gpurt_boxmap_t *map)
{
    uint32_t life = gpurt_load_acquire_sys_u32(&map->box->xlife); /* B4.acq */

    return map->box->identity.pid == (uint32_t)getpid() && life == GPURT_LIFE_OPEN &&
           gpurt_hostring_find(map) < GPURT_BOX_SECTIONS;
}

/* The box of gpurt_open in this process: the oldest that has a place for host records. It is
 * found again where a device is closed and others stay open. */
static bool box_find(gpurt_error_t *err)
{
    static gpurt_boxes_t boxes; /* under the lock; too large for any stack */
    uint32_t i = 0;

    if (gpurt_boxes_of_pid((uint32_t)getpid(), true, &boxes, err) != GPURT_OK)
        return false;
    while (i < boxes.count && !box_fits(&boxes.map[i]))
        i++;
    if (i < boxes.count)
        outlet.map = gpurt_boxes_take(&boxes, i);
    gpurt_boxes_detach(&boxes);
    if (!outlet.map.box)
        return false;
    if (gpurt_hostring_init(&outlet.ring, &outlet.map, gpurt_hostring_find(&outlet.map),
                            err) == GPURT_OK)
        return true;
    gpurt_boxmap_detach(&outlet.map);
    return false;
}

/* A file has one drainer: where another process of the program has it, as whoever started us
 * may, ours is beside it, with our number. */
static gpurt_status_t drainer_start(const char *file, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_drainspawn_start(file, outlet.map.fd, &outlet.drainer, err);
    char name[PATH_MAX];

    if (st == GPURT_OK || !gpurt_drainspawn_numbered(file, (long)getpid(), name))
        return st;
    /* What is told, if neither can be had, is of the file that was named. */
    return gpurt_drainspawn_start(name, outlet.map.fd, &outlet.drainer, NULL) == GPURT_OK
               ? GPURT_OK
               : st;
}

static bool box_make(gpurt_error_t *err)
{
    gpurt_section_plan_t section;
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &section};
    gpurt_status_t st;

    gpurt_hostring_plan(&section);
    if (gpurt_boxmap_create(&plan, &outlet.map, err) != GPURT_OK)
        return false;
    gpurt_hostring_clock(&outlet.map, 0);
    st = gpurt_hostring_init(&outlet.ring, &outlet.map, 0, err);
    if (st == GPURT_OK)
        st = outlet.asked[0] ? gpurt_handover_give_to(outlet.asked, &outlet.map, err)
             : gpurt_env_get(GPURT_HANDOVER_ENV)
                 ? gpurt_handover_give(&outlet.map, err)
                 : drainer_start(gpurt_env_get("GPURT_LOG"), err);
    if (st == GPURT_OK)
        return true;
    gpurt_boxmap_detach(&outlet.map);
    return false;
}

static uint64_t pin_now(void)
{
    return pin_id(outlet.boxes, 0);
}

/* Whoever has borrowed the ring is inside a call that waits for nothing; a thread that was
 * ended there never comes back. Returns: whether nobody has it. */
static bool borrowers_leave(void)
{
    bool last;

    if (!pin_retire(&outlet.pin, pin_now(), &last))
        return true;
    for (int i = 0; !last && i < BORROW_STEPS; i++) {
        wait_a_step();
        last = pin_users(&outlet.pin) == 0;
    }
    return last;
}

static void box_drop(void)
{
    bool unused = borrowers_leave();

    if (outlet.ours)
        gpurt_store_release_sys_u32(&outlet.map.box->xlife, GPURT_LIFE_CLOSED); /* B4.rel */
    if (unused)
        gpurt_boxmap_detach(&outlet.map);
    else
        memset(&outlet.map, 0, sizeof outlet.map); /* it stays mapped */
    names_clear(&outlet.names);
    outlet.open = outlet.ours = outlet.stalled = false;
}

/* A recorder that is gone is no news to anybody; one of another user's is, and so is a file that
 * cannot be had. Once: it is tried again. */
static void refusal_tell(const gpurt_error_t *err)
{
    if (outlet_is_refused() || (outlet_is_recorded() && err->status != GPURT_E_HANDLE))
        return;
    gpurt_store_relaxed_sys_u32(&outlet.xrefused, 1); /* relaxed: it says all */
    fprintf(stderr, "gpurt: no log of what the GPU does: %s\n", err->text);
}

/* What readers of a log go by, and how we fare as a rule: it has its number before a program's own
 * names use the room up. */
static void words_define(void)
{
    static const char *const words[] = {"on",       ("on; " OUTLET_NAMES_FULL),
                                        "take",     "give back",
                                        "pageable", "pinned",
                                        "device",   "array",
                                        "managed",  "device, static",
                                        "begin",    "managed, static",
                                        "end",      "pool destroyed",
                                        "mark"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        names_number(&outlet.names, &outlet.ring, words[i], false);
}

/* Under the lock. A program that closes its box has said all, until it opens another; one
 * that opens its first after we made ours changes nothing, because our names are there. A drainer takes its time to say
 * no, and a program that ends waits for that once at most. */
static bool ready(bool last)
{
    gpurt_error_t err;
    uint64_t now;
    bool makes;

    if (outlet.open && !outlet.ours && !life_is_open())
        box_drop();
    if (outlet.open)
        return true;
    now = gpurt_steady_ns();
    if (now < outlet.retry_ns && !last)
        return false;
    outlet.open = box_find(&err);
    outlet.theirs |= outlet.open;
    makes = last ? !outlet_is_refused() : now > outlet.expect_ns;
    if (makes && !outlet.open && !outlet.theirs) {
        outlet.open = outlet.ours = box_make(&err);
        if (!outlet.open)
            refusal_tell(&err);
    }
    if (outlet.open) {
        outlet.boxes++;
        words_define();
        pin_publish(&outlet.pin, pin_now());
    } else
        outlet.retry_ns = now + (outlet.expect_ns ? RETRY_NS / 20 : RETRY_NS);
    return outlet.open;
}

/* ---- records ------------------------------------------------------------------------- */

static bool is_left(void)
{
    return gpurt_load_relaxed_dev_u64(&outlet.xleft) != 0; /* relaxed: set by this thread */
}

/* It waits with the lock held: the other writers of the collector would find the same full
 * ring. Threads of the program never come here. */
static bool batch_written(uint64_t time_ns)
{
    uint64_t until = 0;

    while (!gpurt_hostring_write(&outlet.ring, &outlet.batch, time_ns)) {
        uint64_t now = gpurt_steady_ns();

        until = until ? until : now + PATIENCE_NS;
        if (outlet.stalled || now > until)
            return false;
        wait_a_step();
    }
    return true;
}

static void batch_end(uint64_t time_ns)
{
    if (outlet.batch.count == 0)
        return;
    outlet.stalled = !batch_written(time_ns);
    if (!outlet.stalled)
        return;
    gpurt_hostring_lose(&outlet.ring, outlet.batch.count, GPURT_LOSS_FULL, time_ns);
    outlet.batch.count = outlet.batch.groups = 0;
}

bool outlet_enter(bool last)
{
    if (is_left())
        return false;
    pthread_mutex_lock(&outlet.lock);
    if (ready(last))
        return true;
    pthread_mutex_unlock(&outlet.lock);
    return false;
}

void outlet_exit(void)
{
    batch_end(gpurt_real_ns());
    pthread_mutex_unlock(&outlet.lock);
}

void *outlet_room(uint32_t kind, uint32_t device, uint64_t time_ns)
{
    void *room = gpurt_hostring_room(&outlet.ring, &outlet.batch, kind, device, time_ns);

    if (room)
        return room;
    batch_end(time_ns);
    return gpurt_hostring_room(&outlet.ring, &outlet.batch, kind, device, time_ns);
}

void outlet_put(uint32_t kind, uint32_t device, uint64_t time_ns, const void *payload)
{
    if (gpurt_hostring_gather(&outlet.ring, &outlet.batch, kind, device, time_ns, payload))
        return;
    batch_end(time_ns);
    gpurt_hostring_gather(&outlet.ring, &outlet.batch, kind, device, time_ns, payload);
}

void outlet_warn(uint64_t time_ns, const char *text)
{
    outlet_put(GPURT_KIND_TEXT, 0, time_ns, text);
}

void outlet_lose(uint64_t count, uint32_t reason, uint64_t time_ns)
{
    for (; count > 0; count -= count < INT32_MAX ? count : INT32_MAX)
        gpurt_hostring_lose(&outlet.ring, count < INT32_MAX ? (uint32_t)count : INT32_MAX,
                            reason, time_ns);
}

const gpurt_hostring_t *outlet_borrow(uint64_t *box)
{
    uint64_t id = pin_word(&outlet.pin) >> PIN_USER_BITS;

    *box = id;
    if (is_left() || !(id & 1) || !pin_take(&outlet.pin, id))
        return NULL;
    if (outlet.ours || life_is_open())
        return &outlet.ring;
    pin_drop(&outlet.pin); /* the program has closed it: nobody reads it for long */
    return NULL;
}

void outlet_return(void)
{
    pin_drop(&outlet.pin);
}

uint64_t outlet_box(void)
{
    return pin_word(&outlet.pin) >> PIN_USER_BITS;
}

uint64_t outlet_place(void)
{
    uint64_t box, reader;

    if (!outlet_borrow(&box))
        return 0;
    /* relaxed: another reader comes some time */
    reader = gpurt_load_relaxed_sys_u64(&outlet.map.box->claim.xowner) >> 32;
    outlet_return();
    return box << 32 | (reader > 1 ? reader : 1); /* the first: behind the box */
}

bool outlet_is_open(void)
{
    uint64_t box;
    const bool open = outlet_borrow(&box) != NULL;

    if (open)
        outlet_return();
    return open;
}

bool outlet_is_refused(void)
{
    return gpurt_load_relaxed_sys_u32(&outlet.xrefused); /* relaxed: it says all */
}

bool outlet_is_recorded(void)
{
    return gpurt_load_relaxed_sys_u32(&outlet.xasked) || /* relaxed: it says all */
           gpurt_env_get(GPURT_HANDOVER_ENV);
}

uint32_t outlet_name(const char *text, bool is_kernel)
{
    return names_number(&outlet.names, &outlet.ring, text, is_kernel);
}

bool outlet_names_are_full(void)
{
    return outlet.names.full;
}

void outlet_close(void)
{
    if (is_left())
        return;
    pthread_mutex_lock(&outlet.lock);
    if (outlet.open)
        box_drop();
    gpurt_drainspawn_wait(outlet.drainer);
    outlet.drainer = -1;
    outlet.retry_ns = UINT64_MAX; /* nothing opens it again */
    pthread_mutex_unlock(&outlet.lock);
}

void outlet_leave(void)
{
    gpurt_store_relaxed_dev_u64(&outlet.xleft, 1); /* relaxed: one thread after fork */
}
