/* SPDX-License-Identifier: Apache-2.0 */
/* activity.h - records about what a GPU did, made by host code: kernels, copies, waits,
 * and how the device fares. The collector writes them, the model adds them up.
 *
 * They are records like all others (record.h): form THREAD, word 3 is the device, the
 * time is that of the beginning. Behind the head lie the structs below, word by word as
 * the site's types say, so that a reader who knows nothing of a kind still prints it by its
 * format. Names are numbers of string definitions. Fields of the structs are frozen; a
 * struct may grow at its end, and a reader takes what an older file lacks as 0
 * (gpurt_activity_load). */
#ifndef GPURT_ACTIVITY_H
#define GPURT_ACTIVITY_H

#include <gpurt/impl/record.h>

/* A duration that nobody knows: the record came without usable times. */
#define GPURT_ACTIVITY_NO_TIME UINT64_MAX
/* In the place of a device: of a graph whose both ends ran on the host; what lies between them may
 * have run on any device, or nothing does. Older readers take it for a device without a place. */
#define GPURT_ACTIVITY_NO_DEVICE UINT32_MAX
/* A GPU that was idle for less waited for a launch: that takes 2 to 10 us, a driver lock a few
 * times that. */
#define GPURT_ACTIVITY_LAUNCH_NS 50000

/* 64-bit values of records, low word first. */
typedef struct gpurt_pair {
    uint32_t low, high;
} gpurt_pair_t;

typedef struct gpurt_activity_kernel {
    uint32_t name;
    gpurt_pair_t ns;
    uint32_t grid[3], block[3];
    uint32_t registers, shared_bytes; /* a lane's, and a block's */
    uint32_t stream, correlation;
    uint32_t context; /* numbers of streams are a context's own */
} gpurt_activity_kernel_t;

/* A kernel of a graph says which node it was: begins as any kernel. Its kind says who launched
 * the graph. */
typedef struct gpurt_activity_node {
    gpurt_activity_kernel_t kernel;
    uint32_t graph;
    gpurt_pair_t node;
} gpurt_activity_node_t;

/* Directions of copies; numbers are frozen. */
enum {
    GPURT_COPY_OTHER = 0,
    GPURT_COPY_TO_DEVICE = 1,
    GPURT_COPY_TO_HOST = 2,
    GPURT_COPY_ON_DEVICE = 3,
    GPURT_COPY_PEER = 4,
    GPURT_COPY_ON_HOST = 5,
    GPURT_COPY_KINDS = 6
};
/* Kinds of memory; numbers are frozen. */
enum {
    GPURT_MEMORY_UNKNOWN = 0,
    GPURT_MEMORY_PAGEABLE = 1,
    GPURT_MEMORY_PINNED = 2,
    GPURT_MEMORY_DEVICE = 3,
    GPURT_MEMORY_ARRAY = 4,
    GPURT_MEMORY_MANAGED = 5,
    GPURT_MEMORY_DEVICE_STATIC = 6,
    GPURT_MEMORY_MANAGED_STATIC = 7,
    GPURT_MEMORY_KINDS = 8
};
typedef struct gpurt_activity_copy {
    uint32_t name; /* of the direction, and what is known of its ends */
    gpurt_pair_t bytes, ns;
    uint32_t stream, correlation;
    uint32_t direction; /* GPURT_COPY_* */
    uint32_t context;
    uint32_t memory; /* GPURT_MEMORY_* that it left, and << 8 that it went to */
    uint32_t
        devices; /* GPURT_COPY_PEER: number + 1 of the one that it left, and << 16 of the
                         other; 0: not known */
} gpurt_activity_copy_t;

typedef struct gpurt_activity_fill {
    gpurt_pair_t bytes, ns;
    uint32_t value, stream, correlation, context;
} gpurt_activity_fill_t;

typedef struct gpurt_activity_wait {
    uint32_t name; /* what was waited for */
    gpurt_pair_t ns;
    uint32_t stream, correlation, context;
    uint32_t where; /* name: the device that the context is of, or that it is not known; the
                       record's device is 0 then */
} gpurt_activity_wait_t;

