/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "collector.h"

#include "capacity.h"
#include "cupti_api.h"
#include "dormant.h"
#include "duty.h"
#include "graphs.h"
#include "injection.h"
#include "launches.h"
#include "managed.h"
#include "nvml.h"
#include "outlet.h"
#include "pool.h"
#include "procfs.h"
#include "sampling.h"
#include "translate.h"
#include "trouble.h"
#include "vigil.h"
#include "wanted.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    FLUSH_MS = 100,
    STOP_MS = 3000, /* at exit, for each thread: a driver that hangs holds nobody longer */
    SYNC_MS = 1000,
    SILENCE_MS = 3000 /* CUPTI gives out what has ended in less */
};
#define BEAT_NS 1000000000ull

/* Of what ends again. */
#define STRAY                                                                              \
    "no records of kernels that are launched: another tool has taken CUPTI's buffers, or " \
    "none of them has ended"
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
    CUpti_SubscriberHandle subscriber;
    char holder[TROUBLE_TEXT / 2]; /* a library whose CUPTI is; empty: nobody's */
    bool on;                       /* CUPTI records */
    pool_t pool;
    duty_t reader, flusher;
    uint32_t xasked;    /* ask_t; written by: any thread (FLUSH), the flusher (READ), the
                          reader (NOTHING) */
    uint32_t xstray;    /* records go elsewhere; written by: the flusher */
    uint64_t xdropped;  /* by CUPTI, not told yet; written by: any thread */
    uint64_t xasked_ns; /* since when CUPTI's answer to a flush is waited for, 0: it is not;
                           written by: the flusher */
    uint32_t flush_ms;
    uint64_t began_ns;
    bool stray, silent, shared; /* that is told; the reader's, as all below */
    translate_t translate;
    uint64_t dropped, told_ns; /* told: the last collector record */
    uint64_t told_sum, told_place;
    bool ends; /* this is the last look */
} collector;

void collector_notice(const char *text)
{
    trouble_say(TROUBLE_NOTE, "%s", text);
}

void collector_yield(const char *library)
{
    snprintf(collector.holder, sizeof collector.holder, "%s", library);
}

/* ---- CUPTI's side: any thread of the program ----------------------------------------- */

static uint64_t CUPTIAPI time_now(void)
{
    return gpurt_real_ns();
}

static void CUPTIAPI buffer_asked(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *buffer = pool_take(&collector.pool, gpurt_real_ns(), size);
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
        gpurt_add_relaxed_dev_u64(&collector.xdropped, dropped); /* relaxed: a count */
    if (buffer)
        pool_fill(&collector.pool, buffer, valid);
}

/* ---- the reader ---------------------------------------------------------------------- */

static void buffer_read(int index)
{
    uint8_t *memory = pool_memory(&collector.pool, index);
    size_t valid = collector.pool.entries[index].valid;
    uint64_t now = gpurt_real_ns();
    CUpti_Activity *record = NULL;

    translate_buffer(&collector.translate);
    while (valid > 0 && collector.api.cuptiActivityGetNextRecord(memory, valid, &record) ==
                            CUPTI_SUCCESS)
        translate_record(&collector.translate, record, now);
}

/* Changes with all that the sums tell. */
static uint64_t sums_now(void)
{
    return collector.translate.records + collector.translate.unknown + collector.dropped +
           sampling_left_out();
}

/* Sums, once a second while they change. Between enter and exit of the outlet. */
static void sums_tell(uint64_t now)
{
    const translate_t *t = &collector.translate;
    char state[TROUBLE_STATE];
    gpurt_activity_collector_t out = {.records = gpurt_pair(t->records),
                                      .bad = gpurt_pair(t->bad),
                                      .dropped = gpurt_pair(collector.dropped),
                                      .starved = gpurt_load_relaxed_dev_u32(
                                          &collector.pool.xstarved)}; /* relaxed: a count */

    out.unknown = (uint32_t)t->unknown;
    out.samples = sampling_left_out();
    trouble_state(state);
    out.state = outlet_name(state, false);
    outlet_put(GPURT_KIND_COLLECTOR, 0, now, &out);
    collector.told_ns = now;
    collector.told_sum = sums_now();
    collector.told_place = outlet_place();
}

