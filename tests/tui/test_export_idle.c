/* SPDX-License-Identifier: Apache-2.0 */
/* The gaps between kernels that exports have: by hand for each reason and place, and for any
 * crowd as long in all as the model's sums of the same events. */
#include "export_idle.h"

#include "check.h"
#include "gaps.h"

enum {
    CROWD = 20000,
    REASONS = 4
};
#define T0 1000000000000ull

static export_idle_t idle;
static gaps_t gaps;
static uint64_t sums[REASONS], last_end;
static char story[256]; /* of the last span: what its gap was made of */

static void begin(void)
{
    memset(&idle, 0, sizeof idle);
    memset(&gaps, 0, sizeof gaps);
    memset(sums, 0, sizeof sums);
    last_end = 0;
}

static void span_tell(const gpurt_span_t *s)
{
    export_idle_piece_t pieces[EXPORT_IDLE_PIECES];
    uint32_t count = export_idle_span(&idle, s, pieces), device = s->device;
    size_t used = 0;

    CHECK(count <= EXPORT_IDLE_PIECES);
    story[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        CHECK(pieces[i].time.start < pieces[i].time.end);
        CHECK(device != 0 || pieces[i].time.start >= last_end);
        last_end = device == 0 ? pieces[i].time.end : last_end;
        sums[pieces[i].why] += pieces[i].time.end - pieces[i].time.start;
        used +=
            (size_t)snprintf(story + used, used < sizeof story ? sizeof story - used : 0,
                             "%c%llu-%llu ", export_idle_word(pieces[i].why)[0],
                             (unsigned long long)(pieces[i].time.start - T0),
                             (unsigned long long)(pieces[i].time.end - T0));
    }
}

static void span_of(uint32_t kind, uint32_t device, uint32_t context, uint64_t from,
                    uint64_t to)
{
    gpurt_span_t s = {.kind = kind,
                      .device = device,
                      .context = context,
                      .time_ns = T0 + from,
                      .ns = to - from};

    span_tell(&s);
}

static void span(uint32_t kind, uint32_t device, uint64_t from, uint64_t to)
{
    span_of(kind, device, device, from, to);
    if (kind == GPURT_KIND_WAIT)
        gaps_wait(&gaps, T0 + from, T0 + to);
    else if (kind == GPURT_KIND_COPY || kind == GPURT_KIND_FILL)
        gaps_copy(&gaps, T0 + from, T0 + to);
    else
        gaps_kernel(&gaps, T0 + from, T0 + to);
}

static void told(const char *want)
{
    CHECK_MSG(strcmp(story, want) == 0, "'%s', not '%s'", story, want);
}

static void check_reasons(void)
{
    begin();
    span(GPURT_KIND_KERNEL, 0, 0, 1000);
    told(""); /* what was before the first is not known */
    span(GPURT_KIND_KERNEL, 0, 500, 2000);
    span(GPURT_KIND_GRAPH, 0, 5000, 6000);
    told("l2000-5000 ");
    span(GPURT_KIND_KERNEL, 0, 56000, 57000);
    told("i6000-56000 "); /* as long as no launch takes */
    span(GPURT_KIND_KERNEL, 0, 57000, 58000);
    told("");

    begin(); /* copies are no part of it, wherever they begin and end */
    span(GPURT_KIND_KERNEL, 0, 0, 1000);
    span(GPURT_KIND_COPY, 0, 200, 900);
    span(GPURT_KIND_COPY, 0, 500, 1500);
    span(GPURT_KIND_FILL, 0, 1400, 2000);
    span(GPURT_KIND_COPY, 0, 2500, 2600);
    span(GPURT_KIND_COPY, 0, 2900, 4000);
    span(GPURT_KIND_KERNEL, 0, 3000, 3500);
    told("l2000-2500 l2600-2900 ");
    span(GPURT_KIND_KERNEL, 0, 4200, 4300);
    told("l4000-4200 ");

    begin(); /* the host sleeps until 2500, and a copy runs meanwhile */
    span(GPURT_KIND_KERNEL, 0, 0, 1000);
    span(GPURT_KIND_WAIT, 0, 100, 2500);
    span(GPURT_KIND_WAIT, 0, 1100, 9000); /* began in the gap: explains nothing */
    span(GPURT_KIND_COPY, 0, 1200, 1300);
    span(GPURT_KIND_KERNEL, 0, 1000000, 1001000);
    told("c1000-1200 c1300-2500 i2500-1000000 ");

    begin(); /* what has no length, and devices that there is no room for */
    span(GPURT_KIND_KERNEL, EXPORT_IDLE_DEVICES, 0, 1000);
    span(GPURT_KIND_KERNEL, EXPORT_IDLE_DEVICES, 5000, 6000);
    told("");
    span(GPURT_KIND_KERNEL, 0, 0, 1000);
    span(GPURT_KIND_KERNEL, 0, 2000, 2000);
    told("");
    span(GPURT_KIND_KERNEL, 1, 3000, 4000); /* another device's */
    told("");
}

