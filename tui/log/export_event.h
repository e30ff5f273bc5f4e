/* SPDX-License-Identifier: Apache-2.0 */
/* export_event.h - what an exported timeline is made of: tracks that lie in each other, and
 * events on them. The rows' side is export_timeline.c; the formats' side is a class of
 * writers, one a file. */
#ifndef GPURT_TUI_EXPORT_EVENT_H
#define GPURT_TUI_EXPORT_EVENT_H

#include "export_program.h"
#include "filter_run.h"
#include "reader.h"

#include <gpurt/impl/activity.h>
#include <gpurt/impl/objectclass.h>
#include <stdio.h>

/* Kinds of tracks, in the order in which a parent shows its children.
 *
 * A process numbers its devices for itself, and rows say no more of them: in a log of several
 * each process has its own, and on these also the counters of the driver (NVML), which it saw
 * under that number. One device that two of them use is told of twice. */
enum {
    EXPORT_OTHERS = 0, /* what found no room in the table of tracks */
    EXPORT_PROCESS,
    EXPORT_THREAD, /* a: its number */
    EXPORT_RANGES, /* a: of that thread */
    EXPORT_WAITS,
    EXPORT_OVERHEAD,
    EXPORT_GRAPHS,  /* of which nobody knows the device */
    EXPORT_DEVICE,  /* and those below it; device: | EXPORT_CPU of the CPU back end's */
    EXPORT_COUNTER, /* a: EXPORT_COUNT_* */
    EXPORT_OBJECT,  /* a counter too: of b, an object; a: its class's site and its field */
    EXPORT_IDLE,    /* when no kernel runs, and why */
    EXPORT_MANAGED, /* unified memory */
    EXPORT_STREAM,  /* a: context, b: stream */
    EXPORT_SM,      /* a: its number */
    EXPORT_WARP     /* a: SM, b: slot */
};
enum {
    EXPORT_CPU = 1 << 16 /* a CPU device and a GPU may have one number */
};

enum {
    EXPORT_COUNT_SM_CLOCK = 0,
    EXPORT_COUNT_MEMORY_CLOCK,
    EXPORT_COUNT_POWER,
    EXPORT_COUNT_TEMPERATURE,
    EXPORT_COUNT_GPU_USE,
    EXPORT_COUNT_MEMORY_USE,
    EXPORT_COUNT_MEMORY,
    EXPORT_COUNT_BUSY,
    EXPORT_COUNT_SAMPLE, /* and the other measures of samples behind it */
    EXPORT_COUNTS = EXPORT_COUNT_SAMPLE + GPURT_SAMPLE_MEASURES
};
typedef struct export_count_name {
    const char *name, *unit;
} export_count_name_t;
extern const export_count_name_t export_counts[EXPORT_COUNTS];

enum {
    EXPORT_FIELD_BITS = 6 /* of a number of a site and a field */
};
GPURT_STATIC_ASSERT(GPURT_CLASS_FIELDS <= 1 << EXPORT_FIELD_BITS, "a field fits");
enum {
    EXPORT_COUNTER_NAME = 2 * GPURT_CLASS_NAME + 16
};

enum {
    EXPORT_DEPTH = 8 /* slices open inside each other */
};
typedef struct export_key {
    uint16_t kind, program; /* of program.h: whose the numbers are */
    uint32_t device, lane;
    uint32_t a, b;
} export_key_t;

/* Owner: the table of tracks (export_tracks.h). */
typedef struct export_track {
    export_key_t key;
    uint32_t number;             /* from 1 on */
    uint32_t parent;             /* number; 0: none */
    uint32_t depth;              /* of `ends` in use */
    uint64_t ends[EXPORT_DEPTH]; /* of the slices that are open, outermost first */
} export_track_t;

/* What an event is filed under. */
enum {
    EXPORT_IN_KERNEL = 0,
    EXPORT_IN_COPY,
    EXPORT_IN_FILL,
    EXPORT_IN_GRAPH,
    EXPORT_IN_WAIT,
    EXPORT_IN_CALL,
    EXPORT_IN_OVERHEAD,
    EXPORT_IN_RANGE,
    EXPORT_IN_LAUNCH,
    EXPORT_IN_MEMORY,
    EXPORT_IN_LOG,
    EXPORT_IN_PANIC,
    EXPORT_IN_LOSS,
    EXPORT_IN_IDLE,
    EXPORT_IN_TASK,
    EXPORT_IN_READY, /* a task became ready */
    EXPORT_INS
};
extern const char *const export_in_names[EXPORT_INS];

