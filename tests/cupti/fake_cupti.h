/* SPDX-License-Identifier: Apache-2.0 */
/* fake_cupti.h - a stand-in for libcupti: the entry points that the collector uses, and
 * these by which a test makes things happen. FAKE_CUPTI in the environment: "clash" (somebody
 * else subscribed), "old" (another version), "refuse" (no records of overhead), "hang" (a
 * flush never comes back), "slow" (the first one takes five seconds), "nameless" (CUPTI knows no names of subscribers), "unmanaged" (no counters of unified memory), "half" (but one of them), "early" (they are refused
 * until the driver is there, and then until it is ready), "never" (it is not ready to the end), "begun" (it is too late to ask for graphs of kernels), "stands" (to turn off kernels' records never comes back), "stays" (it is refused), "late" (it takes long to be had). Threads may use it at once. */
#ifndef GPURT_TESTS_FAKE_CUPTI_H
#define GPURT_TESTS_FAKE_CUPTI_H

#include <cupti.h>

/* Where a kernel ran, and its shape; 0: one that all have. */
typedef struct fake_where {
    uint32_t device, context, stream, graph;
    uint32_t call; /* the launch's number; 0: the next one */
    uint64_t node;
    int32_t grid, block;
    uint16_t registers;
    int32_t shared;
    uint8_t by_device;
} fake_where_t;

/* A graph, and what the program instantiated of it: both handles are its address. */
typedef struct fake_graph {
    uint32_t id;    /* of what was instantiated */
    uint32_t nodes; /* kernels, one behind another */
    int on_host;    /* before them a call of the host: one more node */
    int host_ends;  /* behind them, too, as where there is nothing else */
    int by_device;  /* kernels may launch it */
} fake_graph_t;

/* An instruction at which warps stand while a kernel runs. */
typedef struct fake_line {
    const char *function;
    uint64_t cubin, offset;
    uint32_t reason; /* of fake_pcsampling.c, by its place */
    uint32_t weight; /* samples of each look, in hundreds */
} fake_line_t;
enum {
    FAKE_PC_ARMS,
    FAKE_PC_DISARMS,
    FAKE_PC_LOOKS
};

/* Found by dlsym in the library that GPURT_CUPTI_LIBRARY names. */
typedef struct fake_cupti {
    /* One record into buffer `lane`. It is dropped, and counted, when no buffer is
     * given. */
    void (*kernel)(int lane, const char *name, uint64_t start, uint64_t end);
    void (*kernel_of)(int lane, const fake_where_t *where, const char *name, uint64_t start,
                      uint64_t end);
    void (*copy)(int lane, uint8_t kind, uint64_t bytes, uint64_t start, uint64_t end);
    void (*put)(int lane, const void *record); /* a whole one, by its kind */
    void (*fill)(int lane, uint64_t bytes, uint64_t start, uint64_t end);
    void (*wait)(int lane, CUpti_ActivitySynchronizationType type, uint64_t start,
                 uint64_t end);
    /* It is instantiated: callbacks come as CUPTI's do. */
    void (*graph_made)(fake_graph_t *graph);
    /* One launch on stream 7, its kernels at ns each: one record of it, or one of each node. */
    void (*graph_run)(int lane, const fake_graph_t *graph, uint64_t start, uint64_t ns);
    /* The program calls the driver's `id` with these parameters: callbacks come, if anybody
     * asked, and what it launches ends at once, on device 1; ends 2: it failed, and nobody knows when;
     * 3: the call is refused, and launches nothing. Returns: the call's number. */
    uint32_t (*launch)(uint32_t id, const void *params, const char *name, int ends);
    /* It calls this with a context, and is inside for so long. */
    void (*call)(uint32_t id, uint32_t context, uint32_t ms);
    int (*told_of)(void); /* calls of the driver that somebody asked for */
    /* Who registered for buffers first has them again. */
    void (*give_back)(void);
    void (*poll)(int lane, uint64_t start); /* a look at an event that has not come */
    void (*other)(int lane); /* one of each other kind, and one of a kind nobody asks for */
    /* The lane's last kernel has not ended: a plain flush leaves the buffer. */
    void (*hold)(int lane, int on);
    void (*done)(int lane);  /* the buffer comes back now */
    void (*patient)(int on); /* as slow as the reader: waits for buffers, drops nothing */
    /* Takes every buffer, fills it, gives it back as empty. Returns: how many KiB were to be had. */
    int (*use_all)(void);
    uint64_t (*taken)(void); /* buffers out */
    uint64_t (*kinds)(void); /* that are enabled, a bit each */
    uint64_t (*dropped_sum)(void);
    uint64_t (*time)(void); /* by the source that was registered */
    int (*times_registered)(void);
    int (*kinds_before_time)(void); /* kinds enabled before it was */
    int (*forced)(void);            /* forced flushes so far */
    /* A context of device (number - 1) % 16 begins, or ends. */
    void (*context)(uint32_t number, int begins);
    void (*module)(uint32_t context, const void *cubin, size_t bytes); /* is loaded */
    /* From now on these run, in a context; none: nothing does. Borrowed. */
    void (*lines)(uint32_t context, const fake_line_t *lines, uint32_t count);
    int (*pc_count)(int what); /* FAKE_PC_*: so often */
} fake_cupti_t;

extern const fake_cupti_t fake_cupti;

enum {
    FAKE_LANES = 320
};

#endif