/* Where nothing was recorded, nobody knows whether anything ran. */
static void check_off(void)
{
    begin();
    export_idle_off(&idle, T0 + 500, 0);
    span(GPURT_KIND_KERNEL, 0, 0, 1000);
    span(GPURT_KIND_WAIT, 0, 100, 200000);
    export_idle_off(&idle, T0 + 90000, 80000);
    span(GPURT_KIND_KERNEL, 0, 100000, 101000);
    told("n1000-100000 ");
    span(GPURT_KIND_KERNEL, 0, 102000, 103000);
    told("c101000-102000 ");
}

/* A wait explains the gaps of the device that its context is of. */
static void check_contexts(void)
{
    begin();
    span_of(GPURT_KIND_KERNEL, 0, 1, 0, 1000);
    span_of(GPURT_KIND_KERNEL, 1, 2, 0, 1000);
    span_of(GPURT_KIND_WAIT, 0, 2, 100, 90000);
    span_of(GPURT_KIND_WAIT, 0, 3, 100, 90000); /* nobody knows for what */
    span_of(GPURT_KIND_KERNEL, 0, 1, 100000, 101000);
    told("i1000-100000 ");
    span_of(GPURT_KIND_KERNEL, 1, 2, 100000, 101000);
    told("c1000-90000 l90000-100000 ");
}

static uint32_t rng = 1;

static uint32_t below(uint32_t n)
{
    rng = rng * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)rng * n >> 32);
}

/* Kernels that overlap or lie far apart, short copies, waits with and without copies in them:
 * both have one mind of what is whose. */
static void check_crowd(void)
{
    uint64_t at = 0, end = 0;
    gpurt_model_busy_t theirs;

    begin();
    for (int i = 0; i < CROWD; i++) {
        uint32_t far = below(8);

        at += far == 0 ? 40000 + below(60000) : below(3000);
        span(GPURT_KIND_KERNEL, 0, at, at + 1 + below(4000));
        end = at + 4001 > end ? at + 4001 : end;
        if (far == 1) {
            span(GPURT_KIND_WAIT, 0, at, end + 2000);
            at += below((uint32_t)(end + 2000 - at));
            if (below(2))
                span(GPURT_KIND_COPY, 0, at, at + 1 + below(3000));
            at = end + 2000;
        }
        for (uint32_t n = far == 2 ? below(100) : 0; n > 0; n--, at += below(500))
            span(GPURT_KIND_COPY, 0, at, at + 1 + below(600));
    }
    at += 100000;
    span(GPURT_KIND_KERNEL, 0, at, at + 1);
    gaps_sums(&gaps, 0, UINT64_MAX, &theirs);
    CHECK(theirs.waiting > 100000 && theirs.launching > 100000 && theirs.idle > 100000);
    CHECK_EQ(sums[EXPORT_IDLE_TOLD], theirs.waiting);
    CHECK_EQ(sums[EXPORT_IDLE_LAUNCHING], theirs.launching);
    CHECK_EQ(sums[EXPORT_IDLE_NOTHING], theirs.idle);
}

int main(void)
{
    check_reasons();
    check_contexts();
    check_off();
    check_crowd();
    return 0;
}
