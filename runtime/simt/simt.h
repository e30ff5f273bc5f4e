/* SPDX-License-Identifier: Apache-2.0 */
/* simt.h - the data structures of the CPU back end.
 *
 * A device has workers (OS threads, its "multiprocessors"). A worker holds resident blocks; a
 * block has warps of 32 lanes; a lane that has begun and not ended owns a fiber. Blocks and
 * fibers never leave their worker, so nothing below the worker needs a lock or an atomic, and
 * thread-local storage stays valid inside a lane.
 *
 * Two contexts: a worker's *main fiber* starts and ends blocks, allocates, takes locks and
 * writes reports; *lanes* switch straight to one another and come back to main only when one of
 * these is due. In a lane no libc call is allowed: the race detector would charge it to the
 * lane's program.
 *
 *   device --< stream --< op (launch, copy, ...)      under device->mutex
 *   device --< worker --< block --< warp --< lane     private to the worker
 *   launch: one grid; its blocks are spread over the workers; shared words start with x */
#ifndef GPURT_SIMT_SIMT_H
#define GPURT_SIMT_SIMT_H

#include <gpurt/gpurt.h>
#include <gpurt/impl/dialect_simt.h>

#include <pthread.h>
#include <stdio.h>

#include "fiber.h"

enum {
    SIMT_MAX_WORKERS = 64,
    SIMT_TRACE_FRAMES = 24,
    SIMT_SHARED_OBJECTS = 64,
    SIMT_STATIC_SHARED = 48 * 1024, /* as on a GPU */
    SIMT_MAX_SHARED = 227 * 1024,   /* static and dynamic together, as on an H200 */
    SIMT_SHARED_POISON = 0xa5,
    SIMT_BLOCKS_PER_WORKER = 4, /* resident by default: fewer are kinder to the caches */
    SIMT_LANES_PER_WORKER = 32768,
    SIMT_SEEDED_LANES = 2048, /* resident under a seeded schedule: room to interleave */
    SIMT_DEFERRED = 32, /* handlers a warp can note, whatever GPURT_DEFER_DEPTH says */
    SIMT_BUDGET = 1024, /* atomics of a lane before others get a turn */
    SIMT_SPOTS = 256    /* rows of lanes asleep: park.c */
};

typedef struct simt_device simt_device_t;
typedef struct simt_worker simt_worker_t;
typedef struct simt_launch simt_launch_t;
typedef struct simt_block simt_block_t;
typedef struct simt_warp simt_warp_t;
typedef struct simt_lane simt_lane_t;
typedef struct simt_scope simt_scope_t;
typedef struct simt_stream simt_stream_t;
typedef struct simt_failure simt_failure_t;

typedef enum simt_state {
    SIMT_READY,      /* also before its first run */
    SIMT_AT_WARP,    /* in a warp operation */
    SIMT_AT_BARRIER, /* block barrier (id 0) or a named one */
    SIMT_AT_CLUSTER,
    SIMT_AT_GRID,
    SIMT_AT_WORD,
    SIMT_PARKED, /* in activemask: runs on when nobody else of the warp can */
    SIMT_DONE
} simt_state_t;

/* How a lane sleeps at a word: park.c. All but until_ns is under the device's spots.xlock while the
 * lane is in a row or in an inbox. */
typedef struct simt_sleep {
    const gpurt_spot_t *spot; /* on the lane's stack; NULL: awake */
    simt_lane_t *next_word, *next_place, *next_woken;
    uint64_t until_ns; /* of gpurt_globaltimer, or UINT64_MAX */
    uint64_t place;
} simt_sleep_t;

