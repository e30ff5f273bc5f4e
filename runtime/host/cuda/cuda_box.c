/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_box.h"

#include "boxmap.h"
#include "cuda_clock.h"
#include "cuda_error.h"
#include "hosttime.h"
#include "logconnect.h"
#include "logunit.h"

#include <gpurt/impl/levels.h>
#include <gpurt/impl/trail.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIT_EVERY_NS = 1000000000,
    FIT_PATIENCE = 64 /* a GPU that is full all the time is asked less and less often */
};
GPURT_STATIC_ASSERT(sizeof(gpurt_ring_head_t) <= GPURT_LOG_HEAD_BYTES,
                    "heads do not overlap");

/* Owner: the device, from connect to disconnect. Shared with: every thread that launches
 * or waits; they change only what is under the lock, and xgreeted. */
struct gpurt_cuda_box {
    const gpurt_boxmap_t *map;
    uint32_t section;
    bool registered;
    char *memory;          /* on the device: heads, strings, count of definitions */
    gpurt_trail_t *trails; /* on the device; NULL: no unit wants them */
    gpurt_log_port_t port; /* as every unit has it */
    uint32_t span;         /* levels that are open in it, from PANIC downwards */
    uint32_t xgreeted;     /* units seen; written by: a thread that launches */
    uint64_t xfit_due_ns;  /* written by: a thread that waits, under lock */
    uint32_t fit_pause;    /* in FIT_EVERY_NS; under lock */
    pthread_mutex_t lock;
    gpurt_cuda_clock_t clock; /* under lock */
    cudaStream_t words;       /* for ports and gates: no kernel ever waits in it */
};

/* ---- device memory ------------------------------------------------------------------- */

static uint32_t heads_end(const gpurt_box_section_t *s)
{
    return gpurt_log_gpu_head(s->sm_count, 0);
}

/* One more than warps have: one without a ring reads there that there is no room. */
static size_t heads_bytes(const gpurt_box_section_t *s)
{
    return (size_t)heads_end(s) + GPURT_LOG_HEAD_BYTES;
}

static gpurt_ring_head_t *head_of(char *heads, const gpurt_box_section_t *s, uint32_t ring)
{
    return (gpurt_ring_head_t *)(heads + gpurt_log_gpu_head(ring / s->warp_slots,
                                                            ring % s->warp_slots));
}

static size_t strings_bytes(void)
{
    return GPURT_LOG_STRINGS * sizeof(gpurt_log_string_entry_t);
}

static cudaError_t memory_fill(gpurt_cuda_device_t *d, struct gpurt_cuda_box *b,
                               const gpurt_box_section_t *s)
{
    size_t bytes = heads_bytes(s) + strings_bytes() + sizeof(uint32_t);
    char *start = calloc(1, bytes);
    cudaError_t e;

    if (!start)
        return cudaErrorMemoryAllocation;
    for (uint32_t i = 0; i < s->ring_count; i++) {
        gpurt_ring_head_t *head = head_of(start, s, i);

        head->xhead = head->xlimit = GPURT_RING_START; /* the first record looks */
    }
    e = gpurt_cuda_api->malloc((void **)&b->memory, bytes);
    if (e == cudaSuccess)
        e = gpurt_cuda_api->memcpy_async(b->memory, start, bytes, cudaMemcpyDefault,
                                         d->stream);
    if (e == cudaSuccess)
        e = gpurt_cuda_api->stream_synchronize(d->stream);
    free(start);
    return e;
}

static bool unit_wants_trails(void *context, const gpurt_log_unit_t *unit)
{
    *(bool *)context |= unit->trails != 0;
    return true;
}

/* Notes of kernels, if there are kernels that make some. */
static cudaError_t trails_make(gpurt_cuda_device_t *d, struct gpurt_cuda_box *b,
                               const gpurt_box_section_t *s)
{
    size_t bytes = (size_t)s->ring_count * sizeof(gpurt_trail_t);
    bool wanted = false;
    cudaError_t e;

    gpurt_log_unit_each(unit_wants_trails, &wanted);
    if (!wanted)
        return cudaSuccess;
    e = gpurt_cuda_api->malloc((void **)&b->trails, bytes);
    if (e == cudaSuccess)
        e = gpurt_cuda_api->memset_async(b->trails, 0, bytes, d->stream);
    return e == cudaSuccess ? gpurt_cuda_api->stream_synchronize(d->stream) : e;
}

/* ---- ports --------------------------------------------------------------------------- */

/* Where the GPU sees a part of the box. */
static void *seen(const struct gpurt_cuda_box *b, char *box, const void *part)
{
    return box + ((const char *)part - (const char *)b->map->box);
}

