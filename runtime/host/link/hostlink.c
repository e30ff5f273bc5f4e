/* SPDX-License-Identifier: Apache-2.0 */
/* All threads share one ring of the box; where they meet, a compare-exchange gives each its
 * place. No lock, so a fork in the middle of a call leaves nothing behind. */
#include "hostlink.h"

#include "hosttime.h"
#include "pin.h"
#include "process.h"
#include "sitegate.h"

#include <gpurt/hostlog.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    NAP_NS = 50000,
    NAPS = 200000,         /* 10 s without room: nobody drains */
    CUT_OFF_NS = 50000000, /* a site that another thread defines takes less */
    TEXT_BYTES = (GPURT_RECORD_MAX_WORDS - 1) * 4
};

/* Fixed while the pin is live. */
static struct {
    gpurt_pin_t pin;
    uint32_t xclosing; /* written by: disconnect */
    const gpurt_boxmap_t *map;
    uint32_t section;
    gpurt_ring_port_t port;
} host;

/* One box at a time, and of this process: a forked child has the mapping and could write, but the
 * box tells of its parent. */
static uint64_t host_id(void)
{
    return pin_id(gpurt_process_generation(), 0);
}

static bool enter(void)
{
    return pin_word(&host.pin) && pin_take(&host.pin, host_id());
}

/* Who disconnects polls the users: nobody else waits for the last one. */
static void leave(void)
{
    (void)pin_drop(&host.pin);
}

static uint32_t thread_id(void)
{
    static GPURT_TLS uint32_t id;

    if (!id)
        id = (uint32_t)syscall(SYS_gettid);
    return id;
}

/* ---- definitions --------------------------------------------------------------------- */
/* Of a call with strings: its records are text, and its arguments have no words. */
static bool is_text(uint64_t types)
{
    for (; types; types >>= 4)
        if ((types & 15u) == GPURT_TYPE_STRING)
            return true;
    return false;
}

/* Returns: number of the definition, with its head's slots filled in; 0: no room. */
static uint32_t def_take(uint32_t text_bytes, gpurt_def_t **out)
{
    uint32_t slots = ((uint32_t)sizeof(gpurt_def_t) + text_bytes + GPURT_DEF_BYTES - 1) /
                     GPURT_DEF_BYTES;
    uint32_t slot, count = host.map->sections[host.section].def_count;

    if (slots > GPURT_DEF_MAX_SLOTS)
        return 0;
    slot = gpurt_add_relaxed_sys_u32(&host.map->box->sections[host.section].xdefs, slots);
    if (slot > count || slots > count - slot)
        return 0;
    *out = gpurt_boxmap_def(host.map, host.section, slot);
    (*out)->slots = (uint16_t)slots;
    return slot + 1;
}

static uint32_t site_define(gpurt_site_t *site)
{
    uint32_t level =
        gpurt_level_at(&host.map->box->control, site->file, site->file_bytes, site->line);
    gpurt_def_t *def = NULL;
    uint32_t number = def_take((uint32_t)site->format_bytes + site->file_bytes, &def);
    uint32_t gate = number;

    if (number == 0 || site->level < level)
        gate |= GPURT_GATE_OFF;
    gpurt_store_release_dev_u32(site->xgate, gate); /* B8.rel */
    if (number == 0 && site->level >= level)        /* it logs nothing: said once a site */
        gpurt_ring_lose(&host.port, 1, GPURT_LOSS_SITES, gpurt_real_ns());
    if (number == 0)
        return gate;
    def->level = site->level;
    def->arg_count = site->arg_count;
    def->line = site->line;
    def->kind = site->kind;
    def->types = is_text(site->types) ? 0 : site->types;
    def->gate = (uint64_t)(uintptr_t)site->xgate;
    def->format_bytes = site->format_bytes;
    def->file_bytes = site->file_bytes;
    memcpy(gpurt_def_text(def), site->format, site->format_bytes);
    memcpy(gpurt_def_text(def) + site->format_bytes, site->file, site->file_bytes);
    gpurt_store_release_sys_u32(&def->xstate, GPURT_DEF_SITE); /* B3.rel */
    return gate;
}

