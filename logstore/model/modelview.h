/* SPDX-License-Identifier: Apache-2.0 */
/* modelview.h - what a model shows: parts of fixed size that hold numbers and texts
 * only, no pointers, so that they can lie in shared memory and be copied by anyone.
 *
 * Texts come from devices and files: they are terminated, but whoever prints them
 * escapes them. What does not fit a cap is counted in a row called other, never dropped
 * unseen. */
#ifndef GPURT_MODELVIEW_H
#define GPURT_MODELVIEW_H

#include <gpurt/impl/activity.h>
#include <gpurt/impl/box.h>

#include "linecells.h"
#include "modeltimeline.h"
#include "objectsview.h"

enum {
    GPURT_MODEL_SITES = 512,                       /* sites with a row of their own */
    GPURT_MODEL_SMS = 2048,                        /* multiprocessors, over all sections */
    GPURT_MODEL_PANICS = 64,                       /* the first ones: they matter most */
    GPURT_MODEL_LINES = 1024,                      /* log lines kept in each class */
    GPURT_MODEL_SECONDS = 512,                     /* history, one sample a second */
    GPURT_MODEL_SECTIONS = GPURT_BOX_SECTIONS + 1, /* the last: not in the box's table */
    GPURT_MODEL_LEVELS = 8,
    GPURT_MODEL_REASONS = 10, /* 0: one that is not known */
    GPURT_MODEL_LINE_TEXT = 176,
    GPURT_MODEL_SITE_TEXT = 160,
    GPURT_MODEL_WHERE = 48,
    GPURT_MODEL_KERNELS = 256, /* kernels and graphs with a row of their own */
    GPURT_MODEL_GRAPHS = 64,   /* graphs at most: a server has thousands */
    GPURT_MODEL_OTHER_KERNELS = GPURT_MODEL_KERNELS, /* the rows behind them: all others */
    GPURT_MODEL_OTHER_GRAPHS = GPURT_MODEL_KERNELS + 1,
    GPURT_MODEL_KERNEL_ROWS = GPURT_MODEL_KERNELS + 2,
    GPURT_MODEL_HOST_ROWS = 64, /* names of calls, and of ranges, with a row of their own */
    GPURT_MODEL_DOMAIN = 64,
    GPURT_MODEL_MEMORIES = 32, /* kinds of memory, by GPU and process */
    GPURT_MODEL_POOLS = 16,    /* one that is new takes the row of one that is gone */
    GPURT_MODEL_WORDS = 32,
    GPURT_MODEL_DEVICES = 8, /* whose activity is known */
    GPURT_MODEL_KERNEL_NAME = 192,
    GPURT_MODEL_STATE = 864,       /* of a collector: as long as they become (trouble.h) */
    GPURT_MODEL_FRAMES = 640,      /* of who launched one */
    GPURT_MODEL_RUNNING = 64,      /* launches that have not ended */
    GPURT_MODEL_LINE_CELLS = 8192, /* samples of warps: by instruction and reason */
    GPURT_MODEL_LINE_NAMES = 512,
    GPURT_MODEL_LINE_NAME = 256,
    GPURT_MODEL_LINE_CALLS = 256, /* texts of inlined calls, */
    GPURT_MODEL_CALLS_TEXT = 736, /* as long as the collector writes them (inlined.h) */
    GPURT_MODEL_COLLECTORS = 16   /* processes whose collector has a row of its own */
};

/* Lines are kept by class, so that a flood of INFO does not push an ERROR out. */
enum {
    GPURT_CLASS_LOW = 0,
    GPURT_CLASS_WARN = 1,
    GPURT_CLASS_HIGH = 2,
    GPURT_CLASSES = 3
};

enum {
    GPURT_MODEL_EMPTY = 0,
    GPURT_MODEL_LIVE = 1,  /* somebody drains the box */
    GPURT_MODEL_ENDED = 2, /* the program is gone, everything was drained */
    GPURT_MODEL_REPLAY = 3
};

