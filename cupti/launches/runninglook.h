/* SPDX-License-Identifier: Apache-2.0 */
/* runninglook.h - tells of launches that have not ended for long, and of what waits behind them: a
 * thread that looks at the table of inflight.h four times a second. It calls nothing of CUDA's, so a
 * driver that hangs does not hold it up. */
#ifndef GPURT_CUPTI_RUNNINGLOOK_H
#define GPURT_CUPTI_RUNNINGLOOK_H

#include <gpurt/base.h>

/* Returns: false: no thread could be made, and nothing is told. Context: before any launch, once. */
bool runninglook_start(void);
bool runninglook_is_on(void);
/* Looks once more. Context: the program ends. */
void runninglook_stop(void);

#endif
