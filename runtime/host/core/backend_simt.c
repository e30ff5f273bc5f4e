/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU back end behind the host API: each call checked already, each one line of runtime/simt.
 */
#include "backend.h"

#include "hosttime.h"
#include "logconnect.h"
#include "process.h"

#include <gpurt/atomic.h>
#include <gpurt/heap.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../simt/sanitizer.h"
#include "../simt/stream.h"
#include "plural.h"

static gpurt_status_t no_memory(gpurt_error_t *err, size_t bytes)
{
    return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_GPURT, 0,
                      "CPU back end: no memory for %zu bytes", bytes);
}

static void info_fill(const simt_device_t *d, int32_t number, gpurt_info_t *info)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    info->backend = GPURT_BACKEND_CPU;
    info->device = number;
    snprintf(info->name, sizeof info->name, "CPU, %u worker%s", d->worker_count,
             gpurt_plural(d->worker_count, "s"));
    info->sm_count = d->worker_count;
    info->warp_slots = SIMT_LANES_PER_WORKER / GPURT_WARP_SIZE;
    info->compute_major = info->compute_minor = 0;
    info->driver_version = info->runtime_version = 0;
    info->max_block_threads = GPURT_MAX_BLOCK_THREADS;
    info->max_block = (gpurt_dim3_t){1024, 1024, 64};
    info->max_grid = (gpurt_dim3_t){0x7fffffffu, 65535, 65535};
    info->max_cluster = GPURT_MAX_CLUSTER_BLOCKS;
    info->max_shared = SIMT_MAX_SHARED;
    info->memory_bytes = pages > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

static gpurt_status_t cpu_probe(const gpurt_options_t *options, gpurt_error_t *err)
{
    (void)options;
    (void)err;
    return GPURT_OK;
}

static gpurt_status_t cpu_open(const gpurt_options_t *options, uint32_t index,
                               gpurt_info_t *info, void **out, gpurt_error_t *err)
{
    simt_device_t *d;
    gpurt_status_t st = simt_device_create(options, index, &d, err);

    *out = d;
    if (st == GPURT_OK)
        info_fill(d, options->device, info);
    return st;
}

static gpurt_status_t cpu_close(void *self, gpurt_error_t *err)
{
    simt_device_t *d = (simt_device_t *)self;
    gpurt_status_t st = simt_device_sync(d, err);

    pthread_mutex_lock(&d->mutex);
    simt_report_save(d, GPURT_OK, NULL);
    pthread_mutex_unlock(&d->mutex);
    simt_device_destroy(d);
    return st;
}

static void cpu_forked(void *self, const gpurt_boxmap_t *map, uint32_t section)
{
    simt_device_t *d = (simt_device_t *)self;

    if (map)
        gpurt_log_disconnect(d->index, map, section);
    simt_device_abandon(d);
}

static void cpu_counters(void *self, gpurt_counters_t *out)
{
    simt_device_t *d = (simt_device_t *)self;

    memset(out, 0, sizeof *out);
    pthread_mutex_lock(&d->mutex);
    out->launches = d->launches;
    pthread_mutex_unlock(&d->mutex);
    for (uint32_t i = 0; i < d->worker_count; i++) { /* snapshots of words others write */
        const simt_worker_t *k = &d->workers[i];

        out->switches += gpurt_load_relaxed_dev_u64(&k->xswitches);
        out->preemptions += gpurt_load_relaxed_dev_u64(&k->xpreemptions);
        out->rendezvous += gpurt_load_relaxed_dev_u64(&k->xrendezvous);
        out->hash ^= gpurt_load_relaxed_dev_u64(&k->xhash);
    }
}

static size_t cpu_report(void *self, char *text, size_t bytes)
{
    simt_device_t *d = (simt_device_t *)self;
    size_t length;

    pthread_mutex_lock(&d->mutex);
    length = d->last_report ? strlen(d->last_report) : 0;
    if (bytes) {
        size_t n = length < bytes - 1 ? length : bytes - 1;

        if (n)
            memcpy(text, d->last_report, n);
        text[n] = '\0';
    }
    pthread_mutex_unlock(&d->mutex);
    return length;
}

/* ---- memory: the device's is the host's ------------------------------------------------------ */
/* Aligned as device memory is, and not a byte longer than asked: the address sanitizer then sees
 * an access just past the end. */
