/* SPDX-License-Identifier: Apache-2.0 */
/* collector.h - what GPUs do, as CUPTI and NVML tell it, into the process's box.
 *
 * Three threads: one asks CUPTI for what is complete, one reads the buffers that come
 * back, one asks NVML once a second. The program's threads run no code of ours but the
 * taking and handing back of buffers. Nothing here fails the program: what does not work
 * is told in the log. One collector a process, never torn down: CUPTI would not survive
 * it. */
#ifndef GPURT_CUPTI_COLLECTOR_H
#define GPURT_CUPTI_COLLECTOR_H

/* Does nothing when nobody asked (outlet_wanted), or GPURT_CUPTI=off. Context: once, as the
 * driver is initialised. */
void collector_start(void);

/* What has ended by now is in the box when this returns, or after two seconds. Context: any
 * thread; the program closes its box. */
void collector_sync(void);

/* Takes what CUPTI still holds, waits for all of it to be written, but not for ever; closes
 * the box. Context: exit of the process that started it; nothing in a forked child. */
void collector_stop(void);

/* In a child after fork: the parent's collector is not the child's. */
void collector_forked(void);

#endif
