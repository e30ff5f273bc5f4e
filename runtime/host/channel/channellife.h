/* SPDX-License-Identifier: Apache-2.0 */
/* channellife.h - what channels of all kinds have in common on the host: a place in a table of ids,
 * words in device memory with a desk, a class of the log, a kernel that closes one.
 *
 * What the host does to one goes over a stream of its own: the program's streams may hold kernels
 * that wait for this. A description begins with the pointer to its words; `words` of a call is the
 * host's copy of them. */
#ifndef GPURT_HOST_CHANNELLIFE_H
#define GPURT_HOST_CHANNELLIFE_H

#include "idtable.h"
#include "watch.h"

#include <gpurt/impl/channelmap.h>

typedef gpurt_status_t gpurt_channellife_work_t(gpurt_t *rt, gpurt_stream_t stream,
                                                const void *channel, void *words,
                                                gpurt_error_t *err);

/* A kind of channels. Owner: static storage, never written. */
typedef struct gpurt_channellife {
    gpurt_idtable_t *table; /* of GPURT_CHANNELS; `what` names one in messages */
    const char *plural;
    const gpurt_class_t *class_;
    const gpurt_kernel_t *close; /* its argument is a description; it answers on the desk */
    size_t bytes, id_at;         /* of a description; where its id lies in it */
    size_t desk_at;              /* in the words */
    gpurt_channellife_work_t *read; /* the words, from the device */
    gpurt_channellife_work_t *init; /* the memory and the words, to the device */
    gpurt_channellife_work_t *fini; /* the same, of one that ends: late callers find that */
} gpurt_channellife_t;

/* Memory of the device and an id. Returns: GPURT_E_NOMEM: too many exist, or what the device says. */
gpurt_status_t gpurt_channellife_get(const gpurt_channellife_t *k, gpurt_t *rt,
                                     size_t bytes, void **memory, uint32_t *id,
                                     gpurt_error_t *err);
/* From `made`, which has both, to `out`. name: NULL, its id. If it fails, both are given back. */
gpurt_status_t gpurt_channellife_begin(const gpurt_channellife_t *k, gpurt_t *rt,
                                       const void *made, void *words, const char *name,
                                       void *out, gpurt_error_t *err);
/* channel: none, or its description, which is cleared. words: what is said to who uses it still.
 * Waits for calls of the host's that are in progress. */
gpurt_status_t gpurt_channellife_end(const gpurt_channellife_t *k, gpurt_t *rt,
                                     void *channel, void *words, gpurt_error_t *err);
/* Returns: GPURT_E_CHANNEL_CLOSED, of one that was closed before. */
gpurt_status_t gpurt_channellife_close(const gpurt_channellife_t *k, gpurt_t *rt,
                                       const void *channel, void *words,
                                       gpurt_error_t *err);
/* What `kernel` does where the words are, which answers on the desk: others that ask so wait for
 * it. args: of it, with the description. */
gpurt_status_t gpurt_channellife_order(const gpurt_channellife_t *k, gpurt_t *rt,
                                       const void *channel, const gpurt_kernel_t *kernel,
                                       const void *args, size_t bytes, void *words,
                                       gpurt_error_t *err);
/* Its words as of now. out, of `bytes`: cleared first. */
gpurt_status_t gpurt_channellife_ask(const gpurt_channellife_t *k, gpurt_t *rt,
                                     const void *channel, void *words, void *out,
                                     size_t bytes, gpurt_error_t *err);

/* Those of a device that closes are gone, but for their memory: their places serve again. Context:
 * nobody is inside, and no kernel runs. */
void gpurt_channellife_closed(uint32_t device);

#endif