static gpurt_status_t cpu_mem_create(void *self, size_t bytes, void **out,
                                     gpurt_error_t *err)
{
    (void)self;
    if (posix_memalign(out, 256, bytes ? bytes : 1)) {
        *out = NULL;
        return no_memory(err, bytes);
    }
    return GPURT_OK;
}

/* Memory that was asked for at an address: heaps out of a checkpoint. */
static gpurt_lock_t placed_lock = GPURT_LOCK_INIT;
static struct {
    void *at; /* NULL: free */
    size_t bytes;
} placed[GPURT_HEAPS]; /* under placed_lock */

static gpurt_status_t cpu_mem_create_at(void *self, size_t bytes, void *at, void **out,
                                        gpurt_error_t *err)
{
    void *memory;
    uint32_t i = 0;

    (void)self;
    gpurt_lock_take(&placed_lock);
    while (i < GPURT_HEAPS && placed[i].at)
        i++;
    memory = i < GPURT_HEAPS
                 ? mmap(at, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)
                 : MAP_FAILED;
    if (memory != MAP_FAILED && memory != at) { /* a kernel before 4.17: a hint to it */
        munmap(memory, bytes);
        memory = MAP_FAILED;
    }
    if (memory != MAP_FAILED) {
        placed[i].at = *out = memory;
        placed[i].bytes = bytes;
    }
    gpurt_lock_give(&placed_lock);
    return memory != MAP_FAILED ? GPURT_OK
                                : gpurt_fail(err, GPURT_E_MOVED, GPURT_FROM_ERRNO, errno,
                                             "%zu bytes at %p are taken here", bytes, at);
}

static bool placed_remove(void *memory)
{
    uint32_t i = 0;

    gpurt_lock_take(&placed_lock);
    while (i < GPURT_HEAPS && placed[i].at != memory)
        i++;
    if (i < GPURT_HEAPS) {
        munmap(memory, placed[i].bytes);
        placed[i].at = NULL;
    }
    gpurt_lock_give(&placed_lock);
    return i < GPURT_HEAPS;
}

static gpurt_status_t cpu_mem_destroy(void *self, void *memory)
{
    (void)self;
    if (!placed_remove(memory))
        free(memory);
    return GPURT_OK;
}

/* ---- ranges: addresses that nobody may touch, until they are backed ------------------------ */
enum {
    RANGE_ALIGN = 4 << 20
};

static gpurt_status_t cpu_range_create(void *self, size_t bytes, gpurt_range_t *out,
                                       gpurt_error_t *err)
{
    char *all = (char *)mmap(NULL, bytes + RANGE_ALIGN, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    (void)self;
    if (all == MAP_FAILED)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, errno,
                          "CPU back end: no room for %zu bytes of addresses", bytes);
    out->own = all;
    out->base = (char *)(((uintptr_t)all + RANGE_ALIGN - 1) / RANGE_ALIGN * RANGE_ALIGN);
    out->bytes = bytes;
    out->backed = 0;
    return GPURT_OK;
}

static gpurt_status_t cpu_range_back(void *self, gpurt_range_t *range, size_t bytes,
                                     gpurt_error_t *err)
{
    (void)self;
    if (bytes <= range->backed)
        return GPURT_OK;
    if (mprotect((char *)range->base + range->backed, bytes - range->backed,
                 PROT_READ | PROT_WRITE) != 0)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, errno,
                          "CPU back end: no memory for %zu bytes", bytes - range->backed);
    range->backed = bytes;
    return GPURT_OK;
}

static gpurt_status_t cpu_range_tell(void *self, gpurt_range_t *range, uint64_t *to,
                                     const uint64_t *from, uint32_t count,
                                     gpurt_error_t *err)
{
    (void)self;
    (void)range;
    (void)err;
    for (uint32_t i = 0; i < count; i++)
        gpurt_store_release_sys_u64(to + i, from[i]); /* AV1.rel */
    return GPURT_OK;
}

static gpurt_status_t cpu_range_destroy(void *self, gpurt_range_t *range)
{
    (void)self;
    munmap(range->own, range->bytes + RANGE_ALIGN);
    range->base = NULL;
    return GPURT_OK;
}

static simt_stream_t *stream_of(void *self, void *stream)
{
    return stream ? (simt_stream_t *)stream : ((simt_device_t *)self)->default_stream;
}

