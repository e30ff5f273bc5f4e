/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "collector.h"

#include "capacity.h"
#include "cupti_api.h"
#include "dormant.h"
#include "duty.h"
#include "environ.h"
#include "graphs.h"
#include "hosttime.h"
#include "hostwaits.h"
#include "injection.h"
#include "intake.h"
#include "launchwords.h"
#include "lines.h"
#include "managed.h"
#include "nvml.h"
#include "outlet.h"
#include "pool.h"
#include "sampling.h"
#include "servewait.h"
#include "subscription.h"
#include "tell.h"
#include "trouble.h"
#include "vigil.h"
#include "wanted.h"
#include "windows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    FLUSH_MS = 100,
    STOP_MS = 3000, /* at exit, for each thread: a driver that hangs holds nobody longer */
    READ_TIMES = 9, /* so often again, while the reader goes on reading */
    SYNC_MS = 1000,
    SILENCE_MS = 3000 /* CUPTI gives out what has ended in less */
};

/* Of what ends again. */
#define STRAY                                                                              \
    "no records of kernels that are launched: another tool has taken CUPTI's buffers, or " \
    "none of them has ended"
#define STUCK                                                                             \
    "windows of records stand still: CUPTI has not come back from turning records on or " \
    "off for three seconds"
#define SILENT "no records of kernels for now: CUPTI has not answered for three seconds"

/* What somebody waits for. */
typedef enum ask {
    ASK_NOTHING,
    ASK_FLUSH, /* that CUPTI gives out what has ended ... */
    ASK_READ   /* ... and that all which was given out is read */
} ask_t;

/* One process, one collector. */
static struct {
    pid_t pid; /* who started it, 0: nobody */
    cupti_api_t api;
    pool_t pool;
    duty_t reader, flusher;
    uint32_t xasked;    /* ask_t; written by: any thread (FLUSH), the flusher (READ), the
                          reader (NOTHING) */
    uint32_t xstray;    /* records go elsewhere; written by: the flusher */
    uint64_t xasked_ns; /* since when CUPTI's answer to a flush is waited for, 0: it is not;
                           written by: the flusher */
    uint32_t flush_ms;
    bool stray, silent, stuck, shared; /* that is told; the reader's */
} collector;

/* ---- CUPTI's side: any thread of the program ----------------------------------------- */

static void CUPTIAPI buffer_asked(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *buffer = pool_take(&collector.pool, gpurt_steady_ns(), size);
    *max_records = 0;
    nvml_begun();
}

static void CUPTIAPI buffer_done(CUcontext context, uint32_t stream, uint8_t *buffer,
                                 size_t size, size_t valid)
{
    size_t dropped = 0;

    (void)size;
    if (collector.api.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) ==
            CUPTI_SUCCESS &&
        dropped)
        intake_lost(dropped);
    if (buffer)
        pool_fill(&collector.pool, buffer, valid);
}

/* ---- the reader ---------------------------------------------------------------------- */

/* A trouble that begins and ends: *was is whether it has begun by what was said of it. */
static void follow(bool is, bool *was, const char *text)
{
    if (is && !*was)
        trouble_say(TROUBLE_WHOLE, "%s", text);
    else if (!is && *was)
        trouble_end(text);
    *was = is;
}

static bool is_silent(uint64_t now)
{
    uint64_t asked = gpurt_load_relaxed_dev_u64(&collector.xasked_ns); /* relaxed: a time */

    return asked && now > asked && now - asked >= SILENCE_MS * 1000000ull;
}

/* Buffers that another tool had given to CUPTI before we asked for all of them. They are its
 * own: they stay as they are, and it does not hear of them. */
static void shared_look(void)
{
    if (collector.shared || pool_foreign(&collector.pool) == 0)
        return;
    collector.shared = true;
    trouble_say(TROUBLE_PART,
                "another tool of the program records through CUPTI, too: CUPTI gave us "
                "buffers of its, which we leave alone; it lacks them, or we lack ours");
}

