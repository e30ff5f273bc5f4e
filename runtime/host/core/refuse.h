/* SPDX-License-Identifier: Apache-2.0 */
/* refuse.h - gpurt_fail for what gpurt itself finds wrong: no errno, no CUDA error
 * behind it. */
#ifndef GPURT_HOST_REFUSE_H
#define GPURT_HOST_REFUSE_H

#include <gpurt/status.h>

#define REFUSE(err, status, ...) gpurt_fail(err, status, GPURT_FROM_GPURT, 0, __VA_ARGS__)

#endif
