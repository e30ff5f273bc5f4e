/* SPDX-License-Identifier: Apache-2.0 */
/* taskwaits.h - tasks of executors in the wait-for graph: which wait, for whom, derived from their table at each
 * look and told in the black box (taskpage.h), where other processes find them.
 *
 * Told are at most GPURT_TASKWAITS of an executor: tasks that wait for each other in a circle; those whose bodies
 * told for what they wait (taskwait.h); bodies that run long, if another task may wait for them; then all that
 * wait for these, and so on. Where nothing is ready or runs, others that wait, too. The rest is counted.
 *
 * Context: host, under the viewer's lock. */
#ifndef GPURT_HOST_TASKWAITS_H
#define GPURT_HOST_TASKWAITS_H

#include "executoreyes.h"

enum {
    GPURT_TASKWAITS = 64
};

void gpurt_taskwaits_look(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                          const gpurt_executor_seen_t *seen);
void gpurt_taskwaits_end(const gpurt_executor_own_t *e);

#endif
