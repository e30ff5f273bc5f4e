/* SPDX-License-Identifier: Apache-2.0 */
/* gaps.h - what a GPU did with its time, from what is told of it: stretches in which no kernel
 * ran, and why.
 *
 *   copying     a copy or fill ran in it
 *   waiting     the host slept in a wait for this GPU as the gap began: the time until it
 *               woke up, less copies in it
 *   launching   the rest, where it is shorter than GPURT_ACTIVITY_LAUNCH_NS: as fast as this
 *               host can
 *   idle        the rest of longer gaps: nobody asked for anything
 *
 * A gap that reaches into a time without records says nothing: what ran in it nobody knows.
 *
 * Records come late and in any order: CUPTI tells of a kernel when it has ended, a minute
 * after it began, and of what ran meanwhile before that. So gaps are kept, and a kernel
 * that comes late takes back what of them it ran in. Room is bounded: when it is used up, the
 * older half becomes coarser, two neighbours one, again and again, so that the last GAPS_MOST / 2
 * are exact and what lies far back is a stretch with the sums of its gaps. Of such a one a late
 * kernel takes back as large a part as it covers of it.
 *
 * Why is found when room is needed or somebody looks: copies and waits come late, too. */
#ifndef GPURT_LOG_GAPS_H
#define GPURT_LOG_GAPS_H

#include <gpurt/impl/activity.h>

#include "modelview.h"

enum {
    GAPS_MOST = 1024,
    GAPS_COPIES = 512,
    GAPS_WAITS = 256,
    GAPS_OFFS = 64
};

typedef struct gap {
    uint64_t start, end;
    uint64_t
        ns; /* of it no kernel ran; less than end - start where it stands for several */
    uint64_t copying, waiting,
        launching;    /* of those; idle the rest. GAP_OPEN: to be found */
    uint64_t unknown; /* nobody watched: counts as nothing */
} gap_t;
#define GAP_OPEN UINT64_MAX

typedef struct gaps_span {
    uint64_t start, end;
} gaps_span_t;

typedef struct gaps_wait {
    uint64_t start, reach; /* reach: the latest end of those up to here */
} gaps_wait_t;

/* Of one GPU. Owner: the model; zeroed at first. */
typedef struct gaps {
    uint64_t first;  /* begin of the first that is known; 0: nothing is */
    uint64_t until;  /* behind the last gap, or the end of a kernel */
    uint64_t latest; /* end of anything known */
    uint64_t seen;   /* somebody watched until here, or longer */
    uint64_t told;   /* records */
    uint64_t off;    /* since then nothing is recorded; 0: something is */
    uint32_t count, copy_count, wait_count, off_count;
    gap_t list[GAPS_MOST];           /* disjoint, by time; none behind `until` */
    gaps_span_t copies[GAPS_COPIES]; /* disjoint, by time: the last ones */
    gaps_wait_t waits[GAPS_WAITS];   /* by start: the last ones */
    gaps_span_t offs[GAPS_OFFS];     /* by time: the last ones without records */
} gaps_t;

void gaps_kernel_late(gaps_t *g, uint64_t start, uint64_t end);

/* Whether no gap ends behind a time at which something is known. */
static inline bool gaps_none_behind(const gaps_t *g, uint64_t time)
{
    return time >= g->first && (g->count == 0 || time >= g->list[g->count - 1].end);
}

/* [start, end): a kernel or graph ran. Mostly it began behind the last one, or beside it. */
static inline void gaps_kernel(gaps_t *g, uint64_t start, uint64_t end)
{
    if (GPURT_UNLIKELY(!gaps_none_behind(g, start) || g->first == 0 ||
                       g->count == GAPS_MOST || end <= start)) {
        gaps_kernel_late(g, start, end);
        return;
    }
    if (start > g->until)
        g->list[g->count++] = (gap_t){
            .start = g->until, .end = start, .ns = start - g->until, .launching = GAP_OPEN};
    g->until = end > g->until ? end : g->until;
    g->latest = end > g->latest ? end : g->latest;
}

void gaps_copy(gaps_t *g, uint64_t start, uint64_t end);
/* The host slept in a wait for this GPU. */
void gaps_wait(gaps_t *g, uint64_t start, uint64_t end);

/* Something else is told of this GPU, so somebody watches. */
static inline void gaps_watched(gaps_t *g, uint64_t time_ns)
{
    g->seen = time_ns > g->seen ? time_ns : g->seen;
}

/* [start, end), which does not begin before those that were told: nothing was recorded. */
void gaps_off(gaps_t *g, uint64_t start, uint64_t end);

/* From now on nothing is. */
void gaps_off_begins(gaps_t *g, uint64_t time_ns);

/* Another process begins to watch. What lies between that and the last word of those before was
 * watched by nobody, where it is longer than the pause between two words of one that lives. */
void gaps_begin(gaps_t *g, uint64_t time_ns);

/* Two were one GPU: what the other had did happen here. What is coarse there is, of its stretch, a
 * kernel first. */
void gaps_join(gaps_t *to, const gaps_t *from);

/* Of [from, to), as far as it is known: `ns` in all, which the parts add up to. */
void gaps_sums(const gaps_t *g, uint64_t from, uint64_t to, gpurt_model_busy_t *out);

#endif
