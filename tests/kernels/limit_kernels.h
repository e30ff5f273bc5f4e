/* SPDX-License-Identifier: Apache-2.0 */
/* limit_kernels.h - one lane that goes through the parts of a new limit, with others in between. */
#ifndef GPURT_TESTS_LIMIT_KERNELS_H
#define GPURT_TESTS_LIMIT_KERNELS_H

#include <gpurt/channel.h>
#include <gpurt/kernel.h>

struct limit_args {
    gpurt_channel_t
        full; /* of eight slots, two of which are in use, with two messages of 8 bytes */
    gpurt_channel_t shut;    /* of eight slots, six of which are in use, empty */
    gpurt_channel_t granted; /* of four slots, with credits, empty */
    uint32_t *wrong;         /* what was not so, a bit each */
};
GPURT_KERNEL_DECLARE(limit_parts, struct limit_args);

#endif