typedef struct gpurt_model_section {
    uint32_t kind, device, sm_count, warp_slots;
    uint32_t sm_first, sm_shown; /* its rows in `sms`; the rest of the SMs is in sm_other */
    uint32_t per_second, lost_per_second;
    uint64_t messages, lost, panics, sm_other;
    char name[GPURT_BOX_NAME];
} gpurt_model_section_t;

typedef struct gpurt_model_second {
    uint64_t second;                           /* since 1970; 0: no sample */
    uint32_t messages, warnings, errors, lost; /* at most 2^32 - 1 */
} gpurt_model_second_t;

typedef struct gpurt_model_sm {
    uint64_t messages, last_ns;
    uint64_t slots; /* bit per warp slot that spoke in this second or the one before; the
                       highest bit stands for all from 63 on */
    uint32_t per_second, errors; /* errors: ERROR and PANIC messages */
    uint64_t error_ns;           /* of the last one */
} gpurt_model_sm_t;

typedef struct gpurt_model_site_count {
    uint64_t messages, last_ns;
    uint32_t id, per_second;
} gpurt_model_site_count_t;

/* Part 0: all that changes all the time. Rates are of the last whole second in tenths. */
typedef struct gpurt_model_numbers {
    uint64_t time_ns;           /* real time of these numbers; the position of a replay */
    uint64_t first_ns, last_ns; /* of the rows seen; 0: none */
    uint64_t rows, messages, lost, panics;
    uint64_t levels[GPURT_MODEL_LEVELS]; /* messages */
    uint64_t losses[GPURT_MODEL_REASONS];
    uint32_t level_rates[GPURT_MODEL_LEVELS];
    uint32_t per_second, lost_per_second;
    uint32_t state; /* GPURT_MODEL_LIVE and so on */
    uint32_t site_count;
    uint64_t range_first_ns, range_last_ns; /* of a replay: the whole log */
    gpurt_model_section_t sections[GPURT_MODEL_SECTIONS];
    gpurt_model_second_t seconds[GPURT_MODEL_SECONDS];     /* at second modulo the count */
    gpurt_model_site_count_t sites[GPURT_MODEL_SITES + 1]; /* the last: other */
    gpurt_model_sm_t sms[GPURT_MODEL_SMS];
} gpurt_model_numbers_t;

typedef struct gpurt_model_site {
    uint32_t id, line;
    uint16_t kind, arg_count;
    uint32_t level;
    uint64_t types;
    char file[GPURT_MODEL_WHERE]; /* its end, where it is longer */
    char format[GPURT_MODEL_SITE_TEXT];
    char last[GPURT_MODEL_SITE_TEXT]; /* the last message */
} gpurt_model_site_t;

/* Part 1: who, and the sites in the order of numbers.sites. */
typedef struct gpurt_model_names {
    gpurt_box_identity_t identity;
    uint64_t gpurt_version;
    uint64_t programs; /* processes that the rows are of */
    gpurt_model_site_t sites[GPURT_MODEL_SITES];
} gpurt_model_names_t;

typedef struct gpurt_model_panic {
    uint64_t time_ns, clock;
    uint32_t section, sm, slot, warp;
    gpurt_dim3_t block, thread;
    uint32_t lane, mask, failed;
    uint32_t line, arg_count, category; /* category: 0 of a fault */
    uint32_t pid, unused;               /* pid: whose it is; 0: not known */
    uint64_t types;
    uint64_t args[GPURT_PANIC_ARGS]; /* a string's number is gone: see `message` */
    uint64_t lanes[GPURT_WARP_SIZE]; /* first operand of each lane in `failed` */
    char file[GPURT_MODEL_WHERE * 2];
    char format[GPURT_MODEL_SITE_TEXT];
    char condition[GPURT_MODEL_SITE_TEXT]; /* what was promised, "" nothing */
    char message[GPURT_MODEL_SITE_TEXT * 2];
} gpurt_model_panic_t;

/* Part 2. */
typedef struct gpurt_model_panics {
    uint64_t count; /* entries in use; more were raised when numbers.panics is larger */
    gpurt_model_panic_t list[GPURT_MODEL_PANICS];
} gpurt_model_panics_t;

