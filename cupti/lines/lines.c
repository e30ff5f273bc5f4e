/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "lines.h"

#include "codekeep.h"
#include "counted.h"
#include "cubins.h"
#include "duty.h"
#include "environ.h"
#include "gpuclaim.h"
#include "hosttime.h"
#include "linecount.h"
#include "linewrite.h"
#include "tell.h"
#include "trouble.h"

#include <gpurt/atomic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    PERIOD = 20,       /* 2^20 cycles: 44,000 to 160,000 samples a second of a whole H200 */
    PERIOD_LEAST = 16, /* 2,000,000 a second; below it CUPTI's buffers fill up */
    PERIOD_MOST = 31,
    POLL_MS = 200, /* others saw crashes at 2 ms while modules were unloaded */
    POLL_LEAST_MS = 50,
    POLL_MOST_MS = 10000,
    FAILURES = 3,   /* reads, one behind another, before a GPU is given up */
    QUIET_MS = 250, /* without samples: no kernel runs */
    STEP_MS = 50,
    LAST_MS = 500,   /* at most, for what is on its way as a context or the program ends */
    LEAVE_MS = 500,  /* a context that ends waits so long for a read that is under way */
    STOP_MS = 2000,  /* at exit */
    SYNC_MS = 500,   /* as the program closes its box */
    COMES_MS = 40,   /* until CUPTI has what was sampled: twice its LOOK_MS (pcsampler.c) */
    STOOD_MS = 1000, /* longer than the pause: a read takes up to 300 */
    AFTER_MS = 3000, /* so soon behind it a full buffer comes of that */
    LAUNCH_NS = 930, /* what a launch pays: docs/measured/h100_bench_cupti.tsv */
    COST_MOST = 4,   /* percent, before that is told */
    REASON_TEXT = 160
};

/* A GPU. Whoever makes calls about its context holds the lock, and nobody waits for it. */
typedef struct station {
    pthread_mutex_t lock;
    pcsampler_t sampler; /* armed: sampler.context */
    gpuclaim_t claim; /* held while it is, and behind an end that CUPTI was not told of */
    char taken[TROUBLE_TEXT]; /* by whom, as it was told; empty: by nobody */
    uint32_t failures;
    bool full;         /* nothing comes any more */
    uint64_t heard;    /* samples' records so far */
    uint64_t heard_ns; /* when the last ones came, or it was armed; steady */
    uint64_t lost_told;
    uint64_t xgone; /* a context that ended beside a call; written by: any thread */
} station_t;

static struct {
    const cupti_api_t *cupti;
    pcsampling_api_t api;
    uint32_t period, poll_ms;
    trouble_rank_t rank;  /* of what is refused */
    bool on;              /* fixed before the first callback */
    pthread_mutex_t lock; /* guards the begin */
    bool begun;           /* the thread runs, or has */
    bool cost_told;       /* the thread's, as the next ones */
    bool code_told;       /* trouble's, as the next one */
    bool second_told[LINECOUNT_DEVICES];
    uint64_t looked_ns;                /* steady */
    uint64_t stood_ns, stood_until_ns; /* for so long, at the last time that it did */
    uint64_t launches;                 /* at the last writing */
    duty_t reader;
    uint32_t xended; /* nothing is armed any more; written by: lines_stop */
    station_t of[LINECOUNT_DEVICES];
} lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what is refused ----------------------------------------------------------------- */

/* What to do about it; NULL: CUPTI's own word is all that is known. */
static const char *remedy_of(CUptiResult result)
{
    switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
        return "its driver shows counters to administrators alone; load it with "
               "NVreg_RestrictProfilingToAdminUsers=0, or run with CAP_SYS_ADMIN";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
        return "it is a virtual GPU whose host allows no profiling; its administrator may "
               "(enable_profiling of the vGPU)";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
        return "it is a part of a GPU (MIG), which CUPTI does not sample; use a whole one";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
        return "it computes confidentially, and shows no counters";
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_NOT_COMPATIBLE:
        return "another tool has its counters (Nsight Compute, or DCGM: dcgmi profile "
               "--pause)";
    default:
        return NULL;
    }
}

