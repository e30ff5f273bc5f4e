/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of histories, on some written by hand: chunks 1 and 2 lie in one leaf, 4 in
 * another. */
#include "history.h"

/* {begin, end, what, lane, among, answer, leaf, emptied, news} */
#define PUT(begin, end, chunks)                        \
    {                                                  \
        begin, end, HISTORY_PUT, 0, chunks, 0, 3, 0, 0 \
    }
#define TAKE(begin, end, chunks, got)                     \
    {                                                     \
        begin, end, HISTORY_TAKE, 0, chunks, got, 3, 0, 0 \
    }
#define PULL(begin, end, chunks, got, emptied)                  \
    {                                                           \
        begin, end, HISTORY_PULL, 0, chunks, got, 3, emptied, 0 \
    }
#define FIND(begin, end, got)                        \
    {                                                \
        begin, end, HISTORY_FIND, 0, 7, got, 3, 0, 0 \
    }
#define VAIN(begin, end, news)                        \
    {                                                 \
        begin, end, HISTORY_FIND, 0, 7, 0, 0, 0, news \
    }

enum {
    FINE = 0,
    NO_ORDER = 1, /* it is not linear */
    MISSED = 2,   /* a find does not see all */
    UNTOLD = 4    /* ... and has not heard */
};

static const struct line {
    const char *name;
    uint32_t amiss;
    history_t history;
} lines[] = {
    {"nothing happened", FINE, {.count = 0}},
    {"put, then taken", FINE, {{PUT(1, 2, 1), TAKE(3, 4, 1, 1)}, .count = 2}},
    {"taken before it was put", NO_ORDER, {{TAKE(1, 2, 1, 1), PUT(3, 4, 1)}, .count = 2}},
    {"taken while it is put", FINE, {{TAKE(1, 3, 1, 1), PUT(2, 4, 1)}, .count = 2}},
    {"missed while it is put", FINE, {{TAKE(1, 3, 1, 0), PUT(2, 4, 1)}, .count = 2}},
    {"missed after it was put", NO_ORDER, {{PUT(1, 2, 1), TAKE(3, 4, 1, 0)}, .count = 2}},
    {"taken twice",
     NO_ORDER,
     {{PUT(1, 2, 1), TAKE(3, 6, 1, 1), TAKE(4, 5, 1, 1)}, .count = 3}},
    {"one of two gets it",
     FINE,
     {{PUT(1, 2, 1), TAKE(3, 6, 1, 0), TAKE(4, 5, 1, 1)}, .count = 3}},
    {"the first of two gets it",
     FINE,
     {{TAKE(3, 4, 1, 1), TAKE(5, 6, 1, 0)}, .count = 2, .first = 1}},
    {"the second of two gets it",
     NO_ORDER,
     {{TAKE(3, 4, 1, 0), TAKE(5, 6, 1, 1)}, .count = 2, .first = 1}},
    {"more than was asked for", NO_ORDER, {{TAKE(1, 2, 1, 3)}, .count = 1, .first = 3}},
    {"half of what was there", NO_ORDER, {{TAKE(1, 2, 3, 1)}, .count = 1, .first = 3}},
    {"half, and the other half later",
     FINE,
     {{TAKE(1, 2, 3, 1), PUT(1, 3, 2), TAKE(4, 5, 2, 2)}, .count = 3, .first = 1}},
    {"a put seen in halves",
     NO_ORDER,
     {{PUT(1, 6, 3), FIND(2, 3, 1), FIND(4, 5, 3)}, .count = 3}},
    {"a chunk of nobody",
     NO_ORDER,
     {{TAKE(1, 2, 1, 1 | HISTORY_STRANGE)}, .count = 1, .first = 1}},
    {"emptied", FINE, {{PULL(1, 2, 3, 3, 1)}, .count = 1, .first = 7}},
    {"emptied, and says no", NO_ORDER, {{PULL(1, 2, 3, 3, 0)}, .count = 1, .first = 3}},
    {"not emptied, and says so", NO_ORDER, {{PULL(1, 2, 1, 1, 1)}, .count = 1, .first = 3}},
    {"was empty before", NO_ORDER, {{PULL(1, 2, 3, 0, 1)}, .count = 1, .first = 4}},
    {"found as it was", FINE, {{FIND(1, 4, 3), TAKE(2, 3, 1, 1)}, .count = 2, .first = 3}},
    {"found as it never was",
     NO_ORDER,
     {{FIND(1, 4, 2), PUT(2, 3, 2)}, .count = 2, .first = 1}},
    {"found where it did not look",
     NO_ORDER,
     {{{1, 2, HISTORY_FIND, 0, 4, 3, 3, 0, 0}}, .count = 1, .first = 3}},
    {"two that need one order each",
     NO_ORDER,
     {{PUT(1, 8, 1), PUT(1, 8, 2), FIND(2, 3, 1), FIND(4, 5, 2)}, .count = 4}},
    {"found nothing in an empty set", FINE, {{VAIN(1, 2, 0)}, .count = 1}},
    {"found nothing of what was there",
     MISSED,
     {{PUT(1, 2, 1), VAIN(3, 4, 0)}, .count = 2, .news = 1}},
    {"... from the first", MISSED, {{VAIN(3, 4, 0)}, .count = 1, .first = 4, .news = 1}},
    {"... while a lane pulls another",
     MISSED,
     {{PUT(1, 2, 1), VAIN(3, 6, 0), PULL(4, 5, 2, 2, 0)},
      .count = 3,
      .first = 2,
      .news = 1}},
    {"... while a lane takes another",
     FINE,
     {{PUT(1, 2, 1), VAIN(3, 6, 0), TAKE(4, 5, 2, 2)}, .count = 3, .first = 2, .news = 1}},
    {"... while a lane puts another beside it",
     FINE,
     {{PUT(2, 9, 2), PUT(3, 4, 1), VAIN(5, 6, 0)}, .count = 3, .news = 1}},
    {"... while a lane puts another elsewhere",
     MISSED,
     {{{2, 9, HISTORY_PUT, 0, 4, 0, 4, 0, 0}, PUT(3, 4, 1), VAIN(5, 6, 0)},
      .count = 3,
      .news = 1}},
    {"found nothing while it was put",
     FINE,
     {{PUT(1, 4, 1), VAIN(3, 6, 0)}, .count = 2, .news = 1}},
    {"found nothing while it was taken",
     FINE,
     {{PUT(1, 2, 1), VAIN(3, 6, 0), PULL(5, 7, 1, 1, 1)}, .count = 3, .news = 1}},
    {"found nothing, and news came",
     FINE,
     {{VAIN(1, 4, 5), PUT(2, 3, 1)}, .count = 2, .rest = 1, .rested = 5, .news = 6}},
    {"found nothing, later, without news",
     FINE,
     {{PUT(1, 2, 1), TAKE(6, 7, 1, 1), VAIN(8, 9, 5)},
      .count = 3,
      .rest = 1,
      .rested = 5,
      .news = 5}},
    {"found nothing, and no news came",
     UNTOLD,
     {{VAIN(1, 4, 5), PUT(2, 3, 1)}, .count = 2, .rest = 1, .rested = 5, .news = 5}},
};

static uint32_t judge(const history_t *h)
{
    return (history_is_linear(h) ? FINE : NO_ORDER) |
           (history_sees_all(h) ? FINE : MISSED) | (history_heard(h) ? FINE : UNTOLD);
}

int main(void)
{
    for (uint32_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const struct line *line = &lines[i];

        CHECK_MSG(judge(&line->history) == line->amiss, "%s: %u", line->name,
                  judge(&line->history));
    }
    return 0;
}
