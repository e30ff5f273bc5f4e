/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt.h - the host API: open the runtime, move memory, launch kernels, wait.
 *
 * The same calls run on a GPU (CUDA back end) and on the CPU (SIMT back end). A process may have
 * GPURT_MAX_DEVICES devices open at once; each has its own gpurt_t. Every call may be made from
 * any thread. A call on a closed runtime, or with a handle that was released, returns a status
 * and touches nothing.
 * In a forked child all that was made before the fork is the parent's: calls with it return
 * GPURT_E_FORKED and touch nothing, gpurt_close gives back the child's memory, and gpurt_open opens
 * anew, with a log of the child's own. CUDA serves no child of a process that has used it: there
 * gpurt_open returns GPURT_E_FORKED, unless the CPU back end is asked for. Fork before gpurt_open.
 * The library never exits or aborts, and prints two things only, each as one line on standard
 * error: that a kernel panicked (docs/PANICS.md), and that the environment asks for something
 * that cannot be done, such as a log in a folder that is not there. Cold calls take an optional
 * gpurt_error_t last. */
#ifndef GPURT_GPURT_H
#define GPURT_GPURT_H

#include <gpurt/base.h>
#include <gpurt/kernel.h>
#include <gpurt/status.h>

typedef struct gpurt gpurt_t;

/* Handles carry a generation: one that was released is recognised, not followed. At most 4,096
 * streams and events exist at a time. Releasing handle 0 or NULL memory does nothing. */
typedef uint64_t gpurt_stream_t;
typedef uint64_t gpurt_event_t;
#define GPURT_STREAM_DEFAULT ((gpurt_stream_t)0)

typedef enum gpurt_backend {
    GPURT_BACKEND_AUTO = 0, /* a usable GPU if there is one, otherwise the CPU */
    GPURT_BACKEND_CUDA = 1,
    GPURT_BACKEND_CPU = 2
} gpurt_backend_t;

typedef enum gpurt_schedule {
    GPURT_SCHEDULE_DEFAULT = 0, /* in order, all workers: fast */
    GPURT_SCHEDULE_RANDOM = 1,  /* seeded: at each point switch with chance rate / 256 */
    GPURT_SCHEDULE_PCT = 2 /* seeded: random priorities with `depth` - 1 change points */
} gpurt_schedule_t;

/* How the CPU back end runs lanes. Zero means the default everywhere. The environment wins
 * (docs/ENVIRONMENT.md lists it), so that gpurt-check can drive a program it did not build. */
typedef struct gpurt_cpu_options {
    uint32_t workers; /* OS threads; default one a core, one under a seeded schedule */
    uint32_t
        max_resident; /* blocks of a launch resident at once: the occupancy to test for */
    uint32_t stack_bytes; /* of a lane; default 64 KiB, 256 KiB under AddressSanitizer */
    uint32_t schedule;    /* gpurt_schedule_t */
    uint64_t seed;
    uint32_t rate;  /* RANDOM: 1..256; default by seed, one of 2, 16, 64, 128 */
    uint32_t depth; /* PCT: default 3 */
    uint64_t
        spin_limit; /* idle rounds (every lane spins) until livelock is reported; default
                              20,000 under a seeded schedule, else spin_limit_ms decides */
    uint32_t
        spin_limit_ms; /* ... and 2,500 rounds; default 10,000; UINT32_MAX: wait for ever */
    bool strict;       /* report legal but suspicious synchronisation */
    bool check_scope;  /* report atomics whose scope is narrower than their use */
} gpurt_cpu_options_t;

/* What is logged, and where. The environment wins: GPURT_OFF, GPURT_LOG, GPURT_LEVEL,
 * GPURT_RING_BYTES, GPURT_POLICY. Under gpurt-top and gpurt-record the file is theirs. Texts are
 * read by gpurt_open only. */
typedef struct gpurt_log_options {
    const char *file;   /* NULL: no log, unless the environment or a monitor asks for it */
    const char *level;  /* as in GPURT_LEVEL; NULL: info */
    const char *policy; /* when a ring is full: "drop" (NULL; the newest message),
                           "overwrite" (the oldest), "block" (wait for the drainer) */
    uint32_t
        ring_bytes; /* of each warp slot's ring; 0: 16 KiB on a GPU, 4 KiB on the CPU */
} gpurt_log_options_t;

/* What is said of panics of kernels without a guard. The environment wins:
 * GPURT_PANICS=tell|quiet|off. */
