/* SPDX-License-Identifier: Apache-2.0 */
/* consumer.h - what the host file and the kernel file of the install test share. */
#ifndef CONSUMER_H
#define CONSUMER_H

#include <stdint.h>

struct consumer_args {
    uint32_t *sum; /* written by: every thread */
    uint32_t n;
};

#endif
