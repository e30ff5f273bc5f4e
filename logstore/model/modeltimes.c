/* SPDX-License-Identifier: Apache-2.0 */
#include "modeltimes.h"

#include <math.h>

static uint64_t bucket_low(uint32_t bucket)
{
    if (bucket < SPREAD_STEPS)
        return bucket;
    return (uint64_t)(SPREAD_STEPS + bucket % SPREAD_STEPS) << (bucket / SPREAD_STEPS - 1);
}

/* The duration that `part` in 1000 of them do not exceed, as exact as a bucket is wide. */
static uint64_t quantile(const model_times_t *t, uint64_t part)
{
    uint64_t timed = t->count - t->untimed, rank = (timed * part + 999) / 1000, below = 0;
    uint32_t bucket = 0;
    double width, value;

    if (timed == 0)
        return 0;
    while (bucket < SPREAD_BUCKETS - 1 && below + t->spread[bucket] < rank)
        below += t->spread[bucket++];
    if (t->spread[bucket] == 0)
        return t->max_ns;
    width = (double)(bucket_low(bucket + 1) - bucket_low(bucket));
    value = (double)bucket_low(bucket) +
            width * ((double)(rank - below) - 0.5) / (double)t->spread[bucket];
    return value < (double)t->min_ns   ? t->min_ns
           : value > (double)t->max_ns ? t->max_ns
                                       : (uint64_t)value;
}

void model_times_view(const model_times_t *from, gpurt_model_times_t *to)
{
    to->count = from->count;
    to->untimed = from->untimed;
    to->total_ns = from->total_ns;
    to->min_ns = from->min_ns;
    to->max_ns = from->max_ns;
    to->p50_ns = quantile(from, 500);
    to->p99_ns = quantile(from, 990);
    to->about_ns = to->about_error_ns = 0;
}

/* Of one duration, squared, as exact as buckets are wide. */
static double variance(const model_times_t *t, double count)
{
    double sum = 0, squares = 0, mean;

    for (uint32_t i = 0; i < SPREAD_BUCKETS; i++) {
        double ns = ((double)bucket_low(i) + (double)bucket_low(i + 1)) / 2;

        sum += ns * t->spread[i];
        squares += ns * ns * t->spread[i];
    }
    mean = sum / count;
    return squares / count - mean * mean;
}

/* A file may tell as it likes. */
static uint64_t whole_of(double ns)
{
    return ns < 0x1p63 ? (uint64_t)ns : UINT64_MAX;
}

/* A sample without replacement: where nearly all have times, little is uncertain. */
void model_times_estimate(const model_times_t *from, gpurt_model_times_t *to)
{
    const double all = (double)from->count, some = all - (double)from->untimed;
    double spread;

    if (from->untimed == 0 || some < 1)
        return;
    spread = variance(from, some) / some * (1 - some / all);
    to->about_ns = whole_of((double)from->total_ns / some * all);
    to->about_error_ns = spread > 0 ? whole_of(2 * all * sqrt(spread)) : 0;
}
