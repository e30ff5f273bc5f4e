/* SPDX-License-Identifier: Apache-2.0 */
/* counted.h - how often each kernel was launched, as launches are made, a record a second for each
 * that was (GPURT_CUPTI=counted). No times: those are the records' of CUPTI, which cost more. */
#ifndef GPURT_CUPTI_COUNTED_H
#define GPURT_CUPTI_COUNTED_H

#include "launchnames.h"

/* Returns: false without a thread. Context: before any launch. */
bool counted_start(void);
bool counted_is_on(void);

/* Context: any thread of the program. */
void counted_add(launchname_t *name, int64_t launches);

/* A launch has a record of its own. Context: the reader. */
void counted_recorded(launchname_t *name);

/* All launches so far. Context: any thread. */
uint64_t counted_all(void);
/* Launches of graphs among them. */
uint64_t counted_graphs(void);

/* What was launched by now is in the box when this returns. Context: any thread; the program closes
 * its box. */
void counted_sync(void);

/* What is left is written. Context: the program ends. */
void counted_stop(void);

#endif