static void losses_tell(uint64_t now)
{
    uint64_t dropped =
        gpurt_xchg_relaxed_dev_u64(&collector.xdropped, 0); /* relaxed: a count */

    outlet_lose(dropped, GPURT_LOSS_BUFFERS, now);
    outlet_lose(launches_missed(), GPURT_LOSS_FULL, now);
    collector.dropped += dropped;
}

static bool has_losses(void)
{
    return gpurt_load_relaxed_dev_u64(&collector.xdropped) != 0; /* relaxed: a hint */
}

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
    shared_look();
    if (nvml_stuck()) /* a warning and no state: it may answer yet */
        collector_notice(
            "no figures of GPUs for now: NVML has not answered for three seconds");
}

/* Between enter and exit: each box has room of its own. */
static void names_look(void)
{
    if (outlet_names_are_full())
        trouble_say(TROUBLE_PART, OUTLET_NAMES_FULL);
    else
        trouble_end(OUTLET_NAMES_FULL);
}

/* A log never says nothing: a box that has just come is told how we fare, and so is who begins to
 * read one, and a recorder when all ends and nothing was said. The program's next box is found
 * when it closes one. */
static bool is_untold(void)
{
    const bool live = outlet_box() & 1;

    return live ? outlet_place() != collector.told_place || !outlet_is_open()
                : collector.ends && !collector.told_ns && outlet_is_recorded();
}

/* One look at everything that is full. */
static void round_read(bool last)
{
    uint64_t now = gpurt_real_ns();
    uint64_t sum = sums_now();
    int index = pool_next(&collector.pool);
    bool due = sum != collector.told_sum && now - collector.told_ns >= BEAT_NS;

    due |= is_untold();
    troubles_look(now);
    if (index < 0 && !has_losses() && !due && !(last && sum) && !trouble_waits() &&
        !capacity_waits())
        return;
    if (!outlet_enter(last))
        return; /* no box: the buffers stay, and CUPTI counts what it cannot place */
    due |= trouble_tell(now);
    due |= collector.told_place != outlet_place();
    capacity_tell(collector.began_ns);
    for (; index >= 0; index = pool_next(&collector.pool)) {
        buffer_read(index);
        pool_give(&collector.pool, index);
    }
    names_look();
    due |= trouble_tell(now);
    losses_tell(now);
    if (due || last)
        sums_tell(gpurt_real_ns());
    outlet_exit();
}

static void reader_run(duty_t *w)
{
    while (duty_wait(w, FLUSH_MS)) {
        bool asked =
            gpurt_load_acquire_dev_u32(&collector.xasked) == ASK_READ; /* CUP3.acq */

        round_read(asked);
        if (asked) /* relaxed: "done" alone */
            gpurt_store_relaxed_dev_u32(&collector.xasked, ASK_NOTHING);
    }
    collector.ends = true;
    round_read(true);
}

/* ---- the flusher --------------------------------------------------------------------- */

/* relaxed: what is told depends on nothing else */
static void stray_look(void)
{
    gpurt_store_relaxed_dev_u32(&collector.xstray,
                                vigil_look(&collector.pool, gpurt_real_ns()));
}

/* It may never come back. */
static void flush(uint32_t how)
{
    /* relaxed: a time, for somebody who looks now and then */
    gpurt_store_relaxed_dev_u64(&collector.xasked_ns, gpurt_real_ns());
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
    }
    managed_look(true);
    capacity_look();
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

/* ---- start and stop ------------------------------------------------------------------ */

