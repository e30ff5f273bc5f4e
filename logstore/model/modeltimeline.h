/* SPDX-License-Identifier: Apache-2.0 */
/* modeltimeline.h - what ran on each stream and when, as far back as a screen can use: the
 * last spans with their names, and how busy each stream was in bins of three widths, which
 * go further back. Fixed size, no pointers: the model keeps it in the shape in which it is
 * shown. */
#ifndef GPURT_MODELTIMELINE_H
#define GPURT_MODELTIMELINE_H

#include "span.h"

enum {
    GPURT_TIMELINE_LANES = 16, /* streams with a lane of their own, and the waits */
    GPURT_TIMELINE_OTHER = GPURT_TIMELINE_LANES, /* one for the rest */
    GPURT_TIMELINE_SPANS = 2048,
    GPURT_TIMELINE_ZOOMS = 3,
    GPURT_TIMELINE_BINS = 512, /* of each width: half a second, 8 s, 131 s */
    GPURT_TIMELINE_BUSY = 64,  /* seconds of a GPU, the last one first */
    GPURT_TIMELINE_GPUS = 8,
    GPURT_TIMELINE_OFFS = 32, /* times without records of a GPU, the last ones */
    GPURT_TIMELINE_PARTS = 250,
    GPURT_TIMELINE_RINGS = 16,  /* devices that have any: those of each process anew */
    GPURT_TIMELINE_TENTHS = 128 /* of a second, of samples */
};
#define GPURT_TIMELINE_TENTH_NS 100000000ull

/* Bins of zoom z are so wide. */
#define GPURT_TIMELINE_BIN_NS 1000000ull /* of zoom 0 */
static inline uint64_t gpurt_timeline_width(uint32_t zoom)
{
    return GPURT_TIMELINE_BIN_NS << 4 * zoom;
}

/* When a bin of zoom 0 begins. */
static inline uint64_t gpurt_timeline_start(uint64_t bin)
{
    return bin * GPURT_TIMELINE_BIN_NS;
}

/* The number of the bin of a zoom that a bin of zoom 0 lies in. */
static inline uint64_t gpurt_timeline_wider(uint64_t bin, uint32_t zoom)
{
    return bin >> 4 * zoom;
}

/* The number of the bin that a time lies in: without a division by a variable. */
static inline uint64_t gpurt_timeline_bin(uint64_t time_ns, uint32_t zoom)
{
    return gpurt_timeline_wider(time_ns / GPURT_TIMELINE_BIN_NS, zoom);
}

enum {
    GPURT_TIMELINE_STREAM = 0,
    GPURT_TIMELINE_WAITS = 1 /* of host threads */
};
/* Numbers of devices, contexts and streams are a process's own, so each has its lanes, and
 * one of waits. */
typedef struct gpurt_timeline_lane {
    uint32_t kind, device, context, stream;
    uint32_t program, pid; /* program.h; pid: of a view, 0: not known */
    uint32_t gpu, unused;  /* gpu: of a view, which of its GPUs; or none */
    uint64_t count, ns;
} gpurt_timeline_lane_t;

enum {
    GPURT_TIMELINE_KERNEL = 0, /* and graphs */
    GPURT_TIMELINE_COPY = 1,   /* and fills */
    GPURT_TIMELINE_WAIT = 2
};
typedef struct gpurt_timeline_span {
    uint64_t start_ns, ns;
    uint16_t lane;
    uint8_t what, program;
    uint32_t kernel; /* row of the model's kernels; none: GPURT_TIMELINE_NAMELESS */
} gpurt_timeline_span_t;
#define GPURT_TIMELINE_NAMELESS UINT32_MAX

/* Nanoseconds of a bin; more than its width where kernels of a lane overlap. */
typedef struct gpurt_timeline_cell {
    uint32_t kernels, copies;
} gpurt_timeline_cell_t;

typedef struct gpurt_timeline_bins {
    uint64_t newest; /* number of the last bin: its time by the width */
    gpurt_timeline_cell_t cells[GPURT_TIMELINE_BINS][GPURT_TIMELINE_LANES + 1];
} gpurt_timeline_bins_t;

/* What a GPU did with a second, in parts of GPURT_TIMELINE_PARTS; ns 0: nothing is known. */
typedef struct gpurt_timeline_busy {
    uint64_t start_ns, ns;
    uint8_t kernels, copying, waiting, launching, idle, reserved[3];
} gpurt_timeline_busy_t;

/* Nothing was recorded; end UINT64_MAX: nothing is. */
typedef struct gpurt_timeline_off {
    uint64_t start_ns, end_ns;
} gpurt_timeline_off_t;

