/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - queues of work on the CPU back end, and the events between them.
 *
 * A stream runs its operations one after the other; streams run side by side. A launch at the
 * head of its stream is put on the device's active list, where workers find it; copies and fills
 * at the head are done by the first thread that meets them. Everything is under device->mutex,
 * which is let go while bytes are copied. */
#ifndef GPURT_SIMT_STREAM_H
#define GPURT_SIMT_STREAM_H

#include "simt.h"

typedef enum simt_op_kind {
    SIMT_OP_LAUNCH,
    SIMT_OP_COPY,
    SIMT_OP_FILL,
    SIMT_OP_RECORD,
    SIMT_OP_WAIT
} simt_op_kind_t;

/* Owner: the handle in gpurt.c and every op that names it (counted). */
typedef struct simt_event {
    uint32_t references;
    uint64_t records, reached; /* asked for, done */
    uint64_t time_ns;          /* of the last one reached */
} simt_event_t;

/* Owner: its stream. */
typedef struct simt_op {
    struct simt_op *next;
    simt_op_kind_t kind;
    simt_launch_t *launch;
    simt_event_t *event;
    uint64_t record; /* of the event: which one is made or waited for */
    void *to;
    const void *from;
    size_t bytes;
    uint8_t byte;
} simt_op_t;

/* Owner: the handle in gpurt.c; destroyed once it is empty. */
struct simt_stream {
    simt_stream_t *next; /* device's list */
    simt_device_t *device;
    simt_op_t *head, *tail;
    bool busy;             /* the head op has begun */
    bool serves;           /* its kernel does not end: simt_device_sync passes it over */
    gpurt_status_t status; /* first failure nobody has asked about */
    char *report;
};

simt_launch_t *simt_launch_create(simt_device_t *d, const gpurt_launch_t *launch,
                                  const gpurt_kernel_t *kernel, const void *args,
                                  size_t args_bytes);
uint32_t simt_launch_capacity(simt_device_t *d, const gpurt_launch_t *launch);

/* ---- host calls: backend_simt.c forwards them here ------------------------------------------ */
simt_stream_t *simt_stream_create(simt_device_t *d);
void simt_stream_destroy(simt_stream_t *s);
/* Its kernels run until they are told to stop. */
void simt_stream_serves(simt_stream_t *s);
/* Queues a filled op. Takes it over. */
void simt_stream_push(simt_stream_t *s, simt_op_t *op);
gpurt_status_t simt_stream_sync(simt_stream_t *s, gpurt_error_t *err);
gpurt_status_t simt_stream_query(simt_stream_t *s, gpurt_error_t *err);
/* All streams but those that serve. */
gpurt_status_t simt_device_sync(simt_device_t *d, gpurt_error_t *err);
/* Host words that kernels may wait for have changed; the host waits for one. */
/* The race detector watches kernels and not this library, so it is told by hand. */
void simt_word_store(simt_device_t *d, uint32_t *word, uint32_t value);
void simt_words_awaited(simt_device_t *d);

simt_event_t *simt_event_create(void);
/* Frees it with all that is queued in it, which never runs. Context: no thread is there. */
void simt_stream_abandon(simt_stream_t *s);

/* Under the mutex. */
void simt_event_release(simt_event_t *e);
gpurt_status_t simt_event_sync(simt_device_t *d, simt_event_t *e);
gpurt_status_t simt_event_query(simt_device_t *d, simt_event_t *e);

/* Under the mutex: the launch at its stream's head has ended. */
void simt_stream_launch_ended(simt_device_t *d, simt_launch_t *l);
/* Under the mutex, which it may let go: does what can be done at every stream's head. */
void simt_streams_advance(simt_device_t *d);

/* ---- device.c -------------------------------------------------------------------------------- */
gpurt_status_t simt_device_create(const gpurt_options_t *options, uint32_t index,
                                  simt_device_t **out, gpurt_error_t *err);
void simt_device_destroy(simt_device_t *d);
/* In a forked child, which has none of its threads: frees what nobody was changing at the fork. */
void simt_device_abandon(simt_device_t *d);

#endif
