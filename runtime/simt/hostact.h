/* SPDX-License-Identifier: Apache-2.0 */
/* hostact.h - what the host does beside kernels that run under a seed: words that it stores
 * (hostwords.h), work that it pushes into streams. When a kernel sees that is chance, and the
 * seed does not know it.
 *
 * GPURT_HOST_WORDS=record:FILE keeps what it was and when, replay:FILE does it again at the same
 * places of the same schedule. So an act waits for the worker: between two passes over all lanes,
 * or when it has nothing to do, the worker stands still, the host acts, the worker goes on. The
 * file has a line for each act: the place, then `op`, or `word`, its number in order of
 * appearance, and the value.
 *
 * A replay that comes to something else says so, and goes on without the file. What a wait of the
 * host's returns is not in the file: a host that decides by how far a kernel has come may decide
 * otherwise, and then that is told. */
#ifndef GPURT_SIMT_HOSTACT_H
#define GPURT_SIMT_HOSTACT_H

#include "simt.h"

/* Owner: the host's thread. */
typedef struct simt_act {
    const uint32_t *word; /* NULL: an op */
    uint32_t value;
    bool may; /* the worker stands still */
    struct simt_act *next;
} simt_act_t;

/* Reads the environment. Context: before the worker. Returns: why the file cannot be used. */
gpurt_status_t simt_acts_open(simt_device_t *d, gpurt_error_t *err);
/* Tells what a replay has left over. Context: the worker is gone. */
void simt_acts_close(simt_device_t *d);

/* Whether an act beside kernels replays, because it is in the file. Under the device's mutex. */
bool simt_acts_replay(const simt_device_t *d);

/* Around an act of the host's. Context: any thread without the device's mutex. */
void simt_act_begin(simt_device_t *d, simt_act_t *act);
void simt_act_end(simt_device_t *d);

/* The worker: a pass is over. Returns: whether main has to look, that is to call the next. */
bool simt_acts_due(simt_worker_t *k);
void simt_acts_do(simt_worker_t *k);

/* It has nothing to do: whether an act waits; lets one be done. */
bool simt_acts_wait(const simt_device_t *d);
void simt_acts_do_idle(simt_worker_t *k);

/* Whether the next act's place is further on: nobody need be waited for until then. */
bool simt_acts_ahead(const simt_device_t *d);

#endif