/* What others have seen of troubles that begin and end. */
static void troubles_look(uint64_t now)
{
    /* relaxed: as stored */
    follow(gpurt_load_relaxed_dev_u32(&collector.xstray) != 0, &collector.stray, STRAY);
    follow(is_silent(now), &collector.silent, SILENT);
    follow(windows_stuck(), &collector.stuck, STUCK);
    shared_look();
    servewait_look(now);
    if (graphs_by_device_missed())
        trouble_say(TROUBLE_NOTE,
                    "graphs that kernels launch are not recorded: start the program with "
                    "GPURT_CUPTI=default,device-graphs for them");
    if (nvml_stuck()) /* no state: it may answer yet */
        trouble_say(TROUBLE_NOTE,
                    "no figures of GPUs for now: NVML has not answered for three seconds");
}

static void reader_run(duty_t *w)
{
    while (duty_wait(w, FLUSH_MS)) {
        bool asked =
            gpurt_load_acquire_dev_u32(&collector.xasked) == ASK_READ; /* CUP3.acq */

        troubles_look(gpurt_steady_ns());
        intake_round(asked);
        if (asked) /* relaxed: "done" alone */
            gpurt_store_relaxed_dev_u32(&collector.xasked, ASK_NOTHING);
    }
    troubles_look(gpurt_steady_ns());
    intake_end();
}

/* ---- the flusher --------------------------------------------------------------------- */

/* relaxed: what is told depends on nothing else */
static void stray_look(void)
{
    gpurt_store_relaxed_dev_u32(&collector.xstray,
                                vigil_look(&collector.pool, gpurt_steady_ns()));
}

/* It may never come back. */
static void flush(uint32_t how)
{
    /* relaxed: a time, for somebody who looks now and then */
    gpurt_store_relaxed_dev_u64(&collector.xasked_ns, gpurt_steady_ns());
    collector.api.cuptiActivityFlushAll(how);
    gpurt_store_relaxed_dev_u64(&collector.xasked_ns, 0); /* relaxed: as above */
}

/* A plain flush takes no buffer from under a kernel that runs. The last one does: what is
 * not given out now never will be. */
