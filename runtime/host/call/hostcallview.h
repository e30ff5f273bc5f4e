/* SPDX-License-Identifier: Apache-2.0 */
/* hostcallview.h - the class of objects (watch.h) "hostcalls": what kernels asked the host, what
 * is on its way, how long answers took. */
#ifndef GPURT_HOST_HOSTCALLVIEW_H
#define GPURT_HOST_HOSTCALLVIEW_H

#include "hostcallown.h"

/* Ports that are not free. w: its first part is enough (GPURT_HOSTCALL_WATCHED_BYTES). */
uint32_t gpurt_hostcallview_in_flight(uint32_t ports, const gpurt_hostcall_words_t *w);

/* They are looked at from now on, until their end. */
void gpurt_hostcallview_begin(gpurt_t *rt, gpurt_hostcalls_own_t *own);
/* They end: a last look. Context: before their memory goes. */
void gpurt_hostcallview_end(gpurt_t *rt, const gpurt_hostcalls_own_t *own);

#endif