/* Owner: its block. */
struct simt_lane {
    gpurt_simt_lane_t self; /* first: what device code sees */
    simt_warp_t *warp;
    simt_fiber_t *fiber; /* NULL before the first run and after the end */
    const char *site;    /* where it waits, or last relaxed */
    uint64_t value, result;
    uint32_t mask, arg, rank;
    uint32_t seen; /* this often in a row it read seen_addr; where every point is seen */
    const void *seen_addr;
    uint32_t looks; /* asked this often whether it is cancelled */
    uint32_t spins; /* relaxed this often since it began or passed a barrier */
    uint8_t state;  /* simt_state_t */
    uint8_t op, barrier, answer;
    uint8_t half; /* of the warp's two sync words, the one of its last syncwarp */
    bool predicate;
    bool at_host;       /* waits for a word that the host stores: hostwait.c */
    const char *awaits; /* what it waits for, with a word of its kind: gpurt_pause_for */
    const char *awaits_name;
    uint64_t host_until_ns; /* then: until when, or UINT64_MAX */
    uint64_t until_ns; /* of gpurt_globaltimer: limit of its last wait, or UINT64_MAX */
    bool tell;         /* asked to save its backtrace when it runs next */
    bool in_deferred;  /* leaves, and runs handlers: it is not cancelled meanwhile */
    simt_sleep_t sleep;
};

/* A handler that lanes of a warp noted (defer.h). */
typedef struct simt_deferred {
    void (*handler)(uint64_t arg);
    uint64_t arg;
    uint32_t mask; /* lanes that have not left */
    uint32_t scope;
} simt_deferred_t;

/* Owner: its block. The masks hold one bit a lane; ready, waiting, parked and done are
 * disjoint, yielded is part of ready. */
struct simt_warp {
    simt_block_t *block;
    simt_lane_t *lanes;
    uint32_t all, ready, yielded, waiting, parked, done;
    uint32_t turn; /* the parked lane from which on the next ones are released */
    /* Where a schedule goes by priorities: each lane's, and which one is the highest of those in
     * `ranked`. */
    uint64_t priority[GPURT_WARP_SIZE];
    uint32_t highest, ranked;
    /* Order objects of syncwarp, for the race detector: by lowest lane of the mask, two each,
     * so that a fast lane's next syncwarp cannot be mistaken for this one. */
    uint32_t sync_parity;
    char sync_word[GPURT_WARP_SIZE][2];
    uint32_t deferred_count;
    simt_deferred_t deferred[SIMT_DEFERRED]; /* oldest first */
};

typedef struct simt_barrier {
    uint32_t arrived, expected; /* expected: threads; for barrier 0 the live ones */
    uint32_t sum;
    uint32_t parity;
    const char *site; /* of the first arrival, for strict mode */
    char word[2];
} simt_barrier_t;

/* Blocks of a cluster live on one worker. Owner: the worker. */
typedef struct simt_cluster {
    simt_block_t *blocks[GPURT_MAX_CLUSTER_BLOCKS];
    uint32_t size, live_blocks, live, arrived, parity;
    char word[2];
} simt_cluster_t;

/* A resident block. Owner: its worker, which reuses it (and its lanes' fibers under the race
 * detector) for later blocks of at most `capacity` threads. */
struct simt_block {
    gpurt_simt_block_t self; /* first: what device code sees */
    simt_worker_t *worker;
    simt_launch_t *launch;
    simt_cluster_t *cluster; /* NULL without clusters */
    simt_warp_t *warps;
    simt_lane_t *lanes;
    uint32_t rank, threads, warp_count, capacity;
    uint32_t live, runnable; /* lanes not done; lanes ready or parked */
    uint32_t at_grid;
    uint32_t asleep;      /* lanes at words */
    uint32_t cancelled;   /* its lanes end at their next safe point */
    gpurt_guard_t *guard; /* of its launch, once a lane has said so; or NULL */
    uint32_t attempt;
    uint64_t grid_phase; /* the phase this block waits to end */
    simt_barrier_t barriers[GPURT_NAMED_BARRIERS];
    char *shared; /* dynamic part, then static part */
    size_t shared_bytes, shared_dirty;
    char begin_word, end_word; /* order: block start, block end */
    simt_block_t *next;        /* idle list */
};

/* One object of static shared memory: its offset is the same in every block of a launch. */
typedef struct simt_shared_object {
    const void *key;
    uint32_t offset;
} simt_shared_object_t;