static void refused(uint32_t device, CUptiResult result, const char *what)
{
    const char *remedy = remedy_of(result);
    char text[REASON_TEXT];

    snprintf(text, sizeof text, "%s: CUPTI says %s", what,
             cupti_api_text(lines.cupti, result));
    trouble_say(lines.rank, "no lines of GPU %u: %s", device, remedy ? remedy : text);
}

/* ---- contexts ------------------------------------------------------------------------ */

static void sample_add(void *context, const pcsample_t *sample)
{
    station_t *s = context;

    s->heard++;
    linewrite_add((uint32_t)(s - lines.of), sample);
}

static void ends(void)
{
    lines_stop();
}

static void read_run(duty_t *duty);

/* What CUPTI loads as it is armed takes itself apart as the program ends, before what was there
 * earlier does: our handler stands behind it, and so is called first. */
static bool begin(void)
{
    bool ok;

    pthread_mutex_lock(&lines.lock);
    if (!lines.begun && linewrite_open() &&
        duty_start(&lines.reader, "gpurt-lines", read_run, NULL)) {
        lines.begun = true;
        atexit(ends);
    }
    ok = lines.begun;
    pthread_mutex_unlock(&lines.lock);
    return ok;
}

/* CUPTI lets one context of a GPU be sampled. */
static void second_tell(uint32_t device)
{
    trouble_once(&lines.second_told[device],
                 "lines of GPU %u are those of its first context: CUPTI samples one at a "
                 "time; kernels of the others have none",
                 device);
}

static void taken_end(station_t *s)
{
    if (s->taken[0])
        trouble_end(s->taken);
    s->taken[0] = '\0';
}

static void taken_tell(station_t *s, uint32_t device, uint32_t holder)
{
    char who[32] = "another process";

    if (holder)
        snprintf(who, sizeof who, "process %u", holder);
    taken_end(s);
    snprintf(
        s->taken, sizeof s->taken,
        "no lines of GPU %u: %s has them, and CUPTI samples one program at a time; end "
        "it, or start it without lines: contexts made after that have lines here",
        device, who);
    trouble_say(lines.rank, "%s", s->taken);
}

/* Where it is not known which GPU it is, CUPTI is asked all the same. */
static bool station_claim(station_t *s, uint32_t device)
{
    uint8_t uuid[GPUCLAIM_UUID];
    uint32_t holder;

    if (gpuclaim_uuid(device, uuid) && !gpuclaim_take(&s->claim, uuid, &holder)) {
        taken_tell(s, device, holder);
        return false;
    }
    taken_end(s);
    return true;
}

/* Returns: false: CUPTI refuses. */
static bool station_arm(station_t *s, CUcontext context, uint32_t device)
{
    const char *what = "";
    CUptiResult result;

    gpurt_store_relaxed_dev_u64(&s->xgone, 0); /* relaxed: under the lock */
    result = pcsampler_arm(&s->sampler, &lines.api, context, lines.period, &what);
    s->failures = 0;
    s->full = false;
    s->heard_ns = gpurt_steady_ns();
    s->lost_told = 0;
    if (result == CUPTI_SUCCESS) {
        if (!begin())
            trouble_say(TROUBLE_PART, "no lines: no memory, or no thread to read them");
        return true;
    }
    refused(device, result, what);
    return false;
}

/* A claim that is older than this context stands for what CUPTI still holds of an earlier one. */
static void station_begin(station_t *s, CUcontext context, uint32_t device)
{
    const bool older = s->claim.fd >= 0;

    if (station_claim(s, device) && !station_arm(s, context, device) && !older)
        gpuclaim_drop(&s->claim);
}

/* The lock is taken while somebody reads: then there is a context. */
static void context_begins(CUcontext context)
{
    CUptiResult result;
    uint32_t device;
    station_t *s;

    result = lines.cupti->cuptiGetDeviceId(context, &device);
    if (result != CUPTI_SUCCESS) {
        trouble_say(lines.rank, "no lines of a context: which GPU it is of: CUPTI says %s",
                    cupti_api_text(lines.cupti, result));
        return;
    }
    if (device >= LINECOUNT_DEVICES) {
        trouble_say(lines.rank, "no lines of GPU %u: %d are sampled at most", device,
                    LINECOUNT_DEVICES);
        return;
    }
    s = &lines.of[device];
    if (pthread_mutex_trylock(&s->lock) != 0) {
        second_tell(device);
        return;
    }
    if (s->sampler.context)
        second_tell(device);
    else
        station_begin(s, context, device);
    pthread_mutex_unlock(&s->lock);
}