static gpurt_status_t push(void *self, void *stream, simt_op_t op, gpurt_error_t *err)
{
    simt_op_t *copy = (simt_op_t *)malloc(sizeof *copy);

    if (!copy)
        return no_memory(err, sizeof *copy);
    *copy = op;
    simt_stream_push(stream_of(self, stream), copy);
    return GPURT_OK;
}

static gpurt_status_t cpu_copy(void *self, void *stream, void *to, const void *from,
                               size_t bytes, gpurt_error_t *err)
{
    return push(self, stream,
                (simt_op_t){.kind = SIMT_OP_COPY, .to = to, .from = from, .bytes = bytes},
                err);
}

static gpurt_status_t cpu_fill(void *self, void *stream, void *memory, uint8_t byte,
                               size_t bytes, gpurt_error_t *err)
{
    return push(
        self, stream,
        (simt_op_t){.kind = SIMT_OP_FILL, .to = memory, .byte = byte, .bytes = bytes}, err);
}

/* ---- launches ---------------------------------------------------------------------------------- */
static gpurt_status_t cpu_launch(void *self, void *stream, const gpurt_launch_t *launch,
                                 const gpurt_kernel_t *kernel, const void *args,
                                 size_t args_bytes, gpurt_error_t *err)
{
    simt_device_t *d = (simt_device_t *)self;
    uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    gpurt_launch_t resident = *launch;
    simt_launch_t *l;
    gpurt_status_t st;

    if (stream_of(self, stream)->serves) { /* all its blocks have to be there */
        resident.cooperative = true;
        launch = &resident;
    }
    if (launch->cooperative && blocks > simt_launch_capacity(d, launch))
        return gpurt_fail(
            err, GPURT_E_COOPERATIVE, GPURT_FROM_GPURT, 0,
            "cooperative launch of %llu block%s, %u fit at once; launch fewer "
            "(gpurt_occupancy tells how many)",
            (unsigned long long)blocks, gpurt_plural(blocks, "s"),
            simt_launch_capacity(d, launch));
    l = simt_launch_create(d, launch, kernel, args, args_bytes);
    if (!l)
        return no_memory(err, sizeof *l + args_bytes);
    st = push(self, stream, (simt_op_t){.kind = SIMT_OP_LAUNCH, .launch = l}, err);
    if (st != GPURT_OK)
        simt_launch_destroy(l);
    return st;
}

static gpurt_status_t cpu_occupancy(void *self, const gpurt_launch_t *launch,
                                    const gpurt_kernel_t *kernel, uint32_t *blocks,
                                    gpurt_error_t *err)
{
    (void)kernel;
    (void)err;
    *blocks = simt_launch_capacity((simt_device_t *)self, launch);
    return GPURT_OK;
}

/* ---- streams and events -------------------------------------------------------------------------- */
static gpurt_status_t cpu_stream_create(void *self, void **out, gpurt_error_t *err)
{
    *out = simt_stream_create((simt_device_t *)self);
    return *out ? GPURT_OK : no_memory(err, sizeof(simt_stream_t));
}

static gpurt_status_t cpu_stream_destroy(void *self, void *stream)
{
    (void)self;
    simt_stream_destroy((simt_stream_t *)stream);
    return GPURT_OK;
}

static gpurt_status_t cpu_stream_sync(void *self, void *stream, gpurt_error_t *err)
{
    return simt_stream_sync(stream_of(self, stream), err);
}

static gpurt_status_t cpu_stream_query(void *self, void *stream, gpurt_error_t *err)
{
    return simt_stream_query(stream_of(self, stream), err);
}

static gpurt_status_t cpu_sync(void *self, gpurt_error_t *err)
{
    return simt_device_sync((simt_device_t *)self, err);
}

static void cpu_service_begin(void *self, void *stream)
{
    (void)self;
    simt_stream_serves((simt_stream_t *)stream);
}

static void cpu_word_store(void *self, uint32_t *word, uint32_t value)
{
    simt_word_store((simt_device_t *)self, word, value);
}

static uint32_t cpu_word_load(void *self, const uint32_t *word)
{
    uint32_t value = gpurt_load_acquire_sys_u32(word); /* HW3.acq SV2.acq */

    (void)self;
    simt_order_acquire((void *)(uintptr_t)word);
    return value;
}

static void cpu_word_awaited(void *self)
{
    simt_words_awaited((simt_device_t *)self);
}

static gpurt_status_t cpu_event_create(void *self, void **out, gpurt_error_t *err)
{
    (void)self;
    *out = simt_event_create();
    return *out ? GPURT_OK : no_memory(err, sizeof(simt_event_t));
}

