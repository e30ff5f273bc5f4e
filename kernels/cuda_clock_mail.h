/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_clock_mail.h - what the two ends of a clock measurement hand to and fro. */
#ifndef GPURT_HOST_CUDA_CLOCK_MAIL_H
#define GPURT_HOST_CUDA_CLOCK_MAIL_H

#include <gpurt/impl/group.h>
#include <gpurt/kernel.h>

enum {
    GPURT_CLOCK_TRIPS = 64,
    GPURT_CLOCK_LIMIT_NS = 20000000 /* either end waits no longer for the other */
};
#define GPURT_CLOCK_STOP 0xffffffffu

/* Owner: gpurt_cuda_clock_t. A line for each writer. */
struct gpurt_cuda_mail {
    GPURT_ALIGN(128) uint32_t xasked;       /* trip, or STOP; written by: host */
    GPURT_ALIGN(128) gpurt_group_t xanswer; /* trip and time; written by: the kernel */
};

struct gpurt_clock_args {
    struct gpurt_cuda_mail *mail;
    uint32_t first; /* number of the first trip: a kernel that comes late finds others */
};
GPURT_KERNEL_DECLARE(gpurt_clock_kernel, struct gpurt_clock_args);

#endif