uint32_t gpurt_hostlog_define(gpurt_site_t *site)
{
    uint64_t begin = 0;
    uint32_t gate = 0;

    if (!enter())
        return GPURT_GATE_OFF;
    if (gpurt_cas_relaxed_dev_u32(site->xgate, &gate, GPURT_GATE_CLAIMED))
        gate = site_define(site);
    /* Another thread's, which does not wait for us; or of a thread that the fork of this process
     * has cut off: then the site gets its definition here. */
    while (gate == GPURT_GATE_CLAIMED) {
        uint64_t now = gpurt_steady_ns();

        begin = begin ? begin : now;
        sched_yield();
        gate = gpurt_load_acquire_dev_u32(site->xgate); /* B8.acq */
        if (gate == GPURT_GATE_CLAIMED && now - begin > CUT_OFF_NS &&
            gpurt_process_is_forked())
            gate = site_define(site);
    }
    leave();
    return gate;
}

/* ---- records ------------------------------------------------------------------------- */
static bool room_wait(uint32_t groups, uint64_t time_ns, uint32_t *at)
{
    struct timespec nap = {0, NAP_NS};

    for (uint32_t naps = 0;; naps++) {
        if (gpurt_ring_take_shared(&host.port, groups, 1, time_ns, at))
            return true;
        if (host.port.policy != GPURT_POLICY_BLOCK)
            return false; /* it is counted */
        /* relaxed: a flag alone */
        if (naps == NAPS || gpurt_load_relaxed_sys_u32(&host.xclosing)) {
            gpurt_ring_lose(&host.port, 1, GPURT_LOSS_FULL, time_ns);
            return false;
        }
        nanosleep(&nap, NULL);
    }
}

static void record_put(uint32_t gate, uint32_t kind, const uint32_t *words, uint32_t count)
{
    uint64_t time_ns = gpurt_real_ns();
    uint32_t groups = gpurt_record_groups(count), thread = thread_id(), at;
    uint32_t head[GPURT_RECORD_HEAD_WORDS] = {
        gpurt_record_what(gate, kind, GPURT_FORM_THREAD, 0), (uint32_t)time_ns,
        (uint32_t)(time_ns >> 32) & 0xffffu, thread};

    if (!room_wait(groups, time_ns, &at))
        return;
    for (uint32_t g = 0; g < groups; g++) {
        gpurt_group_t group;

        group.tag = g == 0 ? gpurt_tag_first(at, thread, groups)
                           : gpurt_tag_rest(at + g, thread, g);
        for (uint32_t t = 0; t < GPURT_GROUP_WORDS; t++) {
            uint32_t i = g * GPURT_GROUP_WORDS + t, k = i - GPURT_RECORD_HEAD_WORDS;

            group.word[t] = i < GPURT_RECORD_HEAD_WORDS ? head[i]
                            : k < count                 ? words[k]
                                                        : 0;
        }
        gpurt_group_store(gpurt_ring_at(&host.port, at + g), group);
    }
}

void gpurt_hostlog_words(uint32_t gate, const uint32_t *words, uint32_t count)
{
    if (!enter())
        return;
    record_put(gate, GPURT_KIND_LOG, words, count);
    leave();
}

void gpurt_hostlog_text(uint32_t gate, const char *fmt, ...)
{
    uint32_t words[1 + TEXT_BYTES / 4 + 1];
    va_list args;
    int length;

    if (!enter())
        return;
    va_start(args, fmt);
    length = vsnprintf((char *)&words[1], TEXT_BYTES + 1, fmt, args);
    va_end(args);
    words[0] = length < 0 ? 0 : length > TEXT_BYTES ? TEXT_BYTES : (uint32_t)length;
    record_put(gate, GPURT_KIND_TEXT, words, 1 + (words[0] + 3) / 4);
    leave();
}

/* ---- the box ------------------------------------------------------------------------- */
void gpurt_hostlink_connect(const gpurt_boxmap_t *map, uint32_t section)
{
    host.map = map;
    host.section = section;
    host.port = gpurt_boxmap_port(map, section, 0);
    gpurt_store_relaxed_sys_u32(&host.xclosing, 0); /* relaxed: the pin publishes */
    pin_publish(&host.pin, host_id());
}

void gpurt_hostlink_disconnect(void)
{
    bool last;

    if (!pin_retire(&host.pin, host_id(), &last))
        return;
    gpurt_store_relaxed_sys_u32(&host.xclosing, 1); /* relaxed: a flag alone */
    while (!last && pin_users(&host.pin) != 0)
        sched_yield();
    gpurt_sitegate_forget(host.map, host.section);
}
