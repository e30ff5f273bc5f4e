/* SPDX-License-Identifier: Apache-2.0 */
/* channel_trace.h - what each call to a channel answers, one after the other, and what its making
 * refuses. */
#ifndef GPURT_TESTS_CHANNEL_TRACE_H
#define GPURT_TESTS_CHANNEL_TRACE_H

#include "../kernels/channel_stage.h"
#include "stage_trace.h"

static inline void trace_on(const gpurt_channel_t *c, const channel_step_t *steps,
                            uint32_t count)
{
    channel_stage_t s = {0};

    s.args.channel = s.args.two.channel = *c;
    s.args.mode = c->flags & GPURT_CHANNEL_PAIR;
    STAGE_TRACE(&s, channel_trace, steps, count);
}
#define TRACE(channel, ...)                                                    \
    do {                                                                       \
        static const channel_step_t steps_[] = {__VA_ARGS__};                  \
                                                                               \
        trace_on(channel, steps_, (uint32_t)(sizeof steps_ / sizeof *steps_)); \
    } while (0)
#define SENT(what, value, answer) \
    {                             \
        what, value, 0, answer    \
    }
#define GOT(what, found, answer) \
    {                            \
        what, 0, found, answer   \
    }

static inline void refused(gpurt_channel_options_t o, const char *text)
{
    gpurt_channel_t c;
    gpurt_error_t e = {0};

    CHECK_EQ(gpurt_channel_create(rt, &o, &c, &e), GPURT_E_INVALID);
    CHECK_CONTAINS(e.text, text);
    CHECK(!c.words);
}

#endif
