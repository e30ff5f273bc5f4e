/* SPDX-License-Identifier: Apache-2.0 */
/* hostcall_kernels.h - kernels that call the host, for test_hostcall and its seeds. */
#ifndef GPURT_TESTS_HOSTCALL_KERNELS_H
#define GPURT_TESTS_HOSTCALL_KERNELS_H

#include <gpurt/hostcall.h>
#include <gpurt/kernel.h>

enum {
    HOSTCALL_THREADS = 512, /* of a launch at most */
    HOSTCALL_PAGE = 1000    /* bytes that a lane alone asks with */
};

struct hostcall_ask {
    uint32_t thread, round;
};
struct hostcall_answer {
    uint64_t product;
    uint32_t thread, round, calls; /* calls: of that thread so far */
};
struct hostcall_page {
    uint8_t bytes[HOSTCALL_PAGE];
};
/* A question of each thread: thread times round, and what the host counted. Beside it the function
 * finds the round in the thread's first note, and leaves one more in the second. */
GPURT_HOST_CALL(multiply, 1, struct hostcall_ask, struct hostcall_answer);
/* All bytes the other way round. */
GPURT_HOST_CALL(reverse, 2, struct hostcall_page, struct hostcall_page);
/* Returns when the test lets it. */
GPURT_HOST_CALL(stall, 3, uint32_t, uint32_t);
/* A status that the test has chosen. */
GPURT_HOST_CALL(answer, 4, int32_t, uint64_t);
/* Nobody adds it. */
GPURT_HOST_CALL(missing, 5, uint32_t, uint64_t);
/* The host has it with another question. */
GPURT_HOST_CALL(other, 6, uint32_t, uint32_t);

/* Owner: the test. */
struct hostcall_args {
    gpurt_hostcalls_t calls;
    uint32_t *notes;  /* in host memory, two a thread: from it, from the host's function */
    int32_t *status;  /* of each thread's last call; of a case, in order */
    uint64_t *values; /* likewise */
    uint32_t *wrong;  /* answers that were others */
    uint32_t *xcame;  /* threads that are about to call */
    uint32_t rounds, file, victim;
    uint64_t ns; /* a limit; UINT64_MAX: none */
};

/* Each thread multiplies, `rounds` times; odd lanes leave out odd rounds. */
GPURT_KERNEL_DECLARE(hostcall_multiply, struct hostcall_args);
GPURT_KERNEL_DECLARE(hostcall_reverse, struct hostcall_args);
/* Thread 0 alone, one call after the other, into status[i]. */
GPURT_KERNEL_DECLARE(hostcall_cases, struct hostcall_args);
/* Odd threads call `answer`, the others `missing`, in the same call. */
GPURT_KERNEL_DECLARE(hostcall_mixed, struct hostcall_args);
/* Each thread stalls, for `ns` at most. */
GPURT_KERNEL_DECLARE(hostcall_stall, struct hostcall_args);
/* Block `victim` is cancelled by its last thread when its others wait. */
GPURT_KERNEL_DECLARE(hostcall_cancel, struct hostcall_args);
/* Block `victim` panics likewise. */
GPURT_KERNEL_DECLARE(hostcall_panic, struct hostcall_args);
/* Each thread writes a line of its own into the file; thread 0 prints and asks the time. */
GPURT_KERNEL_DECLARE(hostcall_write, struct hostcall_args);

#endif
