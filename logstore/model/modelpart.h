/* SPDX-License-Identifier: Apache-2.0 */
/* modelpart.h - the inside of a model, shared by its files and by nobody else. It holds no
 * pointer into itself, so a copy of its bytes is a copy of it. */
#ifndef GPURT_MODELPART_H
#define GPURT_MODELPART_H

#include "gaps.h"
#include "linecells.h"
#include "model.h"
#include "modelopen.h"
#include "modeltimes.h"
#include "program.h"
#include "render.h"

enum {
    TICKS = 16, /* tenths of a second; a power of two, ten of them make a rate and
                              the others forgive rows that come late */
    RATE_TICKS = 10,
    KEEP_BYTES = 256 << 10, /* rows of a class: 1,024 of usual size, 168 of the longest */
    SITE_WORDS = 24,        /* arguments of one lane: 12 of 64 bits */
    SITE_HASH = 2048,
    SITE_OTHER = GPURT_MODEL_SITES,
    KERNEL_HASH_BITS = 10,
    HOST_HASH_BITS = 7,
    MEMORY_HASH_BITS = 6,
    MODEL_PROGRAMS = GPLOG_PROGRAM_OTHERS,
    MODEL_DEVICES = 128,  /* 16 processes that see 8 */
    MODEL_CONTEXTS = 256, /* a power of two; of two with one place the later is known */
    MODEL_SLEEPS = 64,
    MODEL_ACCOUNTS = 12, /* GPUs, and devices of which it is not known which one they are */
};
#define TICK_NS   100000000ull
#define SECOND_NS 1000000000ull

/* Counts by tenth of a second. `at` is the newest tick. */
typedef struct model_window {
    uint64_t at;
    uint32_t count[TICKS];
} model_window_t;

typedef struct model_sum {
    uint64_t count;
    model_window_t window;
} model_sum_t;

typedef struct model_section {
    model_sum_t messages, lost;
    uint64_t panics, sm_other;
    uint32_t sm_first, sm_shown;
} model_section_t;

typedef struct model_sm {
    model_sum_t messages;
    uint64_t last_ns, error_ns, second; /* second: of slots[1] */
    uint64_t slots[2]; /* warp slots that spoke: in the second before, in it */
    uint32_t errors;
} model_sm_t;

/* One lane's arguments of the last row are kept, not its text: texts are made when somebody
 * looks. */
typedef struct model_site {
    model_sum_t messages;
    uint64_t last_number; /* of the row kept in `last` */
    uint32_t id;
    gpurt_row_t last;
    uint32_t words[SITE_WORDS]; /* right behind `last` */
} model_site_t;
GPURT_STATIC_ASSERT(offsetof(model_site_t, words) ==
                        offsetof(model_site_t, last) + sizeof(gpurt_row_t),
                    "a row is followed by its words");

/* The last rows of a class. Places count bytes and run free; a row is whole in the ring as
 * long as the newest one ends at most KEEP_BYTES behind its start. */
typedef struct model_keep {
    uint64_t end;   /* place behind the newest row */
    uint64_t count; /* rows ever put */
    uint64_t place[GPURT_MODEL_LINES], number[GPURT_MODEL_LINES];
    uint8_t GPURT_ALIGN(8) bytes[KEEP_BYTES];
} model_keep_t;

typedef struct model_kernel {
    model_key_t id;   /* GPURT_KIND_KERNEL and the id of its name in the dictionary, or
                       GPURT_KIND_GRAPH and program << 32 | number */
    uint32_t device;  /* that the last one ran on, */
    uint32_t program; /* in this process */
    uint32_t grid[3], block[3], registers, shared_bytes; /* as in a row: copied at once */
    model_times_t times;
} model_kernel_t;

/* modelhost.c: calls of one name, ranges of one name and domain. */
typedef struct model_host_row {
    model_key_t id; /* of a call its name's, of a range domain << 32 | name */
    uint64_t more;  /* calls that failed; marks */
    model_times_t times;
} model_host_row_t;

typedef struct model_host_rows {
    uint32_t count; /* without the others, which come last */
    uint16_t hash[1 << HOST_HASH_BITS];
    model_host_row_t list[GPURT_MODEL_HOST_ROWS + 1];
} model_host_rows_t;

