/* SPDX-License-Identifier: Apache-2.0 */
/* capacity.h - what each device can hold at a time, as the driver tells it: once in each box, so
 * that whoever reads the log can say how much of a device a kernel could fill. */
#ifndef GPURT_CUPTI_CAPACITY_H
#define GPURT_CUPTI_CAPACITY_H

#include <gpurt/base.h>

/* Asks the driver, until it has answered: it does not while it starts. Context: the flusher,
 * because a driver that hangs would keep whoever asks. */
void capacity_look(void);

/* Whether they are known, and who reads the box that is open was not told. Context: the thread that
 * tells. */
bool capacity_waits(void);
/* Tells them, once in each box and to each who reads it. since_ns: from when on they hold; those
 * behind the first are told from now on. Context: between outlet_enter and outlet_exit. */
void capacity_tell(uint64_t since_ns);

/* Returns: how many devices the program sees; 0: the driver is starting yet. Context: any
 * thread, as capacity_look. */
uint32_t capacity_devices(void);

#endif