static gpurt_status_t cpu_event_destroy(void *self, void *event)
{
    simt_device_t *d = (simt_device_t *)self;

    pthread_mutex_lock(&d->mutex);
    simt_event_release((simt_event_t *)event);
    pthread_mutex_unlock(&d->mutex);
    return GPURT_OK;
}

static gpurt_status_t cpu_event_record(void *self, void *event, void *stream)
{
    return push(self, stream,
                (simt_op_t){.kind = SIMT_OP_RECORD, .event = (simt_event_t *)event}, NULL);
}

static gpurt_status_t cpu_event_wait(void *self, void *event, void *stream)
{
    return push(self, stream,
                (simt_op_t){.kind = SIMT_OP_WAIT, .event = (simt_event_t *)event}, NULL);
}

static gpurt_status_t cpu_event_sync(void *self, void *event, gpurt_error_t *err)
{
    (void)err;
    return simt_event_sync((simt_device_t *)self, (simt_event_t *)event);
}

static gpurt_status_t cpu_event_query(void *self, void *event, gpurt_error_t *err)
{
    (void)err;
    return simt_event_query((simt_device_t *)self, (simt_event_t *)event);
}

static gpurt_status_t cpu_event_elapsed_ns(void *self, void *from, void *to, uint64_t *ns,
                                           gpurt_error_t *err)
{
    simt_device_t *d = (simt_device_t *)self;
    const simt_event_t *a = (simt_event_t *)from, *b = (simt_event_t *)to;
    gpurt_status_t st = GPURT_OK;

    pthread_mutex_lock(&d->mutex);
    if (!a->records || !b->records)
        st = gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                        "an event was never recorded; record both before asking");
    else if (a->reached < a->records || b->reached < b->records)
        st = gpurt_fail(err, GPURT_E_NOT_READY, GPURT_FROM_GPURT, 0,
                        "an event has not been reached yet; wait for it first");
    else
        *ns = b->time_ns - a->time_ns;
    pthread_mutex_unlock(&d->mutex);
    return st;
}

/* ---- the black box ------------------------------------------------------------------- */

static gpurt_status_t cpu_box_connect(void *self, const gpurt_boxmap_t *map,
                                      uint32_t section, gpurt_error_t *err)
{
    gpurt_clock_fit_t clock = {0, 0, 0, 0, 0};

    clock.device_ns = clock.real_ns = gpurt_real_ns(); /* lanes read the same clock */
    gpurt_boxmap_set_clock(map, section, &clock);
    return gpurt_log_connect(((simt_device_t *)self)->index, map, section, err);
}

static void cpu_box_disconnect(void *self, const gpurt_boxmap_t *map, uint32_t section)
{
    gpurt_log_disconnect(((simt_device_t *)self)->index, map, section);
}

const gpurt_backend_ops_t gpurt_backend_simt = {
    .kind = GPURT_BACKEND_CPU,
    .probe = cpu_probe,
    .open = cpu_open,
    .close = cpu_close,
    .forked = cpu_forked,
    .counters = cpu_counters,
    .report = cpu_report,
    .box_connect = cpu_box_connect,
    .box_disconnect = cpu_box_disconnect,
    .mem_create = cpu_mem_create,
    .mem_create_at = cpu_mem_create_at,
    .mem_destroy = cpu_mem_destroy,
    .range_create = cpu_range_create,
    .range_back = cpu_range_back,
    .range_tell = cpu_range_tell,
    .range_destroy = cpu_range_destroy,
    .host_create = cpu_mem_create,
    .host_destroy = cpu_mem_destroy,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .launch = cpu_launch,
    .occupancy = cpu_occupancy,
    .stream_create = cpu_stream_create,
    .stream_destroy = cpu_stream_destroy,
    .stream_sync = cpu_stream_sync,
    .stream_query = cpu_stream_query,
    .sync = cpu_sync,
    .service_begin = cpu_service_begin,
    .sync_skips_services = true,
    .word_store = cpu_word_store,
    .word_load = cpu_word_load,
    .word_awaited = cpu_word_awaited,
    .event_create = cpu_event_create,
    .event_destroy = cpu_event_destroy,
    .event_record = cpu_event_record,
    .event_wait = cpu_event_wait,
    .event_sync = cpu_event_sync,
    .event_query = cpu_event_query,
    .event_elapsed_ns = cpu_event_elapsed_ns,
};