/* One grid. Owner: the device; freed when the last block ended and the stream moved on. */
struct simt_launch {
    simt_device_t *device;
    const gpurt_kernel_t *kernel;
    gpurt_dim3_t grid, block, cluster, clusters; /* clusters: grid counted in clusters */
    uint32_t threads, cluster_size, shared_bytes;
    uint64_t number;                  /* on its device, from 1 */
    uint64_t block_count, unit_count; /* a unit is a cluster, or a block without clusters */
    bool cooperative;
    void *args;
    simt_launch_t *next; /* device's active list */
    simt_stream_t *stream;
    /* under device->mutex */
    uint64_t next_unit, left;     /* next unit to start; blocks not ended */
    uint32_t resident, residents; /* units now, and how many may be */
    gpurt_status_t status;
    char *report; /* malloc'd; NULL while none */
    /* shared between workers */
    uint32_t xfailed;       /* written by: whoever fails the launch, once */
    uint32_t xgrid_arrived; /* blocks at the grid barrier; written by: any worker */
    uint64_t xgrid_phase;   /* completed grid barriers; written by: the last arriver */
    uint32_t xended;        /* blocks that ended; written by: any worker */
    uint32_t xcancelled;    /* a block is gone that grid barriers wait for; likewise */
    uint32_t xstopped;      /* the whole launch is cancelled; likewise */
    uint32_t xshared_lock, xshared_count,
        xshared_used; /* written by: lanes that meet a new object */
    simt_shared_object_t shared_objects[SIMT_SHARED_OBJECTS];
    char start_word, end_word, grid_word[2]; /* order: launch start, end, grid barriers */
};

/* Why a lane gave the worker back to its main fiber. */
typedef enum simt_errand {
    SIMT_ERRAND_NONE,
    SIMT_ERRAND_FIBER,  /* `subject` has to begin and there is no idle fiber */
    SIMT_ERRAND_STUCK,  /* the block of `subject` has no lane that can run */
    SIMT_ERRAND_ENDED,  /* the last lane of `subject`'s block ended */
    SIMT_ERRAND_EXIT,   /* `subject` left its kernel in mid-call */
    SIMT_ERRAND_MISUSE, /* `subject` broke a rule; fault says which */
    SIMT_ERRAND_FAULT,  /* a signal or a trap */
    SIMT_ERRAND_PANIC,  /* `subject` panicked, and goes on: panicked.c */
    SIMT_ERRAND_DYING,  /* `subject` called abort(): the process ends when it goes on */
    SIMT_ERRAND_TOLD    /* `subject` saved its backtrace */
} simt_errand_t;

typedef struct simt_fault {
    gpurt_status_t status;
    const char *what;   /* a sentence, static */
    const char *site;   /* NULL: the trace tells */
    simt_lane_t *other; /* a second lane in a misuse */
    int signal;
    const void *addr;
    uint32_t frames;
    void *trace[SIMT_TRACE_FRAMES];
    bool first_is_fault; /* trace[0] is where it happened, not a return address */
} simt_fault_t;

/* What the scope checker found: block `narrow` used a scope that leaves out block `user`; or a
 * word in shared memory was used as one that is not. */
typedef struct simt_narrow {
    const void *addr;
    const char *scope;
    uint32_t narrow, user;
    bool shared;  /* the word lies there, and should not */
    bool missing; /* it should lie there */
} simt_narrow_t;

/* Owner: the device. All fields are the worker's own, except the x words. Aligned so that two
 * workers never write one cache line (or the pair that is fetched together). */