/* modelmemory.c: memory of one kind, device and process. */
typedef struct model_memory_row {
    model_key_t id; /* device << 32 | id of the kind's name; its kind is the process */
    gpurt_model_memory_sums_t sums;
} model_memory_row_t;

typedef struct model_pool {
    uint64_t address, bytes, used, time_ns;
    uint32_t device, program;
    uint32_t what, memory; /* ids */
    bool gone;
} model_pool_t;

typedef struct model_memory {
    uint32_t count, pool_count; /* count: without the others, which come last */
    uint16_t hash[1 << MEMORY_HASH_BITS];
    model_memory_row_t list[GPURT_MODEL_MEMORIES + 1];
    model_pool_t pools[GPURT_MODEL_POOLS];
    gpurt_model_memory_about_t about;
} model_memory_t;

/* modelgpu.c: a device as one process numbers it. Which of them are one GPU, and where that
 * stands, is found when somebody looks: a process may tell of a device before it says which
 * GPU it is. */
typedef struct model_device {
    uint8_t program, number;
    uint8_t ring;     /* + 1, of the timeline; 0: none */
    uint8_t account;  /* + 1, of what GPUs did with their time; 0: none */
    uint64_t records; /* of what is shown of it */
    gpurt_model_gpu_t sums;
    gpurt_activity_device_t limits; /* warp 0: not known */
} model_device_t;

typedef struct model_devices {
    uint32_t count, rings;
    uint64_t left_out; /* records of those that have no room */
    uint8_t of[MODEL_PROGRAMS][GPURT_MODEL_DEVICES]; /* index + 1, by program and number */
    model_device_t list[MODEL_DEVICES];
} model_devices_t;

/* Of a look: where each of the list stands, or GPURT_MODEL_DEVICES. */
typedef struct model_places {
    uint8_t of[MODEL_DEVICES];
    const model_device_t *known[GPURT_MODEL_DEVICES]; /* one that tells its limits */
} model_places_t;

/* What ran in a context of CUDA shows of which device it is. */
typedef struct model_context {
    uint32_t context, device;
    uint8_t program, account, unused[2]; /* account: + 1; 0: not known */
} model_context_t;

/* A wait for a context in which nothing that is known ran yet. */
typedef struct model_sleep {
    uint64_t start, end;
    uint32_t context, program;
} model_sleep_t;

/* modelbusy.c: what GPUs did with their time. */
typedef struct model_busy {
    uint32_t taken, sleep_count; /* taken: of gpus, as bits */
    model_sleep_t sleeps[MODEL_SLEEPS];
    model_context_t contexts[MODEL_CONTEXTS];
    gaps_t gpus[MODEL_ACCOUNTS];
} model_busy_t;

/* What the collector of a process says of itself: sums since it began. */
typedef struct model_collector {
    uint64_t time_ns; /* of its last record; 0: none */
    gpurt_activity_collector_t sums;
} model_collector_t;

/* modellines.c: rows of the kind LINE. */
typedef struct model_lines {
    uint64_t rows, first_ns, last_ns, left_out, left_out_idle;
    uint32_t count;
    uint32_t slots[2 * GPURT_MODEL_LINE_CELLS];
    gpurt_linecell_t cells[GPURT_MODEL_LINE_CELLS];
} model_lines_t;

/* modelrunning.c */
typedef struct model_launch {
    uint32_t program, device;
    gpurt_activity_running_t words;
} model_launch_t;

typedef struct model_running {
    uint64_t time_ns[GPLOG_PROGRAM_OTHERS + 1]; /* of the last that each process said */
    uint32_t left_out[GPLOG_PROGRAM_OTHERS + 1];
    uint32_t count;
    model_launch_t list[GPURT_MODEL_RUNNING];
} model_running_t;

/* modelactivity.c: what GPUs did. Sums stand in the shape of the view. */
typedef struct model_activity {
    const gpurt_dictionary_t *dictionary; /* the model's */
    model_devices_t devices;
    model_busy_t busy;
    gpurt_model_copy_t copies[GPURT_COPY_KINDS][GPURT_MEMORY_KINDS], fills;
    gpurt_model_copy_t managed[GPURT_MANAGED_KINDS];
    gpurt_model_span_t waits, graphs, calls, overheads;
    gpurt_timeline_t timeline;
    uint64_t rows, memory, pools, ranges, launches, counted;
    gpurt_model_windows_t windows;
    model_collector_t collectors[GPLOG_PROGRAM_OTHERS + 1];
    uint32_t kernel_count, graph_rows; /* graph_rows: of kernel_count */
    uint16_t kernel_hash[1 << KERNEL_HASH_BITS];
    model_kernel_t kernels[GPURT_MODEL_KERNEL_ROWS];
    model_host_rows_t call_rows, range_rows;
    uint64_t range_ends_alone; /* whose beginning is not known */
    model_memory_t memories;
    model_lines_t lines;
    model_running_t running;
    model_opens_t opens; /* of ranges and of memory */
} model_activity_t;