static void rings_fill(struct gpurt_cuda_box *b, const gpurt_box_section_t *s, char *box)
{
    const gpurt_boxmap_t *map = b->map;
    gpurt_log_port_t *p = &b->port;

    p->groups = (gpurt_group_t *)seen(b, box, gpurt_boxmap_groups(map, b->section, 0));
    p->controls =
        (gpurt_ring_control_t *)seen(b, box, gpurt_boxmap_control(map, b->section, 0));
    p->heads = b->memory;
    p->trails = b->trails;
    p->group_count = s->ring_bytes / GPURT_GROUP_BYTES;
    p->ring_bytes = s->ring_bytes;
    p->ring_count = s->ring_count;
    p->warp_slots = s->warp_slots;
    p->heads_end = heads_end(s);
    p->policy = s->policy;
    b->span = GPURT_LEVEL_PANIC + 1 - gpurt_level_lowest(&map->box->control, s->floor);
    gpurt_log_port_open(p, b->span);
}

static void port_fill(struct gpurt_cuda_box *b, const gpurt_box_section_t *s, char *box)
{
    const gpurt_boxmap_t *map = b->map;
    gpurt_box_section_t *shared = &map->box->sections[b->section];
    gpurt_log_port_t *p = &b->port;

    p->strings = (gpurt_log_string_entry_t *)(b->memory + heads_bytes(s));
    p->xdefs = (uint32_t *)(p->strings + GPURT_LOG_STRINGS);
    if (s->def_count)
        p->defs = (gpurt_def_t *)seen(b, box, gpurt_boxmap_def(map, b->section, 0));
    if (s->panic_count)
        p->panics = (gpurt_panic_t *)seen(b, box, gpurt_boxmap_panic(map, b->section, 0));
    p->xpanics = (uint32_t *)seen(b, box, &shared->xpanics);
    p->xfailed = (uint32_t *)seen(b, box, &shared->xfailed);
    p->control = (const gpurt_box_control_t *)seen(b, box, &map->box->control);
    gpurt_log_connect_state(map, b->section, p);
    if (p->waits) {
        p->waits = (gpurt_group_t *)seen(b, box, p->waits);
        p->objects = (gpurt_waitable_entry_t *)seen(b, box, p->objects);
        p->xobjects = (uint32_t *)seen(b, box, p->xobjects);
    }
    p->def_count = s->def_count;
    p->panic_count = s->panic_count;
    if (!map->bare)
        rings_fill(b, s, box);
}

/* What a walk over the units carries along. */
typedef struct errand {
    cudaStream_t stream;
    const gpurt_log_port_t *port;
    cudaError_t e;
} errand_t;

static bool unit_tell(void *context, const gpurt_log_unit_t *unit)
{
    errand_t *errand = (errand_t *)context;
    cudaError_t e = gpurt_cuda_api->memcpy_to_symbol_async(
        unit->symbol, errand->port, sizeof *errand->port, 0, cudaMemcpyHostToDevice,
        errand->stream);

    /* A unit without device code, or without any for this GPU. */
    if (e == cudaErrorInvalidSymbol || e == cudaErrorNoKernelImageForDevice) {
        (void)gpurt_cuda_api->get_last_error();
        return true;
    }
    errand->e = e;
    return e == cudaSuccess;
}

static cudaError_t units_tell(cudaStream_t stream, const gpurt_log_port_t *port)
{
    errand_t errand = {stream, port, cudaSuccess};

    gpurt_log_unit_each(unit_tell, &errand);
    return errand.e == cudaSuccess ? gpurt_cuda_api->stream_synchronize(stream) : errand.e;
}

void gpurt_cuda_box_greet(gpurt_cuda_device_t *d)
{
    struct gpurt_cuda_box *b = d->box;
    uint32_t count = gpurt_log_unit_count();

    /* relaxed: two threads that both tell all units tell them the same */
    if (count == gpurt_load_relaxed_sys_u32(&b->xgreeted))
        return;
    if (units_tell(b->words, &b->port) == cudaSuccess)
        gpurt_store_relaxed_sys_u32(&b->xgreeted, count);
    else
        (void)gpurt_cuda_api->get_last_error();
}

/* ---- clock --------------------------------------------------------------------------- */