typedef struct gpurt_model_line {
    uint64_t number; /* of the row, counted from 1 over all classes: their order */
    uint64_t time_ns;
    uint32_t block, mask;
    uint16_t sm, text_bytes;
    uint8_t slot, warp, level, section;
    uint8_t kind, form;
    uint16_t more;      /* further messages of the same row: other lanes' values */
    uint32_t line, pid; /* pid: whose it is; 0: not known */
    char file[36];      /* without its folder */
    char text[GPURT_MODEL_LINE_TEXT];
} gpurt_model_line_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_model_line_t) == 256, "an array of them needs no padding");

/* Parts 3 to 5: the last lines of a class, line i at i modulo the count. */
typedef struct gpurt_model_lines {
    uint64_t first, end; /* lines first..end - 1 are there */
    gpurt_model_line_t list[GPURT_MODEL_LINES];
} gpurt_model_lines_t;

/* Of durations, which a file may tell as it likes: a sum stands at the most that there is, as one
 * that began anew would make shares of more than all. */
static inline uint64_t gpurt_model_sum(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

/* Durations of what has one name. They are of the records that had some: `untimed` tells how
 * many had none. */
typedef struct gpurt_model_times {
    uint64_t count, untimed;
    uint64_t total_ns, min_ns, max_ns;
    uint64_t p50_ns, p99_ns; /* within 7 %, up to 2^50 ns */
    /* Of all, where some have times and others were launched between windows of records: what that
     * is about, and two standard deviations. 0: it is not estimated. */
    uint64_t about_ns, about_error_ns;
} gpurt_model_times_t;

/* A kernel, or a graph that was launched whole. */
typedef struct gpurt_model_kernel {
    gpurt_model_times_t times;
    uint32_t registers, shared_bytes, grid[3], block[3]; /* of the last one */
    uint32_t kind;         /* GPURT_KIND_KERNEL or GPURT_KIND_GRAPH */
    uint32_t graph, nodes; /* of a graph: its number, and its nodes where they are known */
    uint32_t occupancy;    /* that the last one could reach, in 1/100 %; 0: not known */
    uint32_t pid;          /* of a graph: whose, where several processes have some */
    uint32_t samples;      /* warps that were met in a function of that name */
    char name[GPURT_MODEL_KERNEL_NAME];
} gpurt_model_kernel_t;

typedef struct gpurt_model_copy {
    uint64_t count, bytes;
    uint64_t timed_bytes, ns; /* of those that had times: their quotient is the bandwidth */
} gpurt_model_copy_t;

/* Calls of one name; or ranges, of which those without an end are among the untimed ones. */
typedef struct gpurt_model_host_row {
    gpurt_model_times_t times;
    uint64_t more; /* calls that failed; marks of that name */
    char name[GPURT_MODEL_KERNEL_NAME];
    char domain[GPURT_MODEL_DOMAIN]; /* of ranges */
} gpurt_model_host_row_t;

typedef struct gpurt_model_host_rows {
    uint64_t count; /* in use, without the last one: all others */
    gpurt_model_host_row_t list[GPURT_MODEL_HOST_ROWS + 1];
} gpurt_model_host_rows_t;

/* Memory that was taken; bytes, peak_bytes: of what is taken and was not given back, at last and
 * at most, in the order of the log. */
typedef struct gpurt_model_memory_sums {
    uint64_t takes, gives, bytes, peak_bytes;
} gpurt_model_memory_sums_t;

typedef struct gpurt_model_memory_row {
    gpurt_model_memory_sums_t sums;
    uint32_t gpu; /* GPURT_MODEL_DEVICES or more: the host's, or one that has no place */
    uint32_t pid; /* whose, where there are several processes */
    char kind[GPURT_MODEL_WORDS];
} gpurt_model_memory_row_t;

/* As it was when it was told of last; bytes, used: UINT64_MAX not known. */
typedef struct gpurt_model_pool {
    uint64_t address, bytes, used;
    uint32_t gpu, pid; /* likewise */
    char what[GPURT_MODEL_WORDS], kind[GPURT_MODEL_WORDS];
} gpurt_model_pool_t;

/* Records that could not be paired. */
typedef struct gpurt_model_memory_about {
    uint64_t gives_alone;    /* whose taking is not known */
    uint64_t gives_missed;   /* addresses taken again of which no give is known */
    uint64_t no_room;        /* takes that are in no sum of bytes */
    uint64_t pools_left_out; /* records of others, which have no row */
} gpurt_model_memory_about_t;

typedef struct gpurt_model_memory {
    uint64_t count, pool_count; /* rows in use; of `list` without the last: all others */
    gpurt_model_memory_row_t list[GPURT_MODEL_MEMORIES + 1];
    gpurt_model_pool_t pools[GPURT_MODEL_POOLS];
    gpurt_model_memory_about_t about;
} gpurt_model_memory_t;

/* What happens and takes time. */
typedef struct gpurt_model_span {
    uint64_t count, ns;
} gpurt_model_span_t;

/* What a GPU did with `ns`, the sum of the others (gaps.h). */
typedef struct gpurt_model_busy {
    uint64_t ns, kernels, copying, waiting, launching, idle;
} gpurt_model_busy_t;

/* Of samples that knew it: their number, and the sum in hundredths of a percent. */
typedef struct gpurt_model_measure {
    uint64_t count, sum;
} gpurt_model_measure_t;

/* One GPU, whatever the processes that use it call it: it stands where its number is where
 * that is free. `other_*`: the first process that has another number for it, which is the way
 * of those that were given a GPU each, and how many more there are. */
typedef struct gpurt_model_gpu {
    gpurt_model_busy_t busy, recent;
    uint64_t
        recent_ns; /* recent: of the second before; nothing that ended later is known */
    uint64_t environment_ns; /* when the figures below were true; 0: never */
    gpurt_activity_environment_t environment;
    uint32_t arch; /* 90 of compute capability 9.0; 0: not known */
    uint64_t samples;
    gpurt_model_measure_t measures[GPURT_SAMPLE_MEASURES];
    uint8_t uuid[16];                                          /* 0: not known */
    char name[GPURT_BOX_NAME];                                 /* empty: not known */
    uint32_t other_names, other_pid, other_number, unused_too; /* other_names: 0 none */
} gpurt_model_gpu_t;

/* The collector of a process, as it said last of itself: gpurt_activity_collector_t. */
typedef struct gpurt_model_collector {
    uint64_t records, bad, dropped, starved, unknown, samples_left_out;
    uint32_t pid;  /* 0: not known */
    uint32_t rank; /* GPLOG_COLLECTOR_*, of collected.h */
    char program[GPURT_BOX_NAME];
    char state[GPURT_MODEL_STATE];
} gpurt_model_collector_t;

/* A launch that has been there for long and has not ended, as far as that is known. */
typedef struct gpurt_model_running {
    uint64_t since_ns, told_ns; /* launched; when the collector said so last */
    uint64_t stream;            /* handle */
    uint32_t grid[3], block[3]; /* 0: of a graph */
    uint32_t gpu, pid, thread;  /* gpu: GPURT_MODEL_DEVICES or more: none has a place */
    uint32_t queued, place;     /* of its stream: how many there are, and which it is */
    uint32_t sampled;           /* warps were met in it just before */
    uint32_t whose, unused;     /* GPURT_PYTHON_*, of `python` */
    char name[GPURT_MODEL_KERNEL_NAME];
    char calls[GPURT_MODEL_FRAMES];  /* as the collector has them; "(not known)" */
    char python[GPURT_MODEL_FRAMES]; /* likewise */
} gpurt_model_running_t;

/* Kernels have records in windows of time alone: how it stands with the process that spoke last.
 * Shares are in millionths of its time. */
typedef struct gpurt_model_windows {
    uint64_t rows;   /* 0: all that is recorded is recorded all the time */
    uint64_t off_ns; /* in all, of all processes */
    uint32_t on;     /* it is a window now */
    uint32_t window_ms,
        pause_ms; /* window_ms 0: none is to come, for lack of room in the budget */
    uint32_t budget, cost, counting, slowdown;
    uint32_t unused;
} gpurt_model_windows_t;

/* Part 6: what GPUs did. */
typedef struct gpurt_model_activity {
    uint64_t rows; /* 0: nothing is known */
    gpurt_model_gpu_t gpus[GPURT_MODEL_DEVICES];
    uint64_t gpus_left_out; /* records of others, which have no place there */
    gpurt_model_copy_t copies[GPURT_COPY_KINDS]
                             [GPURT_MEMORY_KINDS]; /* as gpurt_copy_memory says */
    gpurt_model_copy_t fills;
    gpurt_model_copy_t
        managed[GPURT_MANAGED_KINDS]; /* by GPURT_MANAGED_*; faults one by one */
    gpurt_model_span_t waits, graphs, calls, overheads;
    uint64_t memory, pools, ranges, launches; /* records */
    /* Sums of all collectors, and the state of the one that spoke last. */
    uint64_t bad, dropped, starved, unknown, samples_left_out;
    char state[GPURT_MODEL_STATE];
    uint64_t programs; /* of the source: of several it must be said whose something is */
    uint64_t collector_count;     /* processes whose collector said something, */
    uint64_t collectors_troubled; /* and that were not plainly on */
    /* Those that lack most first, then by process; those behind the last have no row. */
    gpurt_model_collector_t collectors[GPURT_MODEL_COLLECTORS];
    uint64_t counted; /* launches that were counted as they were made, without records */
    gpurt_model_windows_t windows;
    uint64_t warp_samples; /* those that have no kernel's row, too */
    uint64_t kernel_count; /* rows of `kernels` in use, without the others */
    gpurt_model_kernel_t kernels[GPURT_MODEL_KERNEL_ROWS];
    gpurt_model_host_rows_t call_rows, range_rows;
    uint64_t range_ends_alone; /* their beginnings are not in the log */
    gpurt_model_memory_t memories;
    uint64_t running_count, running_left_out;
    gpurt_model_running_t
        running[GPURT_MODEL_RUNNING]; /* by process and stream, oldest first */
} gpurt_model_activity_t;

/* Of objects of one class: whether it is the same one. */
static inline bool gpurt_model_told_same(const gpurt_model_told_t *a,
                                         const gpurt_model_told_t *b)
{
    return a->id == b->id && a->device == b->device && a->program == b->program;
}

/* A name of a cell: a function, a file or a reason. */
typedef struct gpurt_model_warp_name {
    uint32_t id, unused;
    char text[GPURT_MODEL_LINE_NAME]; /* its beginning, where it is longer */
} gpurt_model_warp_name_t;

/* Calls that lines stand in. */
typedef struct gpurt_model_warp_calls {
    uint32_t id, unused;
    char text[GPURT_MODEL_CALLS_TEXT];
} gpurt_model_warp_calls_t;

/* Part 9: where warps were met, and why they stood there (linesums.h). */
typedef struct gpurt_model_warps {
    uint64_t rows; /* 0: nothing is known */
    uint64_t first_ns, last_ns;
    uint64_t left_out, left_out_idle; /* samples that have no cell: there was no room */
    uint32_t count, name_count, calls_count, unused;
    gpurt_linecell_t cells[GPURT_MODEL_LINE_CELLS];
    gpurt_model_warp_name_t names[GPURT_MODEL_LINE_NAMES];
    gpurt_model_warp_calls_t calls[GPURT_MODEL_LINE_CALLS];
} gpurt_model_warps_t;

/* All of it: a private copy of one process. About 3 MB. */
typedef struct gpurt_modelview {
    gpurt_model_numbers_t numbers;
    gpurt_model_names_t names;
    gpurt_model_panics_t panics;
    gpurt_model_lines_t lines[GPURT_CLASSES];
    gpurt_model_activity_t activity;
    gpurt_timeline_t timeline; /* part 7 */
    gpurt_model_objects_t objects;
    gpurt_model_warps_t warps;
} gpurt_modelview_t;

static inline uint32_t gpurt_model_class(uint32_t level)
{
    return level >= GPURT_LEVEL_ERROR  ? GPURT_CLASS_HIGH
           : level == GPURT_LEVEL_WARN ? GPURT_CLASS_WARN
                                       : GPURT_CLASS_LOW;
}

#endif