typedef enum gpurt_panics {
    GPURT_PANICS_TELL =
        0, /* a line on standard error, and GPURT_E_PANIC of the next wait */
    GPURT_PANICS_QUIET = 1, /* GPURT_E_PANIC alone */
    GPURT_PANICS_OFF = 2    /* neither; only a log has them */
} gpurt_panics_t;

typedef struct gpurt_options {
    uint32_t struct_size;    /* sizeof(gpurt_options_t), or 0: lets the library grow it */
    gpurt_backend_t backend; /* GPURT_BACKEND=auto|cuda|cpu in the environment wins */
    int32_t device;          /* GPU number; on the CPU any, each a device of its own */
    gpurt_cpu_options_t cpu;
    gpurt_log_options_t log;
    uint32_t panics; /* gpurt_panics_t */
} gpurt_options_t;

/* What was opened, and the limits launches are checked against. */
typedef struct gpurt_info {
    gpurt_backend_t backend; /* CUDA or CPU */
    int32_t device;
    char name[96];                         /* device name */
    char why[256];                         /* one line: why this back end */
    uint32_t sm_count;                     /* multiprocessors; worker threads on the CPU */
    uint32_t warp_slots;                   /* resident warps one of them can hold */
    uint32_t compute_major, compute_minor; /* 0.0 on the CPU */
    uint32_t driver_version, runtime_version; /* as CUDA counts them; 0 on the CPU */
    uint32_t max_block_threads;
    gpurt_dim3_t max_block, max_grid;
    uint32_t max_cluster;  /* blocks a cluster; 1 where there are none */
    uint64_t max_shared;   /* bytes a block, static and dynamic together */
    uint64_t memory_bytes; /* of the device */
} gpurt_info_t;

typedef struct gpurt_launch {
    gpurt_dim3_t grid, block; /* y and z: 0 means 1 */
    gpurt_dim3_t cluster;     /* 0 or 1: no clusters; must divide the grid */
    uint32_t shared_bytes;    /* dynamic shared memory */
    bool cooperative;         /* all blocks resident at once: allows gpurt_grid_barrier */
    gpurt_stream_t stream;
} gpurt_launch_t;

/* What the executor did since gpurt_open. The CUDA back end counts launches only. */
typedef struct gpurt_counters {
    uint64_t launches;
    uint64_t switches;    /* from lane to lane */
    uint64_t preemptions; /* of them forced by a seeded schedule */
    uint64_t rendezvous;  /* completed warp operations */
    uint64_t hash;        /* of the whole schedule: equal when a seed replays */
} gpurt_counters_t;

GPURT_BEGIN_DECLS

uint32_t gpurt_version(void); /* GPURT_VERSION of the library */

/* Whether the library has a feature. Words: see docs/DIALECT.md. */
bool gpurt_has(const char *feature);

/* options: NULL for defaults. A process may have GPURT_MAX_DEVICES open at once, each once: what
 * one created is used with its pointer. Order: happens before everything the runtime does. */
gpurt_status_t gpurt_open(const gpurt_options_t *options, gpurt_t **out,
                          gpurt_error_t *err);

/* Stops services, refuses new calls, waits for those in flight and for all work, then releases
 * everything but memory, which is to be destroyed before. GPURT_E_TIMEOUT: a service, which the
 * error names, runs on, so the runtime stays open.
 * Returns: the first failure of work that nobody had asked about yet; gpurt_sync before it if
 * the full report is wanted. GPURT_OK of one that was opened before this process was forked:
 * nothing is waited for, and the parent's stays open. */
gpurt_status_t gpurt_close(gpurt_t *rt, gpurt_error_t *err);

gpurt_status_t gpurt_info(gpurt_t *rt, gpurt_info_t *out);
gpurt_status_t gpurt_counters(gpurt_t *rt, gpurt_counters_t *out);

/* ---- memory: device memory, and host memory the device can reach ------------------------- */
/* Not initialised. 0 bytes: GPURT_OK and NULL. Work that uses it has ended before it is
 * destroyed (gpurt_stream_sync): CUDA waits for what is queued, the CPU back end does not. While
 * a service runs on a GPU, what is destroyed comes back when the last one has ended. */
gpurt_status_t gpurt_mem_create(gpurt_t *rt, size_t bytes, void **out, gpurt_error_t *err);
gpurt_status_t gpurt_mem_destroy(gpurt_t *rt, void *memory);
gpurt_status_t gpurt_host_create(gpurt_t *rt, size_t bytes, void **out, gpurt_error_t *err);
gpurt_status_t gpurt_host_destroy(gpurt_t *rt, void *memory);

/* Any direction, ordered with the stream's other work. Host memory must stay until the stream
 * has passed it; on a GPU a copy to or from memory that gpurt_host_create did not make may
 * wait for the stream. 0 bytes are fine. */
