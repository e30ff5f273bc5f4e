/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_EXAMPLES_HOSTFILE_H
#define GPURT_EXAMPLES_HOSTFILE_H

#include <gpurt/hostcall.h>
#include <gpurt/kernel.h>

struct range {
    uint32_t from, to;
};
GPURT_HOST_CALL(next_range, 1, uint32_t, struct range);

struct hostfile {
    gpurt_hostcalls_t calls;
    uint32_t file;
};
GPURT_KERNEL_DECLARE(count_primes, struct hostfile);

#endif