static void flusher_run(duty_t *w)
{
    while (duty_wait(w, collector.flush_ms)) {
        /* relaxed: the program's own records are CUPTI's to order */
        bool asked = gpurt_load_relaxed_dev_u32(&collector.xasked) == ASK_FLUSH;

        flush(0);
        if (asked)
            gpurt_store_release_dev_u32(&collector.xasked, ASK_READ); /* CUP3.rel */
        sem_post(&collector.pool.filled);
        managed_look(false);
        capacity_look();
        stray_look();
        servewait_ask();
    }
    managed_look(true);
    capacity_look();
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

/* ---- start and stop ------------------------------------------------------------------ */

static uint32_t flush_ms_read(void)
{
    const char *value = gpurt_env_get("GPURT_CUPTI_FLUSH_MS");
    uint64_t ms = gpurt_tell_number("GPURT_CUPTI_FLUSH_MS", value, 0);

    return ms == 0 || ms > 60000 ? FLUSH_MS : (uint32_t)ms;
}

/* A word that is none may be all that was asked for. */
static void unknown_tell(const char *unknown, bool alone)
{
    trouble_say(alone ? TROUBLE_WHOLE : TROUBLE_PART, "%sGPURT_CUPTI: '%.*s' is not known",
                alone ? "no records of kernels: " : "", (int)strcspn(unknown, ","),
                unknown);
    trouble_say(TROUBLE_NOTE, "GPURT_CUPTI takes %s", GPURT_CUPTI_WORDS);
}

static void start(const char *words)
{
    const char *unknown;
    uint32_t wanted = wanted_read(words, &unknown);
    const bool alone = wanted == 0;
    bool on;

    if (collector.pid || (alone && !unknown) || !pool_open(&collector.pool))
        return;
    collector.pid = getpid();
    collector.flush_ms = flush_ms_read();
    intake_open(&collector.api, &collector.pool);
    wanted = launchwords_begin(wanted);
    on = wanted && subscription_begin(&collector.api, wanted, buffer_asked, buffer_done);
    if (unknown)
        unknown_tell(unknown, alone);
    if (duty_start(&collector.reader, "gpurt-reader", reader_run, &collector.pool.filled) &&
        on)
        duty_start(&collector.flusher, "gpurt-flusher", flusher_run, NULL);
    nvml_start();
}

/* Kinds can be enabled at any time; what ran before is not known. */
static void woken(const gpurt_later_t *ask)
{
    outlet_ask(ask->drainer);
    start(ask->words);
}

/* Who asks later would be told that nobody sleeps here, and not why. */
static void sleepless_tell(int code)
{
    fprintf(stderr,
            "gpurt: gpurt-record -p cannot ask process %d for what its GPU does: %s\n",
            (int)getpid(),
            code == EADDRINUSE ? "another process, as in another container of the same "
                                 "network, listens in its place"
                               : strerror(code));
}

void collector_start(void)
{
    const char *words = gpurt_env_get("GPURT_CUPTI");

    if (words && strcmp(words, "later") == 0) {
        if (!dormant_start(woken))
            sleepless_tell(errno);
    } else if (outlet_wanted())
        start(words);
}

/* The flush is the flusher's, because a driver that hangs would keep us here. */
static void records_sync(void)
{
    struct timespec step = {.tv_nsec = 1000000};

    if (collector.flusher.started) {
        gpurt_store_relaxed_dev_u32(&collector.xasked, ASK_FLUSH); /* relaxed: the bell */
        duty_ring(&collector.flusher);
    } else {
        gpurt_store_release_dev_u32(&collector.xasked, ASK_READ); /* CUP3.rel */
        duty_ring(&collector.reader);
    }
    for (int ms = 0; ms < SYNC_MS; ms++) {
        if (gpurt_load_relaxed_dev_u32(&collector.xasked) ==
            ASK_NOTHING) /* relaxed: as above */
            return;
        nanosleep(&step, NULL);
    }
}

void collector_sync(void)
{
    if (dormant_sleeps() || collector.pid != getpid() || !collector.reader.started)
        return;
    lines_sync();
    records_sync();
    launchwords_sync(); /* behind the records, which are of launches that were counted */
}

static uint64_t buffers_read(void)
{
    return pool_given(&collector.pool);
}

/* The reader holds the outlet, so the log cannot say it. Where there is none, that was told. */
static void unread_tell(void)
{
    uint64_t unread = outlet_is_refused() ? 0 : pool_unread(&collector.pool);

    if (unread > 0)
        fprintf(stderr,
                "gpurt: %" PRIu64
                " buffer%s of records, the last ones, %s not in the log: the "
                "program ended before they were read; fewer kinds of records (--cupti) "
                "leave less to read\n",
                unread, unread == 1 ? "" : "s", unread == 1 ? "is" : "are");
}

void collector_stop(void)
{
    bool read;

    if (!dormant_stop() || collector.pid != getpid())
        return;
    nvml_stop();
    sampling_stop();
    windows_stop();
    lines_stop();
    if (!duty_stop(&collector.flusher, STOP_MS))
        gpurt_store_relaxed_dev_u64(&collector.xasked_ns, 1); /* relaxed: the bell */
    read = duty_finish(&collector.reader, STOP_MS, READ_TIMES, buffers_read);
    if (!read)
        unread_tell();
    launchwords_stop(); /* behind the last records, which tell of ends */
    if (read) {         /* else it holds the outlet: the drainer sees our end */
        hostwaits_stop();
        outlet_close();
    }
}

void collector_forked(void)
{
    dormant_leave();
    lines_forked();
    launchwords_leave();
    outlet_leave();
}
