/* SPDX-License-Identifier: Apache-2.0 */
/* panicwatch.h - the thread behind gpurt_on_panic (recover.h).
 *
 * A GPU cannot wake a thread, so it looks: at the count of panics in the black box, and at
 * each guard's. There is no such thread until somebody asks to be told. */
#ifndef GPURT_HOST_PANICWATCH_H
#define GPURT_HOST_PANICWATCH_H

#include "choice.h"

/* Ends it, if there is one. Context: gpurt_close, before the box and the guards go. */
void gpurt_panicwatch_stop(const gpurt_opened_t *opened);
/* In a forked child: the thread is its parent's. */
void gpurt_panicwatch_forked(uint32_t index);

#endif