struct GPURT_ALIGN(128) simt_worker {
    simt_device_t *device;
    uint32_t index;
    pthread_t thread;
    simt_fiber_t main;
    simt_lane_t *current; /* NULL while main runs */
    /* resident blocks, and their warps in one row for the scheduler */
    simt_block_t **blocks;
    uint32_t block_count, block_room;
    simt_warp_t **warps;
    uint32_t warp_count, warp_room, cursor;
    uint32_t resident_lanes, extra; /* extra: units above the default residency */
    simt_block_t *idle_blocks;
    simt_fiber_t *idle_fibers;
    simt_fiber_chunk_t *chunks;
    /* message from a lane to main */
    simt_errand_t errand;
    simt_lane_t *subject;
    const gpurt_simt_panic_t *panic; /* of the subject, during its errand */
    simt_fault_t fault;
    simt_narrow_t narrow; /* when the fault is GPURT_E_SCOPE */
    /* scheduling */
    bool progress;    /* schedule.c says what counts */
    uint32_t watch;   /* passes for which every point is looked at */
    bool idle;        /* a pass ended without progress: main has to look */
    uint32_t choices; /* seeded: in this pass */
    uint64_t idle_rounds, rng, steps, change_at[16];
    uint64_t free_rounds; /* of idle_rounds: so many do not count */
    uint64_t given_ns;    /* to other threads in these idle rounds */
    uint32_t probe_left;  /* point.h: looking whether a lane spins without gpurt_relax */
    const void *probe_addr;
    uint32_t seen_changes; /* device->xchanges when main last looked */
    uint32_t asleep;       /* lanes of it that sleep at words */
    uint32_t timed;        /* of those, with a deadline */
    simt_lane_t *xwoken;   /* lanes that others woke; under spots.xlock */
    uint32_t xquiet;       /* no lane of it can run; likewise */
    uint64_t quiet_since;  /* steady ns, 0: not so */
    uint32_t xawaits;      /* while it idles: SIMT_AWAITS_...; written by: this worker */
    uint32_t host_seen;    /* device->xhost_news before this pass */
    uint64_t host_nap_ns;
    uint64_t passes;      /* over all lanes, that ended */
    uint64_t xidle_since; /* ns, 0 while something advances; written by: this worker */
    uint64_t xswitches, xpreemptions, xrendezvous,
        xhash; /* counters; written by: this worker */
    char *signal_stack;
};

/* Settings after options and environment were joined. */
typedef struct simt_config {
    gpurt_cpu_options_t cpu;
    bool seeded;
    const char *report_path; /* GPURT_CHECK_REPORT */
} simt_config_t;

/* Lanes asleep, by the word and by who they are. Owner: the device. */
typedef struct simt_spots {
    uint32_t xlock;
    simt_lane_t *words[SIMT_SPOTS], *places[SIMT_SPOTS]; /* under xlock */
} simt_spots_t;

struct simt_device {
    simt_config_t config;
    uint32_t index; /* among those that the process has open */
    int32_t number; /* that it was opened by */
    bool counted;   /* among those that are open, for simt_device_is_alone */
    pthread_mutex_t mutex;
    pthread_cond_t work; /* for workers: something to start, or stop */
    pthread_cond_t done; /* for hosts: an op ended */
    simt_worker_t *workers;
    uint32_t worker_count;
    /* under mutex */
    simt_stream_t *streams, *default_stream;
    simt_launch_t *active, *active_tail;
    bool stopping, held;        /* held: seeded launches wait until the host waits too */
    bool replayable;            /* no host action fell into running kernels */
    bool watching;              /* fault.c's handlers are installed for us */
    uint64_t launches, pending; /* ops queued and not ended */
    char *last_report;
    /* shared */
    uint32_t xchanges;       /* grows when main fibers should look; written under mutex */
    uint32_t xhost_news;     /* futex: grows when workers asleep should look; any thread */
    uint32_t xhost_sleepers; /* workers asleep on it; written by: workers */
    simt_scope_t *scope;     /* NULL unless check_scope */
    simt_spots_t spots;
    struct simt_acts *acts;   /* hostact.c's; NULL: the host acts when it likes */
    simt_device_t *next_left; /* device.c: of those that a forked child leaves alone */
};

extern GPURT_TLS simt_worker_t *simt_worker_self; /* NULL on threads that are no worker */

/* ---- lanes: lane.c ---------------------------------------------------------------------- */
/* Where every fiber begins: runs the worker's current lane, then the next one, for ever. */
void simt_lane_entry(void);
/* Gives the worker to `next` and returns when this lane is chosen again. */
void simt_lane_yield(simt_lane_t *me);
/* Takes the lane out of the ready ones and gives the worker away; returns when it was woken.
 * Nothing waits if it has been woken already. */
void simt_lane_wait(simt_lane_t *me);
void simt_lane_block(simt_lane_t *me, simt_state_t state);
void simt_lane_wake(simt_lane_t *lane);
/* Leaves the lane for the main fiber with an errand; returns if main sends it back. */
void simt_lane_errand(simt_lane_t *me, simt_errand_t errand);
/* Never returns: the launch fails. */
void simt_lane_misuse(simt_lane_t *me, gpurt_status_t status, const char *what,
                      simt_lane_t *other) GPURT_NORETURN;