typedef struct gpurt_activity_memory {
    uint32_t name; /* taken or given back */
    gpurt_pair_t bytes, address;
    uint32_t memory; /* name of its kind */
} gpurt_activity_memory_t;

/* Bytes that are not known, as those of a pool of another process: UINT64_MAX. */
typedef struct gpurt_activity_pool {
    uint32_t name; /* what was done */
    gpurt_pair_t address, bytes, used;
    gpurt_pair_t keep;      /* a trim leaves so much */
    gpurt_pair_t threshold; /* more than so much that is free goes back; INT64_MAX: never */
    uint32_t memory;        /* name of its kind */
    uint32_t correlation;
} gpurt_activity_pool_t;

/* What happened to unified memory; numbers are frozen. */
enum {
    GPURT_MANAGED_OTHER = 0,
    GPURT_MANAGED_TO_DEVICE = 1,
    GPURT_MANAGED_TO_HOST = 2,
    GPURT_MANAGED_HOST_FAULT = 3,
    GPURT_MANAGED_DEVICE_FAULT = 4,
    GPURT_MANAGED_THRASHING = 5,  /* it goes to and fro */
    GPURT_MANAGED_THROTTLING = 6, /* one of those who want it waits */
    GPURT_MANAGED_REMOTE = 7,     /* mapped where it is, and not moved */
    GPURT_MANAGED_PEER = 8,       /* from device to device */
    GPURT_MANAGED_KINDS = 9
};
typedef struct gpurt_activity_managed {
    uint32_t name; /* of what */
    gpurt_pair_t ns;
    gpurt_pair_t bytes, address;
    uint32_t faults;
    uint32_t what;     /* GPURT_MANAGED_* */
    uint32_t from, to; /* processors, as CUPTI numbers them; where it says */
} gpurt_activity_managed_t;

typedef struct gpurt_activity_graph {
    uint32_t graph;
    gpurt_pair_t ns;
    uint32_t stream, correlation, context;
    uint32_t nodes; /* that it was made of, a graph in it as one; 0: not known */
} gpurt_activity_graph_t;

typedef struct gpurt_activity_device_graph {
    gpurt_activity_graph_t graph; /* no call of the host: 0 */
    uint32_t launcher;            /* the graph whose kernel launched it */
    uint32_t how;                 /* name: beside its launcher, after it */
} gpurt_activity_device_graph_t;

typedef struct gpurt_activity_range {
    uint32_t what, name, domain; /* what: begin, end, mark */
    uint32_t id;
    uint32_t thread;
} gpurt_activity_range_t;

typedef struct gpurt_activity_overhead {
    uint32_t name;
    gpurt_pair_t ns;
} gpurt_activity_overhead_t;

typedef struct gpurt_activity_call {
    uint32_t name;
    gpurt_pair_t ns;
    uint32_t result, thread, correlation;
} gpurt_activity_call_t;

/* Sums since the collector began. Those of 32 bits stay at UINT32_MAX, "at least", once they are
 * there. */
typedef struct gpurt_activity_collector {
    uint32_t state; /* a sentence */
    gpurt_pair_t records, bad, dropped;
    uint32_t starved; /* times that no buffer was free */
    uint32_t unknown; /* records left out: of kinds that nobody asked for */
    uint32_t samples; /* left out: they could not be read, or end before they begin */
} gpurt_activity_collector_t;

/* Hundredths of a percent of what the device can do, over the time from the record's on. */
enum {
    GPURT_SAMPLE_SM_ACTIVE = 0, /* time in which a multiprocessor had a warp, their mean */
    GPURT_SAMPLE_ISSUED = 1,    /* instructions */
    GPURT_SAMPLE_MEMORY = 2,    /* throughput of the device's memory */
    GPURT_SAMPLE_TENSOR = 3,
    GPURT_SAMPLE_WARPS = 4, /* places of warps that were taken */
    GPURT_SAMPLE_MEASURES = 5,
    GPURT_SAMPLE_UNKNOWN = -1
};
typedef struct gpurt_activity_sample {
    gpurt_pair_t ns;
    int32_t percent[GPURT_SAMPLE_MEASURES];
} gpurt_activity_sample_t;

