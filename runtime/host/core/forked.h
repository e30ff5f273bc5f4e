/* SPDX-License-Identifier: Apache-2.0 */
/* forked.h - what a forked child lets go of: all that its parent had open. Memory of its own is
 * given back, mappings and descriptors are closed; nothing that the parent still has is written
 * to, nobody is waited for, no lock is taken that a thread of the parent's may have held.
 * Context: life.c, once in a child, before anything is open there. */
#ifndef GPURT_HOST_FORKED_H
#define GPURT_HOST_FORKED_H

#include "choice.h"

/* One of the devices. */
void gpurt_forked_device(gpurt_opened_t *opened);
/* One that was being opened or closed: what there is of it cannot be known. It stays as it is, and
 * its place is free. */
void gpurt_forked_changing(uint32_t index);
/* Behind all devices: handles, heaps, and what stands on them. */
void gpurt_forked_tables(void);

#endif
