/* SPDX-License-Identifier: Apache-2.0 */
/* backend.h - the seam between the host API and what runs kernels.
 *
 * gpurt.c checks arguments and handles that need no device and forwards through this table;
 * backend_cuda.c and backend_simt.c fill one each. A new back end is one more table.
 * Every function may be called from any thread, only between open and close, with arguments
 * that gpurt.c has checked (sizes within info's limits, every dimension at least 1, a kernel
 * that has this back end's half). All streams and events are destroyed before close, and none
 * is used while it is destroyed. Streams and events are the back end's own pointers;
 * stream NULL is the default stream. */
#ifndef GPURT_HOST_BACKEND_H
#define GPURT_HOST_BACKEND_H

#include <gpurt/gpurt.h>

struct gpurt_boxmap;

/* Addresses of device memory, of which the lower ones have memory behind them. Owner: who
 * created it. */
typedef struct gpurt_range {
    void *base; /* NULL: nothing is reserved */
    size_t bytes, backed;
    void *own; /* the back end's */
} gpurt_range_t;

typedef struct gpurt_backend_ops {
    gpurt_backend_t kind;

    /* Whether a device can be used; fills err with the reason and the remedy if not. Creates no
     * context. */
    gpurt_status_t (*probe)(const gpurt_options_t *options, gpurt_error_t *err);
    /* index: below GPURT_MAX_DEVICES, of no other that is open. */
    gpurt_status_t (*open)(const gpurt_options_t *options, uint32_t index,
                           gpurt_info_t *info, void **out, gpurt_error_t *err);
    gpurt_status_t (*close)(void *self, gpurt_error_t *err);
    /* In a forked child, in the place of box_disconnect and close: gives back memory of the
     * child's own, and touches nothing that the parent has, too. None of the device's threads is
     * there, and any of its locks may be held. map: NULL, no box was connected. NULL: there is
     * nothing to give back. */
    void (*forked)(void *self, const struct gpurt_boxmap *map, uint32_t section);
    void (*counters)(void *self, gpurt_counters_t *out);
    size_t (*report)(void *self, char *text, size_t bytes);

    /* NULL, all of these: the back end keeps no log and no panics.
     * From connect on kernels write into this section of the box, which stays mapped until
     * disconnect; the section's clock is kept. Context: no kernel of gpurt's runs. */
    gpurt_status_t (*box_connect)(void *self, const struct gpurt_boxmap *map,
                                  uint32_t section, gpurt_error_t *err);
    void (*box_disconnect)(void *self, const struct gpurt_boxmap *map, uint32_t section);
    /* Writes the gate of a site (box.h: gpurt_def_t.gate) that lies in a device's own memory,
     * while kernels run, and waits for none; NULL where it lies in the host's. Context: one
     * thread of gpurt's, between connect and disconnect. */
    void (*gate_store)(void *self, uint64_t gate, uint32_t value);
    /* Likewise, how many levels any site may have, from PANIC downwards (logport.h). */
    void (*span_store)(void *self, uint32_t span);

    /* NULL, all four: hangs are the back end's own to find. mark: notes all work that the device
     * has now, and waits for none; false: it cannot know. busy: whether some of that runs still.
     * prepare: makes ready to end kernels that do not look, before one hangs; false: it cannot.
     * end: ends them, and the context with them. Context: prepare, before the others; these by
     * one thread, until close. */
    bool (*hang_prepare)(void *self);
    bool (*hang_mark)(void *self);
    bool (*hang_busy)(void *self);
    void (*hang_end)(void *self);

    gpurt_status_t (*mem_create)(void *self, size_t bytes, void **out, gpurt_error_t *err);
    /* At a given address, or GPURT_E_MOVED. NULL: it cannot choose. */
    gpurt_status_t (*mem_create_at)(void *self, size_t bytes, void *at, void **out,
                                    gpurt_error_t *err);
    gpurt_status_t (*mem_destroy)(void *self, void *memory);
    gpurt_status_t (*host_create)(void *self, size_t bytes, void **out, gpurt_error_t *err);
    gpurt_status_t (*host_destroy)(void *self, void *memory);
    /* NULL, all four: the back end has none. bytes: multiples of 4 MiB; the base is one too.
     * back: up to `bytes` from the base. tell: stores words while kernels run and waits for
     * none; when it returns, kernels see them, each whole. One thread at a time a range. */
    gpurt_status_t (*range_create)(void *self, size_t bytes, gpurt_range_t *out,
                                   gpurt_error_t *err);
    gpurt_status_t (*range_back)(void *self, gpurt_range_t *range, size_t bytes,
                                 gpurt_error_t *err);
    gpurt_status_t (*range_tell)(void *self, gpurt_range_t *range, uint64_t *to,
                                 const uint64_t *from, uint32_t count, gpurt_error_t *err);
    gpurt_status_t (*range_destroy)(void *self, gpurt_range_t *range);
    /* From now on kernels of this device reach memory that mem_create of the other one gave, and
     * will give. Both are this back end's, and open. NULL: they do so anyway. */
    gpurt_status_t (*peer_reach)(void *self, void *other, gpurt_error_t *err);
    gpurt_status_t (*copy)(void *self, void *stream, void *to, const void *from,
                           size_t bytes, gpurt_error_t *err);
    gpurt_status_t (*fill)(void *self, void *stream, void *memory, uint8_t byte,
                           size_t bytes, gpurt_error_t *err);

    /* Writes a constant of a unit of device code. NULL: units share the host's variables.
     * Context: no kernel runs. */
    gpurt_status_t (*constant_write)(void *self, const void *symbol, const void *from,
                                     size_t bytes, gpurt_error_t *err);

    /* launch->stream is replaced by the pointer `stream`. */
    gpurt_status_t (*launch)(void *self, void *stream, const gpurt_launch_t *launch,
                             const gpurt_kernel_t *kernel, const void *args,
                             size_t args_bytes, gpurt_error_t *err);
    gpurt_status_t (*occupancy)(void *self, const gpurt_launch_t *launch,
                                const gpurt_kernel_t *kernel, uint32_t *blocks,
                                gpurt_error_t *err);

    gpurt_status_t (*stream_create)(void *self, void **out, gpurt_error_t *err);
    gpurt_status_t (*stream_destroy)(void *self, void *stream);
    gpurt_status_t (*stream_sync)(void *self, void *stream, gpurt_error_t *err);
    gpurt_status_t (*stream_query)(void *self, void *stream, gpurt_error_t *err);
    gpurt_status_t (*sync)(void *self, gpurt_error_t *err);
    /* Around a service's life, whose kernel is alone in its stream: from begin on it may run, at
     * end it has. NULL: nothing is to be done. */
    void (*service_begin)(void *self, void *stream);
    void (*service_end)(void *self);
    /* Whether `sync` passes streams of services over; if not, gpurt.c waits stream by stream while
     * there are any. */
    bool sync_skips_services;
    /* Then: waits for work that is in no stream of gpurt's, as far as that can be told from
     * services. NULL: there is none. */
    gpurt_status_t (*strays_sync)(void *self, gpurt_error_t *err);
    /* Words between the host and kernels that run (hostword.h): store with release, load with
     * acquire, and that the host is about to wait for one. NULL, all: plain accesses will do
     * (ownword.h), because kernels poll. */
    void (*word_store)(void *self, uint32_t *word, uint32_t value);
    uint32_t (*word_load)(void *self, const uint32_t *word);
    void (*word_awaited)(void *self);

    gpurt_status_t (*event_create)(void *self, void **out, gpurt_error_t *err);
    gpurt_status_t (*event_destroy)(void *self, void *event);
    gpurt_status_t (*event_record)(void *self, void *event, void *stream);
    gpurt_status_t (*event_wait)(void *self, void *event, void *stream);
    gpurt_status_t (*event_sync)(void *self, void *event, gpurt_error_t *err);
    gpurt_status_t (*event_query)(void *self, void *event, gpurt_error_t *err);
    gpurt_status_t (*event_elapsed_ns)(void *self, void *from, void *to, uint64_t *ns,
                                       gpurt_error_t *err);
} gpurt_backend_ops_t;

/* Why CUDA cannot be opened in a forked child: GPURT_E_FORKED. */
#define GPURT_FORKED_CUDA                                                            \
    "CUDA was in use before this process was forked, and does not work in a forked " \
    "child: "                                                                        \
    "fork before gpurt_open, or exec; GPURT_BACKEND=cpu runs without the GPU"

extern const gpurt_backend_ops_t gpurt_backend_simt;

/* In its own library, linked when a program has CUDA kernels; weak, so NULL in the others. */
extern const gpurt_backend_ops_t gpurt_backend_cuda GPURT_WEAK;

#endif