/* How often a warp of the device was met at one instruction, and why it stood there, over the time
 * from the record's on. All records of one time together are all samples of it. */
typedef struct gpurt_activity_line {
    uint32_t function; /* name: a kernel, or one that it calls */
    uint32_t file;     /* name; "?": compiled without lines */
    uint32_t line;     /* 0: not known */
    uint32_t reason;   /* name, as CUPTI has it: "long_scoreboard" */
    gpurt_pair_t ns;
    uint32_t offset; /* of the instruction in the function */
    uint32_t samples;
    uint32_t idle; /* of them: the warp's scheduler issued nothing meanwhile */
    uint32_t
        calls; /* inlined ones that the line stands in, innermost first: "leaf < /src/app.cu:12
                     * outer < /src/app.cu:27", the last in `function`; without " < ": none, or
                     * why none are known */
} gpurt_activity_line_t;

/* Whose frames of Python are told with a launch; numbers are frozen. */
enum {
    GPURT_PYTHON_NONE = 0,
    GPURT_PYTHON_OWN = 1,   /* of the thread that launched, as it did */
    GPURT_PYTHON_WAITS = 2, /* that has none: of a thread that stood still meanwhile */
    GPURT_PYTHON_NOW = 3,   /* likewise, as the record was written and not at the launch */
    GPURT_PYTHON_WAITS_NOW = 4
};

/* A launch that has been there for long and has not ended, as far as that is known. Records of one
 * process and time together are what runs then: of each stream the oldest launches and the newest.
 * One with queued 0 says that nothing does. */
typedef struct gpurt_activity_running {
    uint32_t name; /* "graph 7" of a graph */
    uint32_t grid[3], block[3];
    gpurt_pair_t stream; /* handle */
    gpurt_pair_t age;    /* ns since the launch */
    uint32_t queued;     /* launches of its stream that have not ended */
    uint32_t place;      /* of them, from 0, the oldest, on */
    uint32_t correlation, thread;
    uint32_t calls;  /* as of a driver's launch; "(not known)" */
    uint32_t python; /* "/src/train.py:9 step < ...", innermost first; "(not known)" */
    uint32_t whose;  /* GPURT_PYTHON_*, of `python` */
} gpurt_activity_running_t;

/* How often a kernel was launched since its last record of this kind. */
typedef struct gpurt_activity_counted {
    uint32_t name; /* "(graphs)": of graphs */
    gpurt_pair_t launches;
    gpurt_pair_t
        recorded; /* so many of them, or of those before, have records of their own */
} gpurt_activity_counted_t;

/* Where kernels have records in windows of time alone: such a window begins or ends. Shares are in
 * millionths of the program's time. */
typedef struct gpurt_activity_window {
    gpurt_pair_t off;   /* ns until now, in which launches had no records */
    uint32_t on;        /* from now on they have */
    uint32_t window_ms; /* 0: none is to come, for lack of room in the budget */
    uint32_t pause_ms;  /* between two */
    uint32_t budget, cost;
    uint32_t counting; /* of the cost: to count launches, and to watch them */
    uint32_t slowdown; /* of the program, in a window */
} gpurt_activity_window_t;

typedef struct gpurt_activity_launch {
    uint32_t name, file, line;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    gpurt_pair_t stream;
    uint32_t number; /* launches of the process, from 1 on */
    uint32_t thread;
} gpurt_activity_launch_t;

