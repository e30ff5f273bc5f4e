/* SPDX-License-Identifier: Apache-2.0 */
/* executorview.h - the class of objects (watch.h) "executor": how its tasks and blocks fare. */
#ifndef GPURT_HOST_EXECUTORVIEW_H
#define GPURT_HOST_EXECUTORVIEW_H

#include "executorown.h"

/* It is looked at from now on, until its end. */
void gpurt_executorview_begin(gpurt_executor_own_t *e);
/* It ends: a last look. Context: before its memory goes. */
void gpurt_executorview_end(gpurt_executor_own_t *e);

#endif