/* Context: under lock, or before any other thread knows of it. */
static void clock_measure(struct gpurt_cuda_box *b)
{
    bool fitted = gpurt_cuda_clock_fit(&b->clock);

    if (fitted)
        gpurt_boxmap_set_clock(b->map, b->section, &b->clock.last);
    b->fit_pause = fitted                        ? 1
                   : b->fit_pause < FIT_PATIENCE ? b->fit_pause * 2
                                                 : FIT_PATIENCE;
    gpurt_store_relaxed_sys_u64(&b->xfit_due_ns, /* relaxed: a date, no more */
                                gpurt_steady_ns() + (uint64_t)b->fit_pause * FIT_EVERY_NS);
}

/* A GPU with no room for a thread at open: its clock is near real time, by the driver's
 * doing, but nobody measured how near. */
static void clock_start(struct gpurt_cuda_box *b)
{
    gpurt_clock_fit_t guess = {0, UINT32_MAX, 0, 0, 0};

    guess.device_ns = guess.real_ns = gpurt_real_ns();
    gpurt_boxmap_set_clock(b->map, b->section, &guess);
    b->fit_pause = 1;
    clock_measure(b);
}

void gpurt_cuda_box_tick(gpurt_cuda_device_t *d)
{
    struct gpurt_cuda_box *b = d->box;

    if (b->map->bare ||
        gpurt_steady_ns() <
            gpurt_load_relaxed_sys_u64(&b->xfit_due_ns) || /* relaxed: a date */
        pthread_mutex_trylock(&b->lock) != 0)
        return;
    clock_measure(b);
    pthread_mutex_unlock(&b->lock);
}

/* ---- connect, disconnect ------------------------------------------------------------- */

/* Registers what kernels write and read: the whole box, because it is one mapping. */
static cudaError_t box_register(struct gpurt_cuda_box *b, char **device)
{
    cudaError_t e = gpurt_cuda_api->host_register(
        b->map->box, b->map->bytes, cudaHostRegisterMapped | cudaHostRegisterPortable);

    if (e != cudaSuccess)
        return e;
    b->registered = true;
    return gpurt_cuda_api->host_get_device_pointer((void **)device, b->map->box, 0);
}

static void box_free(gpurt_cuda_device_t *d, struct gpurt_cuda_box *b)
{
    bool alive = !gpurt_cuda_is_lost(d);

    gpurt_cuda_clock_fini(&b->clock, alive);
    if (alive && b->words)
        (void)gpurt_cuda_api->stream_destroy(b->words);
    if (alive && b->memory)
        (void)gpurt_cuda_api->free(b->memory);
    if (alive && b->trails)
        (void)gpurt_cuda_api->free(b->trails);
    if (alive && b->registered)
        (void)gpurt_cuda_api->host_unregister(b->map->box);
    if (alive)
        (void)gpurt_cuda_api->get_last_error();
    pthread_mutex_destroy(&b->lock);
    free(b);
}

static cudaError_t box_make(gpurt_cuda_device_t *d, struct gpurt_cuda_box *b,
                            const char **doing)
{
    const gpurt_box_section_t *s = &b->map->sections[b->section];
    char *device = NULL;
    cudaError_t e;

    *doing = "register the black box with the GPU (GPURT_RING_BYTES makes it smaller)";
    e = box_register(b, &device);
    if (e != cudaSuccess)
        return e;
    *doing = "allocate GPU memory for the log";
    e = memory_fill(d, b, s);
    if (e == cudaSuccess && !b->map->bare)
        e = trails_make(d, b, s);
    if (e != cudaSuccess)
        return e;
    *doing = "create a stream for the log";
    e = gpurt_cuda_api->stream_create(&b->words, cudaStreamNonBlocking);
    if (e != cudaSuccess)
        return e;
    *doing = "measure the GPU's clock";
    e = b->map->bare ? cudaSuccess : gpurt_cuda_clock_init(&b->clock);
    if (e != cudaSuccess)
        return e;
    if (!b->map->bare) /* where nobody asks when it was, no kernel runs for it */
        clock_start(b);
    port_fill(b, s, device);
    b->xgreeted = gpurt_log_unit_count();
    *doing = "tell kernels where to log";
    return units_tell(b->words, &b->port);
}