/* Owner: whoever created it. Single-threaded. */
struct gpurt_model {
    const gpurt_dictionary_t *dictionary;
    gplog_file_t about;
    bool of_box; /* all rows are of the process in `about`, and none is numbered */
    uint64_t rows, first_ns, last_ns, panic_count;
    model_sum_t messages, lost;
    model_sum_t levels[GPURT_MODEL_LEVELS];
    uint64_t losses[GPURT_MODEL_REASONS];
    model_section_t sections[GPURT_MODEL_SECTIONS];
    gpurt_model_second_t seconds[GPURT_MODEL_SECONDS];
    uint32_t site_count;
    uint16_t site_hash[SITE_HASH]; /* index + 1, 0 empty */
    model_site_t sites[GPURT_MODEL_SITES + 1];
    model_sm_t sms[GPURT_MODEL_SMS];
    gpurt_model_panics_t panics;
    model_keep_t keep[GPURT_CLASSES];
    model_activity_t activity;
    gpurt_model_objects_t objects; /* but for pids and texts, of which it has ids */
};

/* model.c: count in the RATE_TICKS whole ticks before the one of now_ns. */
uint32_t model_rate(const model_window_t *w, uint64_t now_ns);

/* model.c: whose a row is, or what is of a program; 0: not known. How many programs there
 * are. */
uint32_t model_pid(const gpurt_model_t *m, const gpurt_row_t *row);
uint32_t model_pid_of(const gpurt_model_t *m, uint32_t program);
uint32_t model_programs(const gpurt_model_t *m);

/* modelpanic.c */
void model_panic_read(const gpurt_dictionary_t *d, const gpurt_row_t *row,
                      gpurt_model_panic_t *out);

/* Rows on their way into a model: by `order`, or where that is NULL as they lie. */
typedef struct model_rows {
    const uint8_t *rows; /* where offsets count from, or the next one */
    const gpurt_timed_t *order;
    uint32_t left;
} model_rows_t;

static inline const gpurt_row_t *model_rows_next(model_rows_t *r)
{
    const uint8_t *row = r->rows;

    if (r->left == 0)
        return NULL;
    r->left--;
    if (r->order)
        return (const gpurt_row_t *)(row + r->order++->offset);
    r->rows += gpurt_row_bytes(((const gpurt_row_t *)row)->words);
    return (const gpurt_row_t *)row;
}

/* Rows of one site, place and tick, neighbours. */
typedef struct model_alike {
    const gpurt_row_t *first, *last;
    uint32_t count;
} model_alike_t;

/* modelactivity.c: a row of a kind of activity.h, some of it in the run until that ends; all
 * from alike->first on that are alike (the rest of *alike is set), which returns the row behind
 * them, NULL: there is none; and the view, which is changed when it returns true. */
void model_activity_put(model_activity_t *a, gpurt_timeline_run_t *run,
                        const gpurt_row_t *row);
const gpurt_row_t *model_activity_put_alike(model_activity_t *a, gpurt_timeline_run_t *run,
                                            model_alike_t *alike, model_rows_t *rows);
bool model_activity_view(const gpurt_model_t *m, gpurt_modelview_t *v);

/* modelhost.c: whether an id of the dictionary names that text; modelactivity.c: the beginning of
 * the text that one names, "(no name)". */
bool model_is_word(const model_activity_t *a, uint32_t id, const char *word);
void model_name(const gpurt_model_t *m, uint32_t id, char *to, size_t room);

/* modelhost.c: rows of the kinds CALL and RANGE. */
void model_call_put(model_activity_t *a, const gpurt_activity_call_t *call);
void model_range_put(model_activity_t *a, const gpurt_row_t *r,
                     const gpurt_activity_range_t *range);
