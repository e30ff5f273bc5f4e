/* SPDX-License-Identifier: Apache-2.0 */
/* service_kernels.h - kernels that run until they are told to stop, and kernels that wait for a
 * word of the host's. */
#ifndef GPURT_TESTS_SERVICE_KERNELS_H
#define GPURT_TESTS_SERVICE_KERNELS_H

#include <gpurt/base.h>
#include <gpurt/kernel.h>
#include <gpurt/service.h>

enum {
    SERVICE_WORDS = 64,  /* of what one round carries, for each block */
    HOSTWORD_HERE = 1000 /* of hostword_once, before any round: the kernel runs */
};

/* Owner: the test. In memory of gpurt_host_create. */
typedef struct service_desk {
    uint32_t xask;  /* grows with each round; written by: the host */
    uint32_t xturn; /* services that have ended; written by: the last block's thread 0 */
    uint64_t question[SERVICE_WORDS], farewell; /* written before it is told to stop */
} service_desk_t;

typedef struct service_reply {
    uint32_t xround; /* written by: thread 0 of the block */
    uint32_t ended;  /* what xturn was at the end, from 1 on */
    uint64_t passes, heard, answer[SERVICE_WORDS]; /* heard: of the farewell */
} service_reply_t;

struct service_args {
    service_desk_t *desk;
    service_reply_t *replies; /* a block has one */
    gpurt_service_port_t service;
    uint32_t value; /* of the kernel's own */
};

/* Each round: answers[i] = question[i] * 31 + block. */
GPURT_KERNEL_DECLARE(service_echo, struct service_args);
/* The same without ever being idle. */
GPURT_KERNEL_DECLARE(service_busy, struct service_args);
/* Waits for xask to be another than 0, and comes to no safe point before. */
GPURT_KERNEL_DECLARE(service_deaf, struct service_args);
/* Idle; after the first ring block `value` panics. */
GPURT_KERNEL_DECLARE(service_panics, struct service_args);
/* Idle; after the first ring it traps. CPU back end only. */
GPURT_KERNEL_DECLARE(service_traps, struct service_args);
/* No service: says that it is here, then one round of the echo, for which it waits. */
GPURT_KERNEL_DECLARE(hostword_once, struct service_args);
/* No service: waits `value` microseconds for xask at most; passes: nanoseconds that it took. */
GPURT_KERNEL_DECLARE(hostword_late, struct service_args);

#endif