gpurt_status_t gpurt_cuda_box_connect(void *self, const gpurt_boxmap_t *map,
                                      uint32_t section, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    struct gpurt_cuda_box *b = calloc(1, sizeof *b);
    const char *doing = "";
    gpurt_cuda_visit_t visit;
    gpurt_status_t st;

    if (!b)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_GPURT, 0,
                          "CUDA back end: no host memory for the log's state");
    if (map->sections[section].warp_slots > GPURT_LOG_HEADS) {
        free(b);
        return gpurt_fail(
            err, GPURT_E_UNSUPPORTED, GPURT_FROM_GPURT, 0,
            "CUDA back end: a multiprocessor of this GPU holds more warps than "
            "the log has places for (%d): use a newer gpurt",
            GPURT_LOG_HEADS);
    }
    pthread_mutex_init(&b->lock, NULL);
    b->map = map;
    b->section = section;
    st = gpurt_cuda_enter(d, &visit, err);
    if (st == GPURT_OK) {
        cudaError_t e = box_make(d, b, &doing);

        st = gpurt_cuda_leave(d, visit, e, err, doing);
    }
    if (st == GPURT_OK)
        d->box = b;
    else
        box_free(d, b);
    return st;
}

/* Where each producer stood, for a drainer that was overrun: into the box, where it can look. */
static void heads_bring(gpurt_cuda_device_t *d, const struct gpurt_cuda_box *b)
{
    const gpurt_box_section_t *s = &b->map->sections[b->section];
    char *heads = malloc(heads_bytes(s));

    if (!heads)
        return;
    if (gpurt_cuda_api->memcpy_async(heads, b->port.heads, heads_bytes(s),
                                     cudaMemcpyDefault, d->stream) == cudaSuccess &&
        gpurt_cuda_api->stream_synchronize(d->stream) == cudaSuccess)
        for (uint32_t i = 0; i < s->ring_count; i++)
            /* relaxed: B4 publishes it */
            gpurt_store_relaxed_sys_u64(
                &gpurt_boxmap_control(b->map, b->section, i)->head.xrecords,
                head_of(heads, s, i)->xrecords);
    free(heads);
}

void gpurt_cuda_box_gate_store(void *self, uint64_t gate, uint32_t value)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    struct gpurt_cuda_box *b = d->box;
    gpurt_cuda_visit_t visit;

    if (!b || gpurt_cuda_enter(d, &visit, NULL) != GPURT_OK)
        return;
    /* A copy engine's work: a memset would be a kernel. */
    if (gpurt_cuda_api->memcpy_async((void *)(uintptr_t)gate, &value, sizeof value,
                                     cudaMemcpyHostToDevice, b->words) != cudaSuccess)
        (void)gpurt_cuda_api->get_last_error(); /* of code that was unloaded */
    (void)gpurt_cuda_leave(d, visit, cudaSuccess, NULL, "");
}

void gpurt_cuda_box_span_store(void *self, uint32_t span)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    struct gpurt_cuda_box *b = d->box;
    gpurt_cuda_visit_t visit;

    if (!b || b->span == span || gpurt_cuda_enter(d, &visit, NULL) != GPURT_OK)
        return;
    b->span = span;
    gpurt_log_port_open(&b->port, span);
    if (units_tell(b->words, &b->port) != cudaSuccess)
        (void)gpurt_cuda_api->get_last_error();
    (void)gpurt_cuda_leave(d, visit, cudaSuccess, NULL, "");
}

/* Sites forget their numbers, so that another box can be connected. */
static void gates_forget(gpurt_cuda_device_t *d, const gpurt_boxmap_t *map,
                         uint32_t section)
{
    for (uint32_t i = 0; i < map->sections[section].def_count; i++) {
        const gpurt_def_t *def = gpurt_boxmap_def(map, section, i);

        if (gpurt_load_acquire_sys_u32(&def->xstate) == GPURT_DEF_SITE && /* B3.acq */
            def->gate &&
            gpurt_cuda_api->memset_async((void *)(uintptr_t)def->gate, 0, sizeof(uint32_t),
                                         d->stream) != cudaSuccess)
            (void)gpurt_cuda_api->get_last_error(); /* of code that was unloaded */
    }
}

void gpurt_cuda_box_disconnect(void *self, const gpurt_boxmap_t *map, uint32_t section)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    struct gpurt_cuda_box *b = d->box;
    const gpurt_log_port_t none = {0};
    gpurt_cuda_visit_t visit;

    if (!b)
        return;
    d->box = NULL;
    if (gpurt_cuda_enter(d, &visit, NULL) == GPURT_OK) {
        if (!map->bare) {
            clock_measure(b); /* what the run's last records are told by */
            heads_bring(d, b);
        }
        gates_forget(d, map, section);
        if (units_tell(b->words, &none) != cudaSuccess)
            (void)gpurt_cuda_api->get_last_error();
        box_free(d, b);
        (void)gpurt_cuda_leave(d, visit, cudaSuccess, NULL, "");
    } else {
        box_free(d, b);
    }
}

void gpurt_cuda_box_forked(gpurt_cuda_device_t *d)
{
    free(d->box);
    d->box = NULL;
}