/* The context ended while a call about it was under way. */
static bool station_is_gone(station_t *s)
{
    /* relaxed: as stored */
    uint64_t gone = gpurt_load_relaxed_dev_u64(&s->xgone);

    if (!gone || gone != (uint64_t)(uintptr_t)s->sampler.context)
        return false;
    pcsampler_abandon(&s->sampler);
    return true;
}

static CUptiResult station_read(station_t *s)
{
    const uint64_t heard = s->heard;
    CUptiResult result = pcsampler_read(&s->sampler, sample_add, s);

    if (s->heard != heard)
        s->heard_ns = gpurt_steady_ns();
    return result;
}

static void rest_ms(long ms)
{
    const struct timespec step = {.tv_nsec = ms * 1000000};

    nanosleep(&step, NULL);
}

/* What is on its way comes, and no kernel runs any more: one that runs is heard of each time that
 * CUPTI's own thread looks (LOOK_MS of pcsampler.c). Returns: false where that is not so in time. */
static bool station_is_quiet(station_t *s)
{
    for (int ms = 0; !s->full && ms <= LAST_MS; ms += STEP_MS) {
        if (ms)
            rest_ms(STEP_MS);
        if (station_read(s) != CUPTI_SUCCESS)
            return false;
        if (gpurt_steady_ns() - s->heard_ns >= QUIET_MS * 1000000ull)
            return true;
    }
    return false;
}

/* It is disarmed only where no kernel runs: for why, see station_full. Else it stays armed, and
 * ends with its context. */
static void station_disarm(station_t *s)
{
    if (station_is_quiet(s)) {
        pcsampler_disarm(&s->sampler, sample_add, s);
        gpuclaim_drop(&s->claim);
    } else
        pcsampler_abandon(&s->sampler);
}

/* A read takes a moment; what takes longer waits for something that this thread may hold. */
static bool station_enter(station_t *s)
{
    for (int ms = 0; ms < LEAVE_MS; ms++) {
        if (pthread_mutex_trylock(&s->lock) == 0)
            return true;
        rest_ms(1);
    }
    return false;
}

static void station_leave(station_t *s, CUcontext context)
{
    if (!station_enter(s)) {
        /* relaxed: whoever is in there looks when it comes out */
        gpurt_store_relaxed_dev_u64(&s->xgone, (uint64_t)(uintptr_t)context);
        return;
    }
    if (s->sampler.context == context)
        station_disarm(s);
    pthread_mutex_unlock(&s->lock);
}

static void context_ends(CUcontext context)
{
    uint32_t device;

    if (lines.cupti->cuptiGetDeviceId(context, &device) == CUPTI_SUCCESS &&
        device < LINECOUNT_DEVICES)
        station_leave(&lines.of[device], context);
}

static void module_begins(const CUpti_ModuleResourceData *module)
{
    uint64_t crc;
    bool lined;

    if (!module || !module->pCubin)
        return;
    lined = cubins_has_lines(module->pCubin, module->cubinSize);
    if ((!lined && !codekeep_is_on()) ||
        !cubins_crc(module->pCubin, module->cubinSize, &crc))
        return;
    if (codekeep_is_on())
        codekeep_put(crc, module->pCubin, module->cubinSize);
    if (lined && !cubins_keep(crc, module->pCubin, module->cubinSize))
        trouble_once(&lines.code_told,
                     "source lines of modules that come later are not known: there is no "
                     "room for more code; functions are told");
}

void lines_told(CUpti_CallbackId id, const CUpti_ResourceData *about)
{
    /* relaxed: as stored */
    if (!lines.on || (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED &&
                      gpurt_load_relaxed_dev_u32(&lines.xended)))
        return;
    switch (id) {
    case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
        context_begins(about->context);
        break;
    case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
        context_ends(about->context);
        break;
    case CUPTI_CBID_RESOURCE_MODULE_LOADED:
        module_begins(about->resourceDescriptor);
        break;
    default:
        break;
    }
}

