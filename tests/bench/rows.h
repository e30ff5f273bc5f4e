/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - how every bench says a figure: one tab-separated row a case, the floor or the peer
 * measured in the same run beside it. Documents are made from these rows. */
#ifndef GPURT_TESTS_BENCH_ROWS_H
#define GPURT_TESTS_BENCH_ROWS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline void rows_head(void)
{
    printf("bench\tcase\tvalue\tunit\tpeer\tpeer_value\tratio\n");
}

/* peer: NULL when the case has none. */
static inline void rows_add(const char *bench, const char *name, double value,
                            const char *unit, const char *peer, double peer_value)
{
    if (peer)
        printf("%s\t%s\t%.4g\t%s\t%s\t%.4g\t%.3f\n", bench, name, value, unit, peer,
               peer_value, value / peer_value);
    else
        printf("%s\t%s\t%.4g\t%s\t-\t-\t-\n", bench, name, value, unit);
    fflush(stdout);
}

static inline double rows_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int rows_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* CPU time of this thread: what a shared machine lets one compare. */
static inline double rows_cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The sample that so many percent are not above. */
static inline double rows_percentile(double *samples, uint32_t count, uint32_t percent)
{
    qsort(samples, count, sizeof *samples, rows_compare);
    return samples[(uint64_t)(count - 1) * percent / 100];
}

static inline double rows_median(double *samples, uint32_t count)
{
    qsort(samples, count, sizeof *samples, rows_compare);
    return samples[count / 2];
}

#endif