void model_host_view(const gpurt_model_t *m, gpurt_model_activity_t *v);

/* modelmemory.c: rows of the kinds MEMORY and POOL. */
void model_memory_put(model_activity_t *a, const gpurt_row_t *r,
                      const gpurt_activity_memory_t *words);
void model_pool_put(model_activity_t *a, const gpurt_row_t *r,
                    const gpurt_activity_pool_t *words);
void model_memory_view(const gpurt_model_t *m, const model_places_t *places,
                       gpurt_model_activity_t *v);

/* modellines.c. view: whether it changed. */
void model_lines_put(model_lines_t *l, const gpurt_row_t *row);
bool model_lines_view(const gpurt_model_t *m, gpurt_model_warps_t *v);

/* modelrunning.c: rows of the kind RUNNING. */
void model_running_put(model_running_t *r, const gpurt_row_t *row,
                       const gpurt_activity_running_t *words);
void model_running_view(const gpurt_model_t *m, const model_places_t *places,
                        gpurt_model_activity_t *v);

/* modelcollector.c */
void model_collectors_view(const gpurt_model_t *m, gpurt_model_activity_t *v);

/* modelgpu.c: rows of the kinds SAMPLE, DEVICE and ENVIRONMENT; and where devices stand
 * among the GPUs of a view. device_of: NULL: there is no room for it, or who shares a number
 * with others has it. place_of: GPURT_MODEL_DEVICES or more: nowhere. */
model_device_t *model_device_of(model_devices_t *d, uint32_t program, uint32_t number);
bool model_has_uuid(const model_device_t *d);
void model_device_put(model_activity_t *a, const gpurt_row_t *row, const void *words);
void model_places_find(const model_devices_t *d, model_places_t *out);
uint32_t model_place_of(const model_devices_t *d, const model_places_t *p, uint32_t program,
                        uint32_t number);
/* NULL: not known. */
const gpurt_activity_device_t *model_limits_of(const model_devices_t *d,
                                               const model_places_t *p, uint32_t program,
                                               uint32_t number);
void model_gpus_view(const gpurt_model_t *m, const model_places_t *p,
                     gpurt_model_activity_t *v);
void model_timeline_view(const gpurt_model_t *m, const model_places_t *p,
                         gpurt_timeline_t *v);

/* modelbusy.c. find: which has its account; NULL: there is no room. */
gaps_t *model_busy_find(model_activity_t *a, uint32_t program, uint32_t device,
                        uint32_t context);
static inline uint32_t model_context_hash(uint32_t program, uint32_t context)
{
    return (context + program * 37u) & (MODEL_CONTEXTS - 1);
}
static inline gaps_t *model_busy_of(model_activity_t *a, uint32_t program, uint32_t device,
                                    uint32_t context)
{
    const model_context_t *place = &a->busy.contexts[model_context_hash(program, context)];

    if (place->account && place->context == context && place->device == device &&
        place->program == program)
        return &a->busy.gpus[place->account - 1];
    return model_busy_find(a, program, device, context);
}
void model_busy_span(model_activity_t *a, const gpurt_span_t *s);
/* Figures of a device: who tells them watches it. */
void model_busy_watched(model_activity_t *a, model_device_t *d, uint64_t time_ns);
/* Nothing of a process was recorded; on: from `end` on something is. */
void model_busy_off(model_activity_t *a, uint32_t program, uint64_t start, uint64_t end,
                    bool on);
/* A process tells of a device for the first time. */
void model_busy_begin(model_activity_t *a, model_device_t *d, uint64_t time_ns);
void model_busy_view(const model_activity_t *a, const model_places_t *p,
                     gpurt_model_activity_t *v, gpurt_timeline_t *timeline);

/* modelobject.c: objects of classes, and calls of traced heaps. */
void model_object_put(gpurt_model_objects_t *all, const gpurt_dictionary_t *d,
                      const gpurt_row_t *row);
void model_trace_put(gpurt_model_objects_t *all, const gpurt_row_t *row);
bool model_objects_view(const gpurt_model_t *m, gpurt_model_objects_t *v);

/* Copies a text that is not terminated; keeps its end where it is too long. */
void model_text_end(char *to, size_t room, const char *from, size_t bytes);
void model_text_begin(char *to, size_t room, const char *from, size_t bytes);

#endif
