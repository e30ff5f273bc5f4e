/* SPDX-License-Identifier: Apache-2.0 */
/* intake.h - what CUPTI gave out goes into the box, and with it sums, losses and troubles: what a
 * log says of its own completeness. */
#ifndef GPURT_CUPTI_INTAKE_H
#define GPURT_CUPTI_INTAKE_H

#include "cupti_api.h"
#include "pool.h"

/* api, pool: borrowed for ever. Context: once, before the first round. */
void intake_open(const cupti_api_t *api, pool_t *pool);

/* CUPTI has dropped so many records. Context: any thread of the program. */
void intake_lost(uint64_t records);

/* One look at everything that is full. last: as for outlet_enter; sums are told though nothing
 * changed. Context: the collector's reading thread. */
void intake_round(bool last);

/* The last round of all. Context: likewise. */
void intake_end(void);

#endif