/* Main fiber: runs the lane until an errand or until nothing is ready. */
void simt_lane_run(simt_worker_t *k, simt_lane_t *lane);
/* Main fiber: the lane goes on behind its errand; to the schedule nothing has happened. */
void simt_lane_resume(simt_worker_t *k, simt_lane_t *lane);
/* Takes the lane's backtrace into the worker's fault. */
void simt_lane_trace(simt_worker_t *k);
/* Main fiber: gives the lane's fiber back, made anew. */
void simt_lane_abandon(simt_worker_t *k, simt_lane_t *lane);
bool simt_fibers_grow(simt_worker_t *k);

/* ---- rendezvous: warp.c, barrier.c, cancel.c; a lane ended: what can complete now? ------------------- */
void simt_warp_lane_ended(simt_lane_t *lane);
void simt_barrier_lane_ended(simt_lane_t *lane);
bool simt_warp_release_parked(simt_worker_t *k, simt_warp_t *w);
/* Ends the lane if its block was cancelled: cancel.c. */
void simt_cancel_point(simt_lane_t *me);
void simt_block_cancel(simt_block_t *b);
/* Main fiber: wakes blocks whose grid barrier completed or never will. Returns: whether any
 * was. */
bool simt_grid_poll(simt_worker_t *k);
/* Whether no lane of the block can ever run again. Exact. */
bool simt_block_is_stuck(const simt_block_t *b);

/* ---- lanes asleep at words: park.c ----------------------------------------------------------- */
/* Main fiber, between passes: lanes that others woke, whose time is over, or whose launch was
 * stopped, can run. Returns: whether any. */
bool simt_park_poll(simt_worker_t *k);
/* Takes a lane that sleeps out of its rows; the caller wakes it, or ends it. */
void simt_park_leave(simt_lane_t *lane);
/* Main fiber, where no lane can run and none waits for the host: whether that is for ever, on the
 * whole device. */
bool simt_park_is_stuck(simt_worker_t *k);
/* The first deadline, or UINT64_MAX. */
uint64_t simt_park_deadline(const simt_worker_t *k);
/* The same. Under a seed the clock is moved there. */
uint64_t simt_park_until(simt_worker_t *k);
/* The worker runs, or waits for work. */
void simt_park_busy(simt_worker_t *k, bool busy);
/* Whether only lanes of its own block can wake it. */
bool simt_park_is_own(const simt_lane_t *lane);
/* The lane asleep that holds what this one waits for, or NULL. Under the lock, or while all of them
 * sleep. */
const simt_lane_t *simt_park_holder(const simt_lane_t *lane);
/* Tells of the lane and of those asleep that it waits for, one by one. */
void simt_park_walk(const simt_lane_t *lane, void (*add)(void *to, const simt_lane_t *lane),
                    void *to);
/* Something happened that lanes of any worker may wait for: nobody counts as quiet. */
void simt_park_news(simt_device_t *d);
void simt_block_look(simt_block_t *b); /* cancel.c: whether its launch was stopped */

/* ---- choosing: schedule.c ------------------------------------------------------------------ */
simt_lane_t *simt_schedule_pick(simt_worker_t *k);
void simt_schedule_begin(simt_worker_t *k);  /* the worker starts */
void simt_schedule_wakeup(simt_worker_t *k); /* its first block after a pause starts */
void simt_schedule_lane(simt_worker_t *k, simt_lane_t *lane); /* it becomes resident */
/* The lane looked whether it is cancelled: others get a turn now and then. */
void simt_schedule_looked(simt_worker_t *k, simt_lane_t *lane);
uint64_t simt_schedule_random(simt_worker_t *k);
void simt_schedule_install(void); /* the preemption point */
uint32_t simt_schedule_budget(const simt_worker_t *k);

/* ---- blocks: block.c ------------------------------------------------------------------------ */
/* Main fiber. Starts every block of a unit; false when there is no memory. */
bool simt_unit_start(simt_worker_t *k, simt_launch_t *launch, uint64_t unit);
void simt_block_end(simt_worker_t *k, simt_block_t *b);
void simt_blocks_free(simt_worker_t *k);