/* Of a kernel, or of a graph: its shape is 0 then. */
typedef struct gpurt_activity_driver_launch {
    uint32_t name;  /* as the driver has it: mangled */
    uint32_t calls; /* "module+0xoffset < ...": where they return to, innermost first */
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* that the launch asks for, beyond the kernel's own */
    gpurt_pair_t stream;   /* handle */
    uint32_t correlation;  /* as of the record that tells of its end */
    uint32_t thread;
    uint32_t graph;
    uint32_t python, whose; /* as of what runs */
} gpurt_activity_driver_launch_t;

/* A device, and what each of its multiprocessors holds at most. */
typedef struct gpurt_activity_device {
    uint32_t major, minor; /* compute capability */
    uint32_t sms;          /* multiprocessors */
    uint32_t warp;         /* threads of a warp; 0: nothing is known */
    uint32_t threads, blocks, registers;
    uint32_t block_registers; /* of one block at most */
    uint32_t shared_bytes;    /* of all blocks, */
    uint32_t kept_bytes;      /* of which each costs so many more than it asks for */
    uint8_t uuid[16]; /* as the driver has it, of a part of a GPU its own; 0: not known */
    uint32_t name;    /* "NVIDIA H200"; 0: not known */
} gpurt_activity_device_t;

typedef struct gpurt_activity_environment {
    uint32_t gpu_percent, memory_percent;
    gpurt_pair_t memory_used, memory_total; /* bytes */
    uint32_t milliwatts, milliwatts_limit;
    uint32_t celsius;
    uint32_t sm_mhz, memory_mhz;
} gpurt_activity_environment_t;

GPURT_HD gpurt_pair_t gpurt_pair(uint64_t value)
{
    gpurt_pair_t pair = {(uint32_t)value, (uint32_t)(value >> 32)};

    return pair;
}
GPURT_HD uint64_t gpurt_pair_value(gpurt_pair_t pair)
{
    return pair.low | (uint64_t)pair.high << 32;
}

/* A sum in 32 bits. */
static inline uint32_t gpurt_at_least(uint64_t sum)
{
    return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

/* What decides how fast a copy between host and device is: the host's memory. UNKNOWN where
 * nobody said, and for copies of other directions. */
static inline uint32_t gpurt_copy_memory(const gpurt_activity_copy_t *copy)
{
    uint32_t memory = GPURT_MEMORY_UNKNOWN;

    if (copy->direction == GPURT_COPY_TO_DEVICE)
        memory = copy->memory & 0xff;
    else if (copy->direction == GPURT_COPY_TO_HOST)
        memory = copy->memory >> 8 & 0xff;
    if (memory == GPURT_MEMORY_MANAGED_STATIC)
        memory = GPURT_MEMORY_MANAGED;
    return memory == GPURT_MEMORY_PAGEABLE || memory == GPURT_MEMORY_PINNED ||
                   memory == GPURT_MEMORY_MANAGED
               ? memory
               : (uint32_t)GPURT_MEMORY_UNKNOWN;
}

/* What is written of a kind: the site that its records name. TEXT is a warning in words. */
typedef struct gpurt_activity_site {
    uint16_t kind;
    uint8_t level, words;
    uint8_t least; /* words of the oldest files; 0: as `words` */
    uint64_t types;
    const char *format;
} gpurt_activity_site_t;

enum {
    GPURT_ACTIVITY_SITES = 27, /* heaprow.h's among them */
    GPURT_ACTIVITY_WORDS = 18  /* of the longest of this file */
};
/* hostring.c */
extern const gpurt_activity_site_t gpurt_activity_sites[GPURT_ACTIVITY_SITES];

/* Room for any of the structs. */
typedef struct gpurt_activity_any {
    uint32_t words[GPURT_ACTIVITY_WORDS];
} gpurt_activity_any_t;

/* The struct of a record of `count` words: `words` itself, or a copy in *room that is filled
 * up with 0. Returns: NULL for a kind that is none of these, and for fewer words than any
 * version wrote. */
const void *gpurt_activity_load(uint32_t kind, const uint32_t *words, uint32_t count,
                                gpurt_activity_any_t *room);

#endif