enum {
    EXPORT_ARG_GRID = 0,
    EXPORT_ARG_BLOCK,
    EXPORT_ARG_REGISTERS,
    EXPORT_ARG_SHARED,
    EXPORT_ARG_BYTES,
    EXPORT_ARG_CALL,
    EXPORT_ARG_GRAPH,
    EXPORT_ARG_NODE,
    EXPORT_ARG_LEVEL,
    EXPORT_ARG_FILE,
    EXPORT_ARG_LINE,
    EXPORT_ARG_WARP,
    EXPORT_ARG_LANES,
    EXPORT_ARG_DOMAIN,
    EXPORT_ARG_NUMBER,
    EXPORT_ARG_ADDRESS,
    EXPORT_ARG_LAUNCHED,
    EXPORT_ARG_FROM,
    EXPORT_ARG_OCCUPANCY,
    EXPORT_ARG_TASK,
    EXPORT_ARG_MADE_READY,
    EXPORT_ARG_READY_NS,
    EXPORT_ARG_PRIORITY,
    EXPORT_ARG_STATUS,
    EXPORT_ARG_BODIES,
    EXPORT_ARG_STANDS,
    EXPORT_ARG_NAMES
};
extern const char *const export_arg_names[EXPORT_ARG_NAMES];

enum {
    EXPORT_AS_NUMBER = 0,
    EXPORT_AS_DIMS,   /* value: x; y and z */
    EXPORT_AS_STRING, /* value: number in the dictionary */
    EXPORT_AS_TEXT,   /* text, of `bytes` bytes, until the event is written */
    EXPORT_AS_ADDRESS
};
typedef struct export_arg {
    uint8_t key, as;
    uint32_t y, z;
    uint64_t value;
    const char *text;
    size_t bytes;
} export_arg_t;

enum {
    EXPORT_ARGS = 9
};
enum {
    EXPORT_SLICE = 0, /* from time_ns on, ns long */
    EXPORT_OPEN,      /* a slice whose end is not known, or comes as CLOSE */
    EXPORT_CLOSE,     /* ends the last one that is open */
    EXPORT_INSTANT
};
typedef struct export_event {
    uint8_t type, in; /* in: EXPORT_IN_* */
    uint8_t arg_count;
    bool flows;    /* flow is one */
    uint64_t flow; /* a number that cause and effects share, and no other process has */
    export_track_t *track;
    uint64_t time_ns, ns;
    uint32_t name;    /* in the dictionary; 0: text */
    const char *text; /* not terminated; static, or until the event is written */
    size_t text_bytes;
    export_arg_t args[EXPORT_ARGS];
} export_event_t;

/* What a writer knows. Owner: the export. */
typedef struct export_out {
    filter_run_t *run; /* which messages; NULL: all */
    FILE *file;
    const gpurt_dictionary_t *dictionary;
    gpurt_log_summary_t sum;
    export_programs_t programs;
    const export_track_t *tracks;                     /* by number - 1 */
    uint32_t models[EXPORT_PROGRAMS][EXPORT_DEVICES]; /* strings: what devices are called */
    void *own; /* of the writer; allocated in begin, freed in end */
} export_out_t;

/* A format. Nothing fails but the file, which the caller asks (ferror). */
typedef struct export_writer {
    bool (*begin)(export_out_t *o);                          /* false: no memory */
    void (*track)(export_out_t *o, const export_track_t *t); /* before its first event */
    void (*event)(export_out_t *o, const export_event_t *e);
    void (*counter)(export_out_t *o, const export_track_t *t, uint64_t time_ns,
                    double value);
    void (*end)(export_out_t *o);
    /* Slices that begin in one moment may come in any order: its readers put the longer ones
     * first, and before them none that is opened and closed. */
    bool longest_first;
} export_writer_t;

extern const export_writer_t export_perfetto, export_chrome;

/* Of a track that is a counter, false for others: "SM clock", "arena source 3: bytes"; its unit,
 * "count" where it has none. */
bool export_counter_name(const export_out_t *o, const export_key_t *k,
                         char name[EXPORT_COUNTER_NAME], char unit[GPURT_CLASS_NAME]);

/* "stream 7", "SM 3": what a track is called. */
const char *export_track_name(const export_out_t *o, const export_track_t *t,
                              char room[64 + GPURT_BOX_NAME]);

/* The text of a string definition, safe to show: UTF-8 without control characters. room: at
 * least 8 bytes. */
size_t export_string(const export_out_t *o, uint32_t id, char *room, size_t size);
/* The same of any bytes. */
size_t export_safe(const char *bytes, size_t count, char *room, size_t size);
/* As export_string, of an event's name. */
size_t export_name(const export_out_t *o, const export_event_t *e, char *room, size_t size);
/* Of an argument that is not a number. */
size_t export_arg_text(const export_out_t *o, const export_arg_t *a, char *room,
                       size_t size);

#endif
