/* SPDX-License-Identifier: Apache-2.0 */
/* The word under locks, by lanes in any order: some wait, some leave, and who is slow is passed over.
 * The count of waiters is always right, and at the end the word is 0. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include <gpurt/impl/turnqueue.h>

#include "check.h"

enum {
    LANES = 7,
    WAITS = 40,
    RUNS = 3000
};

/* The word, and those who wait for it: `numbers` are theirs, or GPURT_TURN_NONE. */
typedef struct model {
    uint64_t word;
    uint32_t numbers[LANES];
    uint32_t left[LANES]; /* waits to come */
    bool waits[LANES];
    int holder; /* a lane, or -1 */
    uint64_t random;
} model_t;

static const gpurt_turn_want_t want = {0, 1, true, "mutex"};

static uint32_t random_below(model_t *m, uint32_t n)
{
    m->random = m->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(m->random >> 33) % n;
}

static void stop(model_t *m, uint32_t lane)
{
    m->waits[lane] = false;
    m->numbers[lane] = GPURT_TURN_NONE;
}

/* What gpurt_turns_step does with one look. */
static void step(model_t *m, uint32_t lane)
{
    uint32_t number = m->numbers[lane];
    bool mine = gpurt_turn_is_out(m->word, number);

    if ((mine ? gpurt_turn_now(m->word) == number : gpurt_turn_waiting(m->word) == 0) &&
        gpurt_turn_count(m->word) == 0) {
        m->word = gpurt_turn_taken(m->word, &want, number);
        CHECK_EQ(m->holder, -1);
        m->holder = (int)lane;
        stop(m, lane);
    } else if (!mine) {
        m->word = gpurt_turn_draw(m->word, number);
        m->numbers[lane] = (gpurt_turn_drawn(m->word) - 1) & GPURT_TURN_NUMBERS;
    } else if (gpurt_turn_count(m->word) == 0 && random_below(m, 3) == 0) {
        m->word = gpurt_turn_skipped(m->word);
    }
}

static void move(model_t *m, uint32_t lane)
{
    if (m->holder == (int)lane) {
        m->word -= want.add;
        m->holder = -1;
    } else if (!m->waits[lane]) {
        m->waits[lane] = m->left[lane] != 0;
        m->left[lane] -= m->left[lane] != 0;
    } else if (random_below(m, 4) == 0) {
        m->word = gpurt_turn_left(m->word, m->numbers[lane]);
        stop(m, lane);
    } else {
        step(m, lane);
    }
}

/* Each number out has one lane or none. */
static uint32_t count_waiters(const model_t *m)
{
    uint32_t n = 0;

    for (int a = 0; a < LANES; a++) {
        n += m->numbers[a] != GPURT_TURN_NONE;
        for (int b = 0; b < a; b++)
            CHECK(m->numbers[a] == GPURT_TURN_NONE || m->numbers[a] != m->numbers[b]);
    }
    return n;
}

static bool is_over(const model_t *m)
{
    for (int i = 0; i < LANES; i++)
        if (m->waits[i] || m->left[i])
            return false;
    return m->holder < 0;
}

static void play(uint64_t seed)
{
    model_t m = {.random = seed, .holder = -1};

    for (uint32_t i = 0; i < LANES; i++) {
        m.left[i] = WAITS;
        stop(&m, i);
    }
    while (!is_over(&m)) {
        move(&m, random_below(&m, LANES));
        CHECK_MSG((int32_t)gpurt_turn_waiting(m.word) - gpurt_turn_holes(m.word) ==
                      (int32_t)count_waiters(&m),
                  "seed %llu: the word is 0x%llx, and %u lanes wait",
                  (unsigned long long)seed, (unsigned long long)m.word, count_waiters(&m));
    }
    CHECK_EQ(m.word, 0);
}

/* More holes than are counted, and more slow lanes: nothing is passed over any more. */
static void limits(void)
{
    uint64_t v = 1; /* held */
    uint32_t n = GPURT_TURN_MANY + 9;

    for (uint32_t i = 0; i < n; i++)
        v = gpurt_turn_draw(v, GPURT_TURN_NONE);
    for (uint32_t i = 1; i < n; i++)
        v = gpurt_turn_left(v, i);
    CHECK_EQ(gpurt_turn_waiting(v), n);
    v = gpurt_turn_taken(v - 1, &want, 0);
    for (uint32_t i = 1; i < n; i++)
        v = gpurt_turn_skipped(v);
    CHECK_EQ(v, 1);

    n = 3 - GPURT_TURN_OWED;
    for (uint32_t i = 0; i < n; i++)
        v = gpurt_turn_draw(v, GPURT_TURN_NONE);
    for (uint32_t i = 0; i < n; i++)
        v = gpurt_turn_skipped(v);
    CHECK_EQ(gpurt_turn_waiting(v), 3);
    CHECK_EQ(gpurt_turn_holes(v), GPURT_TURN_OWED);
    for (uint32_t i = 0; i < n; i++)
        v = gpurt_turn_left(v, i);
    CHECK_EQ(v, 1);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        play(seed);
    limits();
    return 0;
}