/* ---- reading: the thread ------------------------------------------------------------- */

static void lost_tell(station_t *s)
{
    if (s->sampler.lost == s->lost_told)
        return;
    if (s->lost_told == 0)
        trouble_say(TROUBLE_NOTE,
                    "samples of lines of GPU %u are missing: they came faster than CUPTI "
                    "took them; GPURT_CUPTI_LINES_PERIOD sets a longer period than 2^%u",
                    (uint32_t)(s - lines.of), lines.period);
    s->lost_told = s->sampler.lost;
}

/* Nothing comes any more before it is off and on again. But whoever turns it off while a kernel
 * runs holds up each launch of the program until that kernel ends, for ever if it hangs: so its
 * lines end here. */
static void station_full(station_t *s)
{
    const uint32_t device = (uint32_t)(s - lines.of);

    s->full = true;
    if (lines.stood_ns && lines.looked_ns - lines.stood_until_ns < AFTER_MS * 1000000ull)
        trouble_say(
            TROUBLE_PART,
            "lines of GPU %u end: CUPTI's buffer was full when the program went on; "
            "it was stopped for %.1f s (Ctrl-Z, a debugger), while kernels ran on",
            device, 1e-9 * (double)lines.stood_ns);
    else
        trouble_say(TROUBLE_PART,
                    "lines of GPU %u end: CUPTI's buffer was full; "
                    "GPURT_CUPTI_LINES_PERIOD sets a longer period than 2^%u",
                    device, lines.period);
}

static void station_fails(station_t *s, CUptiResult result)
{
    if (++s->failures < FAILURES)
        return;
    refused((uint32_t)(s - lines.of), result, "what it has");
    pcsampler_abandon(&s->sampler); /* nothing is asked of a driver that does not go on */
}

static void station_look(station_t *s)
{
    CUptiResult result;

    if (pthread_mutex_trylock(&s->lock) != 0)
        return; /* it begins, or ends */
    gpuclaim_answer(&s->claim);
    if (s->sampler.context && !s->full && !station_is_gone(s)) {
        result = station_read(s);
        lost_tell(s);
        if (station_is_gone(s))
            ;
        else if (result == CUPTI_ERROR_OUT_OF_MEMORY)
            station_full(s);
        else if (result != CUPTI_SUCCESS)
            station_fails(s, result);
        else
            s->failures = 0;
    }
    pthread_mutex_unlock(&s->lock);
}

static void station_end(station_t *s)
{
    if (pthread_mutex_trylock(&s->lock) != 0)
        return;
    if (s->sampler.context && !station_is_gone(s))
        station_disarm(s);
    pthread_mutex_unlock(&s->lock);
}

/* ---- the cost ------------------------------------------------------------------------ */

/* It cannot be turned off: CUPTI does not come back from that while the program launches
 * (docs/CUPTI.md). */
static void cost_look(uint64_t ns)
{
    const uint64_t all = counted_is_on() ? counted_all() : 0, more = all - lines.launches;
    const double second = ns ? 1e9 / (double)ns * (double)more : 0,
                 percent = second * LAUNCH_NS / 1e7;

    lines.launches = all;
    if (lines.cost_told || percent < COST_MOST)
        return;
    lines.cost_told = true;
    trouble_say(TROUBLE_NOTE,
                "lines cost a launch about a microsecond: at %.0f launches a second some "
                "%.0f%% of the time; GPURT_CUPTI=counted,running goes without them",
                second, percent);
}

/* ---- the thread ---------------------------------------------------------------------- */

static void write_look(bool last)
{
    const uint64_t ns = linewrite_look(last);

    if (ns)
        cost_look(ns);
}

/* Somebody waits for the first samples. */
static uint32_t pause_ms(void)
{
    return linewrite_begun() ? lines.poll_ms : POLL_LEAST_MS;
}

/* A program that is stopped takes this thread along, and CUPTI's that empty its buffer. */
static void stand_look(void)
{
    const uint64_t now = gpurt_steady_ns(), ns = now - lines.looked_ns;

    if (lines.looked_ns && ns > (lines.poll_ms + STOOD_MS) * 1000000ull) {
        lines.stood_ns = ns;
        lines.stood_until_ns = now;
    }
    lines.looked_ns = now;
}