gpurt_status_t gpurt_copy(gpurt_t *rt, gpurt_stream_t stream, void *to, const void *from,
                          size_t bytes, gpurt_error_t *err);
gpurt_status_t gpurt_fill(gpurt_t *rt, gpurt_stream_t stream, void *memory, uint8_t byte,
                          size_t bytes, gpurt_error_t *err);

/* ---- launches ------------------------------------------------------------------------------ */
/* Checks everything it can before anything runs; returns without waiting for the kernel.
 * args is copied. Prefer gpurt_launch below, which also checks the type of args. */
gpurt_status_t gpurt_launch_kernel(gpurt_t *rt, const gpurt_launch_t *launch,
                                   const gpurt_kernel_t *kernel, const void *args,
                                   size_t args_bytes, gpurt_error_t *err);

/* Where this thread's next launch stands in the source, for the log; gpurt_launch says it. */
void gpurt_launch_from(const char *file, uint32_t line);

/* Blocks of the kernel that can be resident on the device at once. launch->grid is not looked
 * at. */
gpurt_status_t gpurt_occupancy(gpurt_t *rt, const gpurt_launch_t *launch,
                               const gpurt_kernel_t *kernel, uint32_t *blocks,
                               gpurt_error_t *err);

/* ---- streams, events ------------------------------------------------------------------------ */
gpurt_status_t gpurt_stream_create(gpurt_t *rt, gpurt_stream_t *out, gpurt_error_t *err);
/* Its work is done all the same; the CPU back end waits for it here, a GPU does not. */
gpurt_status_t gpurt_stream_destroy(gpurt_t *rt, gpurt_stream_t stream);
/* Waits. Returns: the first failure of the stream's work since the last wait, with its report;
 * GPURT_E_PANIC when a kernel panicked: its blocks that panicked ended early, all else goes on.
 * A GPU does not say whose launch it was, so a stream with launches of that time is told, too. */
gpurt_status_t gpurt_stream_sync(gpurt_t *rt, gpurt_stream_t stream, gpurt_error_t *err);
/* Returns: GPURT_OK when all is done, GPURT_E_NOT_READY when not, or that failure. */
gpurt_status_t gpurt_stream_query(gpurt_t *rt, gpurt_stream_t stream, gpurt_error_t *err);
/* All streams; not services (services.h). */
gpurt_status_t gpurt_sync(gpurt_t *rt, gpurt_error_t *err);

gpurt_status_t gpurt_event_create(gpurt_t *rt, gpurt_event_t *out, gpurt_error_t *err);
gpurt_status_t gpurt_event_destroy(gpurt_t *rt, gpurt_event_t event);
gpurt_status_t gpurt_event_record(gpurt_t *rt, gpurt_event_t event, gpurt_stream_t stream);
/* Work put into the stream later waits for the event's last record; without one, for nothing. */
gpurt_status_t gpurt_event_wait(gpurt_t *rt, gpurt_event_t event, gpurt_stream_t stream);
gpurt_status_t gpurt_event_sync(gpurt_t *rt, gpurt_event_t event, gpurt_error_t *err);
gpurt_status_t gpurt_event_query(gpurt_t *rt, gpurt_event_t event, gpurt_error_t *err);
gpurt_status_t gpurt_event_elapsed_ns(gpurt_t *rt, gpurt_event_t from, gpurt_event_t to,
                                      uint64_t *ns, gpurt_error_t *err);

/* The full report of the last kernel that failed (deadlock, fault, ...), several lines of text;
 * "" when none did. Copies at most bytes - 1 characters. Returns: the length it would need. */
size_t gpurt_report(gpurt_t *rt, char *text, size_t bytes);

GPURT_END_DECLS

/* CUDA C++ that uses the host API wants the CUDA back end: without this reference a linker
 * would leave it in its archive. */
#if GPURT_ON_CUDA && !GPURT_IN_DEVICE
extern "C" const struct gpurt_backend_ops gpurt_backend_cuda;
__attribute__((used)) static const void *const gpurt_wants_cuda_ = &gpurt_backend_cuda;
#endif

/* gpurt_launch(rt, &launch, kernel, &args, err): kernel is the name given to GPURT_KERNEL. */
#define gpurt_launch(rt, launch, kernel, args, err)                                        \
    (gpurt_launch_from(__FILE__, __LINE__),                                                \
     gpurt_launch_kernel(rt, launch, &gpurt_kernel_##kernel,                               \
                         (1 ? (args) : (const gpurt_args_of_##kernel *)0), sizeof *(args), \
                         err))

#endif
