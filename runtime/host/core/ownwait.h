/* SPDX-License-Identifier: Apache-2.0 */
/* ownwait.h - how the library itself waits for work: as the program does, but a kernel of the
 * program's that panicked is not this call's failure. The program's next wait is told of it. */
#ifndef GPURT_HOST_OWNWAIT_H
#define GPURT_HOST_OWNWAIT_H

#include <gpurt/gpurt.h>

gpurt_status_t gpurt_own_stream_sync(gpurt_t *rt, gpurt_stream_t stream,
                                     gpurt_error_t *err);
gpurt_status_t gpurt_own_sync(gpurt_t *rt, gpurt_error_t *err);

#endif
