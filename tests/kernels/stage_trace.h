/* SPDX-License-Identifier: Apache-2.0 */
/* stage_trace.h - calls one after the other: what each answered and found is what its step says.
 * A step is a struct with the fields `answer` and `found`; a kernel NAME_trace takes
 * `args.steps` and writes both into it. */
#ifndef GPURT_TESTS_STAGE_TRACE_H
#define GPURT_TESTS_STAGE_TRACE_H

#include "stage.h"

enum {
    STAGE_TRACE_MOST = 32 /* steps */
};

/* Runs `kernel` with the stage's arguments through an array of steps. */
#define STAGE_TRACE(stage, kernel, steps_array, number)                                    \
    do {                                                                                   \
        __typeof__((stage)->args.steps[0]) done_[STAGE_TRACE_MOST];                        \
        uint32_t count_ = (number);                                                        \
                                                                                           \
        CHECK(count_ <= STAGE_TRACE_MOST);                                                 \
        (stage)->launch = (gpurt_launch_t){.grid = {1, 1, 1}, .block = {32, 1, 1}};        \
        (stage)->args.step_count = count_;                                                 \
        (stage)->args.steps = stage_zeros(count_ * sizeof *done_);                         \
        memcpy(done_, steps_array, count_ * sizeof *done_);                                \
        for (uint32_t i_ = 0; i_ < count_; i_++)                                           \
            done_[i_].found = 0;                                                           \
        OK(gpurt_copy(rt, 0, (stage)->args.steps, done_, count_ * sizeof *done_, &err));   \
        RUN(stage, kernel);                                                                \
        stage_read(done_, (stage)->args.steps, count_ * sizeof *done_);                    \
        for (uint32_t i_ = 0; i_ < count_; i_++)                                           \
            stage_step_is(i_, done_[i_].answer, done_[i_].found, (steps_array)[i_].answer, \
                          (steps_array)[i_].found);                                        \
        CHECK_EQ(gpurt_mem_destroy(rt, (stage)->args.steps), GPURT_OK);                    \
    } while (0)

static inline void stage_step_is(uint32_t i, int32_t answer, uint64_t found,
                                 int32_t answer_due, uint64_t found_due)
{
    CHECK_MSG(answer == answer_due && found == found_due,
              "step %u: %s and 0x%llx, not %s and 0x%llx", i, gpurt_status_name(answer),
              (unsigned long long)found, gpurt_status_name(answer_due),
              (unsigned long long)found_due);
}

#endif