/* Ranges are told by NVTX, which loads what this names at its first use. */
static void ranges_route(void)
{
    const char *other;
    Dl_info info;
    void *entry;

    memcpy(&entry, &collector.api.cuptiGetVersion, sizeof entry);
    if (!dladdr(entry, &info) || !info.dli_fname)
        return;
    other = getenv("NVTX_INJECTION64_PATH");
    if (!other)
        setenv("NVTX_INJECTION64_PATH", info.dli_fname, 1);
    else if (strcmp(other, info.dli_fname) != 0)
        trouble_say(TROUBLE_PART, "no ranges: NVTX_INJECTION64_PATH gives them to %s",
                    other);
}

/* The subscriber's: CUPTI has one for all that it calls back for. */
static void CUPTIAPI told(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void *about)
{
    (void)data;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        if (launches_are_watched())
            launches_told(id, about);
        vigil_told(id, about);
    } else if (domain == CUPTI_CB_DOMAIN_RESOURCE)
        graphs_told(id, about);
}

/* The box shall be there before the first launch: no record of CUPTI's comes before that. */
static void launches_want(void)
{
    if (!launches_watch(&collector.api, collector.subscriber))
        trouble_say(TROUBLE_PART, "CUPTI tells of no launches");
    else if (outlet_enter(false))
        outlet_exit();
}

/* One that is refused leaves the others on. */
static void kinds_enable(uint32_t wanted)
{
    for (uint32_t i = 0; wanted_rows[i].word; i++) {
        CUptiResult result;

        if (!(wanted >> i & 1))
            continue;
        if (wanted_rows[i].kind == WANTED_SAMPLES) {
            sampling_start(&collector.api);
            continue;
        }
        if (wanted_rows[i].kind == WANTED_LAUNCHES) {
            launches_want();
            continue;
        }
        if (wanted_rows[i].kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) {
            managed_want(&collector.api);
            continue;
        }
        if (wanted_rows[i].kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
            vigil_start(&collector.api, collector.subscriber);
        result = collector.api.cuptiActivityEnable(wanted_rows[i].kind);
        if (result != CUPTI_SUCCESS)
            trouble_say(TROUBLE_PART, "CUPTI refuses records of %s", wanted_rows[i].word);
        else if (wanted_rows[i].kind == CUPTI_ACTIVITY_KIND_MARKER)
            ranges_route();
        else if (wanted_rows[i].kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
            graphs_watch(&collector.api, collector.subscriber);
    }
}

/* Threads go by the numbers that the system shows: what a program logs does, too. */
static void threads_name(void)
{
    if (collector.api.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) !=
        CUPTI_SUCCESS)
        trouble_say(TROUBLE_PART,
                    "CUPTI numbers threads in its own way: calls and ranges stand apart");
}

/* A program that polls a stream or an event would have a record of each look that found
 * nothing, millions a second, and none of them waited. */
static void polls_hide(void)
{
    if (collector.api.cuptiActivityEnableAllSyncRecords(0) != CUPTI_SUCCESS)
        trouble_say(TROUBLE_PART, "CUPTI records each look at an event as a wait");
}

/* CUPTI tells of what the host launches, unless it is asked before CUDA starts: a program that
 * is woken up runs by then. */
static void device_graphs_show(void)
{
    if (dormant_sleeps())
        return;
    if (collector.api.cuptiActivityEnableDeviceGraph(1) != CUPTI_SUCCESS)
        trouble_say(TROUBLE_PART, "CUPTI tells of no graphs that kernels launch");
}

/* Who subscribes has a name to show to who finds CUPTI taken. Where CUPTI knows of no names, or
 * not in this way, it goes without. */
static CUptiResult subscribe(char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN])
{
    const cupti_api_t *api = &collector.api;
    CUpti_SubscriberParams params = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
                                     .subscriberName = "gpurt",
                                     .oldSubscriberName = holder,
                                     .oldSubscriberSize =
                                         CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN};
    CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;

    if (api->cuptiSubscribe_v2)
        result = api->cuptiSubscribe_v2(&collector.subscriber, told, NULL, &params);
    if (result == CUPTI_SUCCESS || result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        return result;
    return api->cuptiSubscribe(&collector.subscriber, told, NULL);
}

