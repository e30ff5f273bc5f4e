/* SPDX-License-Identifier: Apache-2.0 */
/* launchcall.h - the driver's calls that launch something, and what they are told: whichever way. */
#ifndef GPURT_CUPTI_LAUNCHCALL_H
#define GPURT_CUPTI_LAUNCHCALL_H

#include <cupti.h>
#include <gpurt/base.h>

enum {
    LAUNCHCALLS = 8
};
extern const CUpti_CallbackId launchcall_ids[LAUNCHCALLS];

typedef struct launchcall {
    uint32_t grid[3], block[3], shared_bytes;
    CUstream stream;
    CUgraphExec graph; /* NULL: a kernel */
    bool per_thread;   /* stream 0 is the thread's own */
} launchcall_t;

/* Returns: false for a call that launches nothing. */
bool launchcall_read(CUpti_CallbackId id, const void *params, launchcall_t *out);

#endif
