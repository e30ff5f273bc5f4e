/* SPDX-License-Identifier: Apache-2.0 */
/* hostwaits.h - records of the host's waits, as libgpurt-launch.so sees them (launchhook.h). CUPTI has such records, too:
 * they slow each call of CUDA down for good.
 *
 * The thread that has waited writes its record, and waits for no room. The first ones are kept until there is a box.
 * Waits of less than a microsecond have none: nothing was waited for. */
#ifndef GPURT_CUPTI_HOSTWAITS_H
#define GPURT_CUPTI_HOSTWAITS_H

#include "launchhook.h"

/* Context: before any launch; once. */
void hostwaits_start(void);

/* Whether waits have records from now on, as they have at first. Nothing where they are not asked for. */
void hostwaits_turn(bool on);

/* When a wait begins; 0: it has no record. Context: any thread of the program. */
uint64_t hostwaits_now(void);
/* It has ended. device: of the current context. */
void hostwaits_ended(launchhook_what_t what, uint32_t device, uint64_t since_ns);

/* Context: the program ends; its box is open still. */
void hostwaits_stop(void);

#endif