/* The time source is registered once, and before any kind is enabled: each registration
 * damages a record. */
static bool cupti_start(uint32_t wanted)
{
    char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
    const cupti_api_t *api = &collector.api;
    gpurt_error_t err;
    CUptiResult result;

    if (collector.holder[0]) {
        trouble_say(TROUBLE_WHOLE,
                    "no records of kernels: CUPTI serves one tool, and %s, "
                    "which CUDA_INJECTION64_PATH named, has it",
                    collector.holder);
        return false;
    }
    if (cupti_api_open(&collector.api, &err) != GPURT_OK) {
        trouble_say(TROUBLE_WHOLE, "no records of kernels: %s", err.text);
        return false;
    }
    result = subscribe(holder);
    holder[sizeof holder - 1] = '\0';
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
        trouble_say(TROUBLE_WHOLE,
                    "no records of kernels: another profiler holds CUPTI%s%s",
                    holder[0] ? ": " : "", holder);
        return false;
    }
    if (result == CUPTI_SUCCESS)
        result = api->cuptiActivityRegisterTimestampCallback(time_now);
    if (result == CUPTI_SUCCESS)
        result = api->cuptiActivityRegisterCallbacks(buffer_asked, buffer_done);
    if (result != CUPTI_SUCCESS) {
        trouble_say(TROUBLE_WHOLE, "no records of kernels: CUPTI says %s",
                    cupti_api_text(api, result));
        return false;
    }
    threads_name();
    polls_hide();
    device_graphs_show();
    kinds_enable(wanted);
    return true;
}

static uint32_t flush_ms_read(void)
{
    const char *value = secure_getenv("GPURT_CUPTI_FLUSH_MS");
    unsigned long ms = value ? strtoul(value, NULL, 10) : 0;

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

    if (collector.pid || (wanted == 0 && !unknown) || !pool_open(&collector.pool))
        return;
    collector.pid = getpid();
    collector.flush_ms = flush_ms_read();
    collector.translate.api = &collector.api;
    collector.began_ns = gpurt_real_ns();
    collector.translate.begin_ns = collector.began_ns - BEAT_NS;
    collector.on = wanted && cupti_start(wanted);
    if (unknown)
        unknown_tell(unknown, wanted == 0);
    if (duty_start(&collector.reader, "gpurt-reader", reader_run, &collector.pool.filled) &&
        collector.on)
        duty_start(&collector.flusher, "gpurt-flusher", flusher_run, NULL);
    nvml_start();
}

/* Kinds can be enabled at any time; what ran before is not known. */
static void woken(const gpurt_later_t *ask)
{
    outlet_ask(ask->drainer);
    start(ask->words);
}

void collector_start(void)
{
    const char *words = secure_getenv("GPURT_CUPTI");

    if (words && strcmp(words, "later") == 0)
        dormant_start(woken);
    else if (outlet_wanted())
        start(words);
}

/* The flush is the flusher's, because a driver that hangs would keep us here. */
void collector_sync(void)
{
    struct timespec step = {.tv_nsec = 1000000};

    if (dormant_sleeps() || collector.pid != getpid() || !collector.reader.started)
        return;
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

void collector_stop(void)
{
    if (!dormant_stop() || collector.pid != getpid())
        return;
    nvml_stop();
    sampling_stop();
    if (!duty_stop(&collector.flusher, STOP_MS))
        gpurt_store_relaxed_dev_u64(&collector.xasked_ns, 1); /* relaxed: the bell */
    if (duty_stop(&collector.reader, STOP_MS))
        outlet_close(); /* else it holds the outlet: the drainer sees our end */
}

void collector_forked(void)
{
    dormant_leave();
    outlet_leave();
}