/* ---- launches and streams: launch.c, stream.c -------------------------------------------------- */
/* Under device->mutex. The next unit the worker may start, or false. */
bool simt_launch_take(simt_worker_t *k, simt_launch_t **launch, uint64_t *unit);
/* Any main fiber. First failure wins; report (malloc'd, or NULL) becomes the launch's. told: for
 * the black box; NULL: nothing of the kernel's. */
void simt_launch_fail(simt_launch_t *l, gpurt_status_t status, char *report,
                      const simt_failure_t *told);
void simt_launch_block_ended(simt_launch_t *l, bool unit_ended);
void simt_launch_destroy(simt_launch_t *l);
/* Under device->mutex: tells every main fiber to look. */
void simt_device_changed(simt_device_t *d);
bool simt_device_is_alone(void); /* no second one is open */
/* Under device->mutex: a host thread waits now, so seeded work may run. */
void simt_device_release(simt_device_t *d);

/* ---- workers: worker.c -------------------------------------------------------------------------- */
void *simt_worker_main(void *worker);
/* Frees what a worker without work has. Context: a forked child, where its thread is not. */
void simt_worker_abandon(simt_worker_t *k);

/* ---- failures: fault.c, report.c, failure.c, symbol.c, scope.c ----------------------------------- */
bool simt_fault_install(void);
void simt_fault_remove(void);
/* In a forked child: nobody has installed anything. */
void simt_fault_forked(void);
bool simt_fault_thread_begin(simt_worker_t *k);
void simt_fault_thread_end(simt_worker_t *k);
/* Each fills `told` with the same as the report: failure.h. */
char *simt_report_deadlock(simt_worker_t *k, simt_block_t *b, simt_failure_t *told);
/* Lanes sleep, and nobody is left to wake them. */
char *simt_report_asleep(simt_worker_t *k, simt_block_t *b, bool occupancy,
                         simt_failure_t *told);
char *simt_report_livelock(simt_worker_t *k, simt_launch_t *l, bool occupancy,
                           simt_failure_t *told);
char *simt_report_fault(simt_worker_t *k, simt_lane_t *lane, const simt_fault_t *fault,
                        simt_failure_t *told);
/* Into the caller's memory, without lines: it allocates nothing. */
void simt_report_dying(simt_worker_t *k, simt_lane_t *lane, char *text, size_t bytes,
                       simt_failure_t *told);
char *simt_report_panic(simt_worker_t *k, simt_lane_t *lane, const gpurt_simt_panic_t *p);
/* panicked.c. Main fiber: the errand of a lane that panicked. */
void simt_panic_keep(simt_worker_t *k, simt_lane_t *lane);
/* What the file for gpurt-check says of panics: a line, and the report of the first or NULL. */
void simt_panics_write(FILE *f);
const char *simt_panics_first(void);
/* Under the mutex: keeps the text for gpurt_report and, when asked to, writes the file that
 * gpurt-check reads. text: NULL when nothing failed. */
void simt_report_save(simt_device_t *d, gpurt_status_t status, const char *text);
/* What stands at a code address. path, line: NULL and 0 where they are not known; where: the
 * path's last part and the line, or the module; NULL: nothing is known. */
typedef struct simt_symbol {
    const char *function, *where, *path;
    uint32_t line;
} simt_symbol_t;
/* Names code addresses, innermost first, with all that was inlined. first_exact: trace[0] is an
 * instruction's address, not a return address. lines: debug information is asked; without, no
 * memory is allocated. */
void simt_symbols_walk(void *const *trace, uint32_t frames, bool first_exact, bool lines,
                       void (*add)(void *to, const simt_symbol_t *symbol), void *to);
simt_scope_t *simt_scope_create(void);
void simt_scope_destroy(simt_scope_t *s);
void simt_scope_reset(simt_scope_t *s);
/* Lane. Whether this looks elsewhere for a word in shared memory, or there for one elsewhere. */
bool simt_scope_is_astray(simt_lane_t *lane, const gpurt_point_t *p, simt_narrow_t *found);
/* Lane. Whether this access proves a scope too narrow; `found` then says how. */
bool simt_scope_breaks(simt_scope_t *s, simt_lane_t *lane, const void *addr, uint32_t scope,
                       simt_narrow_t *found);

#endif