/* Samples of a tenth of a second, by the number of the tenth. */
typedef struct gpurt_timeline_tenth {
    uint64_t number;
    uint32_t count[GPURT_SAMPLE_MEASURES], sum[GPURT_SAMPLE_MEASURES];
} gpurt_timeline_tenth_t;

typedef struct gpurt_timeline {
    uint64_t count; /* spans ever; the last ones are at count modulo GPURT_TIMELINE_SPANS */
    uint64_t lane_count;
    gpurt_timeline_lane_t lanes[GPURT_TIMELINE_LANES + 1];
    gpurt_timeline_span_t spans[GPURT_TIMELINE_SPANS];
    gpurt_timeline_bins_t bins[GPURT_TIMELINE_ZOOMS];
    uint64_t ring_gpu[GPURT_TIMELINE_RINGS]; /* of a view: which of its GPUs it tells of */
    gpurt_timeline_busy_t busy[GPURT_TIMELINE_GPUS][GPURT_TIMELINE_BUSY]; /* of a view */
    gpurt_timeline_off_t offs[GPURT_TIMELINE_GPUS]
                             [GPURT_TIMELINE_OFFS]; /* likewise; the last ones */
    gpurt_timeline_tenth_t samples[GPURT_TIMELINE_RINGS][GPURT_TIMELINE_TENTHS];
} gpurt_timeline_t;

/* Spans of one stream of a process and one bin, as neighbours mostly are: their sums, until the run ends.
 * Owner: the caller; zeroed at first. */
typedef struct gpurt_timeline_run {
    uint64_t count, ns, bin; /* bin: of zoom 0 */
    uint32_t lane, device, context, stream, program;
    uint16_t what;
} gpurt_timeline_run_t;

static inline void gpurt_timeline_keep(gpurt_timeline_t *t, uint64_t start_ns, uint64_t ns,
                                       uint32_t lane, uint32_t program, uint32_t what,
                                       uint32_t kernel)
{
    t->spans[t->count++ % GPURT_TIMELINE_SPANS] =
        (gpurt_timeline_span_t){.start_ns = start_ns,
                                .ns = ns,
                                .lane = (uint16_t)lane,
                                .what = (uint8_t)what,
                                .program = (uint8_t)program,
                                .kernel = kernel};
}

/* A kernel where the run is: on its stream, within its bin. Most are, and it takes a third of
 * what add does. Returns: false, nothing has changed: it is not. */
static inline bool gpurt_timeline_more(gpurt_timeline_t *t, gpurt_timeline_run_t *r,
                                       const gpurt_row_t *row,
                                       const gpurt_activity_kernel_t *k, uint32_t kernel)
{
    const uint64_t ns = gpurt_pair_value(k->ns);
    const uint64_t since = row->time_ns - gpurt_timeline_start(r->bin); /* early: huge */

    if (r->count == 0 || r->what != GPURT_TIMELINE_KERNEL || r->stream != k->stream ||
        r->context != k->context || r->device != row->block || r->program != row->program ||
        since >= GPURT_TIMELINE_BIN_NS || ns == 0 || ns > GPURT_TIMELINE_BIN_NS - since)
        return false;
    gpurt_timeline_keep(t, row->time_ns, ns, r->lane, r->program, GPURT_TIMELINE_KERNEL,
                        kernel);
    r->ns += ns;
    r->count++;
    return true;
}

/* kernel: as in gpurt_timeline_span_t. What add leaves in the run, end puts into the timeline:
 * before anybody looks. put is both. */
void gpurt_timeline_put(gpurt_timeline_t *t, const gpurt_span_t *s, uint32_t kernel);
void gpurt_timeline_add(gpurt_timeline_t *t, gpurt_timeline_run_t *r, const gpurt_span_t *s,
                        uint32_t kernel);
void gpurt_timeline_end(gpurt_timeline_t *t, gpurt_timeline_run_t *r);
/* ring: of the device; from GPURT_TIMELINE_RINGS on it has none. */
void gpurt_timeline_put_sample(gpurt_timeline_t *t, uint32_t ring, uint64_t time_ns,
                               const gpurt_activity_sample_t *s);

/* The mean of a measure of a GPU in the tenth of a second that a time lies in, in hundredths
 * of a percent. Returns: false: nothing is known. */
bool gpurt_timeline_sample(const gpurt_timeline_t *t, uint32_t gpu, uint64_t time_ns,
                           uint32_t measure, uint32_t *mean);

/* Whether all that is known to have begun at or after a time is still among the spans. */
static inline bool gpurt_timeline_holds(const gpurt_timeline_t *t, uint64_t time_ns)
{
    return t->count <= GPURT_TIMELINE_SPANS ||
           t->spans[t->count % GPURT_TIMELINE_SPANS].start_ns <= time_ns;
}

#endif