static void read_run(duty_t *duty)
{
    while (duty_wait(duty, pause_ms())) {
        if (duty_is_asked(duty))
            rest_ms(COMES_MS);
        stand_look();
        for (uint32_t i = 0; i < LINECOUNT_DEVICES; i++)
            station_look(&lines.of[i]);
        write_look(duty_is_asked(duty));
    }
    for (uint32_t i = 0; i < LINECOUNT_DEVICES; i++)
        station_look(&lines.of[i]);
    write_look(true); /* before what may take longer than anybody waits */
    for (uint32_t i = 0; i < LINECOUNT_DEVICES; i++)
        station_end(&lines.of[i]);
    write_look(true);
}

/* ---- start and stop ------------------------------------------------------------------ */

/* A number of the environment; what is out of its bounds is told, and is the usual one. */
static uint32_t number_read(const char *name, uint32_t least, uint32_t most, uint32_t usual)
{
    uint64_t number = gpurt_tell_number(name, gpurt_env_get(name), usual);

    if (number >= least && number <= most)
        return (uint32_t)number;
    trouble_say(TROUBLE_NOTE, "%s=%llu is not from %u to %u: it is %u", name,
                (unsigned long long)number, least, most, usual);
    return usual;
}

void lines_want(const cupti_api_t *api, CUpti_SubscriberHandle subscriber, bool counters,
                bool asked)
{
    static const CUpti_CallbackId ids[] = {CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
                                           CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                                           CUPTI_CBID_RESOURCE_MODULE_LOADED};
    const char *missing = pcsampling_api_find(api, &lines.api), *code;

    if (lines.on)
        return;
    lines.cupti = api;
    lines.rank = asked ? TROUBLE_PART : TROUBLE_NOTE;
    if (counters) {
        trouble_say(lines.rank, "no lines: CUPTI reads either counters (samples) or "
                                "lines; leave out 'samples' for them");
        return;
    }
    if (missing) {
        trouble_say(lines.rank, "no lines: this CUPTI has no %s; 13.0 or later is needed",
                    missing);
        return;
    }
    lines.period =
        number_read("GPURT_CUPTI_LINES_PERIOD", PERIOD_LEAST, PERIOD_MOST, PERIOD);
    lines.poll_ms =
        number_read("GPURT_CUPTI_LINES_MS", POLL_LEAST_MS, POLL_MOST_MS, POLL_MS);
    for (uint32_t i = 0; i < LINECOUNT_DEVICES; i++)
        lines.of[i] = (station_t){.lock = PTHREAD_MUTEX_INITIALIZER, .claim = {-1}};
    cubins_open(&lines.api);
    code = gpurt_env_get("GPURT_CUPTI_CODE");
    if (code && *code)
        codekeep_open(code);
    lines.on = true;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        if (api->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, ids[i]) !=
            CUPTI_SUCCESS)
            trouble_say(lines.rank, "no lines: CUPTI tells of no contexts");
}

void lines_unasked(void)
{
    const char *code = gpurt_env_get("GPURT_CUPTI_CODE");

    if (code && *code && !lines.on)
        trouble_say(TROUBLE_NOTE,
                    "GPURT_CUPTI_CODE=%s keeps no machine code without lines: add the word "
                    "lines to GPURT_CUPTI",
                    code);
}

/* The claim is the parent's, and ends with it. Nobody else runs here, so no lock is taken. */
void lines_forked(void)
{
    for (uint32_t i = 0; lines.on && i < LINECOUNT_DEVICES; i++)
        gpuclaim_drop(&lines.of[i].claim);
}

void lines_sync(void)
{
    if (!duty_ask(&lines.reader, SYNC_MS)) /* there is no log to say it in any more */
        fprintf(stderr,
                "gpurt: the last lines are not in the log: CUPTI did not give "
                "samples out within %d ms; GPURT_CUPTI=default records kernels "
                "without lines\n",
                SYNC_MS);
}

void lines_stop(void)
{
    gpurt_store_relaxed_dev_u32(&lines.xended, 1); /* relaxed: one may slip by */
    duty_stop(&lines.reader, STOP_MS);
}
