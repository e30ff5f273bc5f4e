/* SPDX-License-Identifier: Apache-2.0 */
/* service_stage.h - what tests of services have in common: the runtime, memory that both sides reach,
 * rounds of question and answer. */
#ifndef GPURT_TESTS_SERVICE_STAGE_H
#define GPURT_TESTS_SERVICE_STAGE_H

#include "../must.h"

#include <gpurt/hostwords.h>
#include <gpurt/services.h>

#include <stdlib.h>
#include <time.h>

#include "service_kernels.h"

enum {
    BLOCKS = 3
};
#define WAIT_NS 30000000000ull

static gpurt_t *rt;
static gpurt_error_t err;
static gpurt_info_t info;
static const gpurt_launch_t shape = {.grid = {BLOCKS, 1, 1}, .block = {64, 1, 1}};

/* A call that waits for a service so long and not longer, on a machine that may be busy. */
#define must_at_last(call)                                                     \
    do {                                                                       \
        gpurt_status_t st_;                                                    \
                                                                               \
        for (uint32_t tries_ = 0; (st_ = (call)) == GPURT_E_TIMEOUT; tries_++) \
            CHECK_MSG(tries_ < 300, "%s", err.text);                           \
        must(st_);                                                             \
    } while (0)

static inline void *host_memory(size_t bytes)
{
    void *memory;

    must(gpurt_host_create(rt, bytes, &memory, &err));
    memset(memory, 0, bytes);
    return memory;
}

static inline struct service_args args_make(void)
{
    return (struct service_args){.desk = host_memory(sizeof(service_desk_t)),
                                 .replies = host_memory(BLOCKS * sizeof(service_reply_t))};
}

static inline void args_free(struct service_args *a)
{
    must(gpurt_host_destroy(rt, a->desk));
    must(gpurt_host_destroy(rt, a->replies));
}

static inline void open_with(uint32_t spin_limit_ms)
{
    gpurt_options_t options = {.cpu.spin_limit_ms = spin_limit_ms};

    setenv("GPURT_CUDA_WAITS", "1", 0); /* a call that waits for a service fails */
    must(gpurt_open(&options, &rt, &err));
    must(gpurt_info(rt, &info));
}

static inline void ms_pass(uint32_t ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};

    nanosleep(&t, NULL);
}

static inline gpurt_service_status_t status_of(gpurt_service_t service)
{
    gpurt_service_status_t status;

    must(gpurt_service_status(rt, service, &status));
    return status;
}

static inline void state_await(gpurt_service_t service, gpurt_service_state_t state)
{
    for (uint32_t ms = 0; status_of(service).state != state; ms++) {
        CHECK_MSG(ms < 30000, "state %d, expected %d", (int)status_of(service).state,
                  (int)state);
        ms_pass(1);
    }
}

static inline void round_ask(struct service_args *a, uint32_t round)
{
    for (uint32_t i = 0; i < SERVICE_WORDS; i++)
        a->desk->question[i] = round * 1000u + i;
    must(gpurt_hostword_store(rt, &a->desk->xask, round, &err));
}

static inline void round_hear(struct service_args *a, uint32_t before, uint32_t round,
                              uint32_t blocks)
{
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t found;

        must(gpurt_hostword_wait(rt, &a->replies[b].xround, before, WAIT_NS, &found, &err));
        CHECK_EQ(found, round);
        for (uint32_t i = 0; i < SERVICE_WORDS; i++)
            CHECK_EQ(a->replies[b].answer[i], (round * 1000u + i) * 31u + b);
    }
}

#endif
