/* SPDX-License-Identifier: Apache-2.0 */
/* PC sampling of the stand-in, as an H200 answered (docs/CUPTI.md). What runs is said by the test
 * (fake_cupti.lines); samples of it come as time goes by. FAKE_PC: "forbidden" (for administrators
 * alone), "virtual", "mig", "busy", "strange" (an error that says nothing), "reasonless" (no reasons are known), "unset" (no
 * configuration is taken), "full" (the third look finds the buffer full, and all behind it), "fills" (a buffer that was not looked at for two seconds is full), "torn" (looks fail), "once" (one look fails), "drops" (the hardware loses some), "placeless" (a context has no device)).
 * Records of a function bear one name, which is allocated once, and handed out again in later looks: whoever
 * frees it has freed what comes next. */
#include "fake_inside.h"

#include <cupti_pcsampling.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CONTEXTS = 64,
    NAMES = 10,
    FUNCTIONS = 4096,
    FIRST = 3,           /* numbers of reasons need not begin with 0 */
    TWIN = 100,          /* a reason's number, and that of its twin */
    A_LOOK = 100,        /* samples of weight 1 in each look */
    LATE_MS = 100,       /* a kernel's last samples come so long behind its end */
    FILLS_MS = 2000,     /* "fills" */
    HARDWARE = 16 << 20, /* bytes; the first launch waits longer for more */
    WAKE_LEAST_MS = 10
};

static const char *const names[NAMES] = {
    "barrier",         "branch_resolving",   "lg_throttle",
    "long_scoreboard", "math_pipe_throttle", "membar",
    "selected",        "sleeping",           "wait",
    "a_new_one"};

typedef struct armed {
    CUcontext context; /* NULL: free */
    int configured, deaf, looks;
    CUpti_PCSamplingData *kept;
    uint32_t next;   /* place that the next call begins with */
    uint64_t got_ns; /* the last look */
    int full;
    uint64_t late_ns; /* a kernel ended whose last samples come so late; 0: none */
} armed_t;

static struct {
    pthread_mutex_t lock;
    armed_t of[CONTEXTS];
    const fake_line_t *runs; /* NULL: nothing */
    const fake_line_t *ran;  /* last */
    uint32_t run_count, ran_count, context;
    int arms, disarms, looks;
} pc = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int mode_is(const char *word)
{
    const char *mode = getenv("FAKE_PC");

    return mode && strcmp(mode, word) == 0;
}

static void wrong(const char *what)
{
    fprintf(stderr, "stand-in for CUPTI: %s\n", what);
    abort();
}

static uint32_t period_wanted(void)
{
    const char *text = getenv("GPURT_CUPTI_LINES_PERIOD");
    int period = text ? atoi(text) : 20;

    return period < 16 || period > 31 ? 20 : (uint32_t)period;
}

static armed_t *armed_of(CUcontext context)
{
    for (int i = 0; i < CONTEXTS; i++)
        if (pc.of[i].context == context)
            return &pc.of[i];
    return NULL;
}

static CUptiResult refusal(void)
{
    return mode_is("forbidden") ? CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
           : mode_is("virtual") ? CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED
           : mode_is("mig")     ? CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED
           : mode_is("busy")    ? CUPTI_ERROR_HARDWARE_BUSY
           : mode_is("strange") ? CUPTI_ERROR_UNKNOWN
                                : CUPTI_SUCCESS;
}

int fake_pc_is_armed(void)
{
    int count = 0;

    pthread_mutex_lock(&pc.lock);
    for (int i = 0; i < CONTEXTS; i++)
        count += pc.of[i].context != NULL;
    pthread_mutex_unlock(&pc.lock);
    return count;
}

/* ---- CUPTI's entry points ------------------------------------------------------------ */

CUptiResult cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams *p)
{
    CUptiResult result = refusal();
    armed_t *a;

    if (p->size != CUpti_PCSamplingEnableParamsSize)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (result != CUPTI_SUCCESS)
        return result;
    pthread_mutex_lock(&pc.lock);
    if (armed_of(p->ctx))
        wrong("a context is armed twice");
    a = armed_of(NULL);
    *a = (armed_t){.context = p->ctx, .deaf = pc.runs != NULL};
    pc.arms++;
    pthread_mutex_unlock(&pc.lock);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams *p)
{
    *p->numStallReasons = 2 * NAMES;
    return mode_is("reasonless") ? CUPTI_ERROR_NOT_SUPPORTED : CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams *p)
{
    for (size_t i = 0; i < p->numStallReasons; i++) {
        p->stallReasonIndex[i] = FIRST + (uint32_t)(i % NAMES) + (i < NAMES ? 0 : TWIN);
        snprintf(p->stallReasons[i], CUPTI_STALL_REASON_STRING_SIZE,
                 "smsp__pcsamp_warps_issue_stalled_%s%s", names[i % NAMES],
                 i < NAMES ? "" : "_not_issued");
    }
    return CUPTI_SUCCESS;
}

/* Continuous mode, all reasons, a buffer, a period that is one. */
CUptiResult
cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams *p)
{
    armed_t *a = armed_of(p->ctx);
    int good = 0;

    for (size_t i = 0; i < p->numAttributes; i++) {
        const CUpti_PCSamplingConfigurationInfo *c = &p->pPCSamplingConfigurationInfo[i];

        if (c->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE)
            good += c->attributeData.collectionModeData.collectionMode ==
                    CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
        if (c->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON)
            good += c->attributeData.stallReasonData.stallReasonCount == 2 * NAMES;
        if (c->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
            good += c->attributeData.samplingPeriodData.samplingPeriod == period_wanted();
        if (c->attributeType ==
            CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE)
            good += c->attributeData.hardwareBufferSizeData.hardwareBufferSize == HARDWARE;
        if (c->attributeType ==
            CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_WORKER_THREAD_PERIODIC_SLEEP_SPAN)
            good += c->attributeData.workerThreadPeriodicSleepSpanData
                        .workerThreadPeriodicSleepSpan >= WAKE_LEAST_MS;
        if (c->attributeType ==
            CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER) {
            a->kept = c->attributeData.samplingDataBufferData.samplingDataBuffer;
            good += a->kept->size == sizeof *a->kept && a->kept->collectNumPcs > 0;
        }
    }
    a->configured = good == 6;
    return a->configured && !mode_is("unset") ? CUPTI_SUCCESS
                                              : CUPTI_ERROR_INVALID_OPERATION;
}

static char *name_of(const char *function)
{
    static char *given[FUNCTIONS];
    uint32_t i = 0;

    while (i < FUNCTIONS && given[i] && strcmp(given[i], function) != 0)
        i++;
    if (i == FUNCTIONS)
        wrong("more functions than it knows");
    if (!given[i])
        given[i] = strdup(function);
    return given[i];
}

/* The twin of a reason counts those of its samples in which the scheduler issued nothing. */
static void pc_fill(CUpti_PCSamplingPCData *to, const fake_line_t *from, uint32_t samples)
{
    if (to->size != sizeof *to || to->stallReasonCount != 2 * NAMES)
        wrong("a record is not as CUPTI wants it");
    to->cubinCrc = from->cubin;
    to->pcOffset = from->offset;
    to->functionName = name_of(from->function);
    to->stallReason[0] =
        (CUpti_PCSamplingStallReason){FIRST + from->reason, samples * from->weight};
    to->stallReason[1] = (CUpti_PCSamplingStallReason){FIRST + TWIN + from->reason,
                                                       samples * from->weight / 2};
    to->stallReasonCount = 2;
}

/* A look's samples are whole hundreds of a place's weight, so that shares are exact. */
static void data_fill(armed_t *a, CUpti_PCSamplingData *out, const fake_line_t *of,
                      uint32_t count)
{
    const size_t most = mode_is("parts") ? 1 : out->collectNumPcs;

    while (a->next < count && out->totalNumPcs < most)
        pc_fill(&out->pPcData[out->totalNumPcs++], &of[a->next++], A_LOOK);
    out->remainingNumPcs = count - a->next;
    a->next = a->next == count ? 0 : a->next;
    out->droppedSamples = mode_is("drops") ? 5 : 0;
}

/* It waits for the kernel that runs, and the program's launches wait for it. */
CUptiResult cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams *p)
{
    armed_t *a;

    pthread_mutex_lock(&pc.lock);
    if (pc.runs)
        wrong("Disable while a kernel runs");
    a = armed_of(p->ctx);
    if (a && a->late_ns)
        data_fill(a, a->kept, pc.ran, pc.ran_count);
    if (a)
        a->context = NULL;
    pc.disarms += a != NULL;
    pthread_mutex_unlock(&pc.lock);
    return a ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

/* Of a kernel that runs, or has just ended. */
static void data_get(armed_t *a, CUpti_PCSamplingData *out)
{
    if (pc.runs)
        data_fill(a, out, pc.runs, pc.run_count);
    else if (a->late_ns && fake_cupti.time() >= a->late_ns) {
        data_fill(a, out, pc.ran, pc.ran_count);
        a->late_ns = a->next ? a->late_ns : 0;
    }
}

CUptiResult cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams *p)
{
    CUpti_PCSamplingData *out = p->pcSamplingData;
    CUptiResult result = CUPTI_SUCCESS;
    armed_t *a;

    pthread_mutex_lock(&pc.lock);
    a = armed_of(p->ctx);
    if (!p->ctx || !a || !a->configured)
        wrong("GetData of a context that is not armed");
    pc.looks++;
    a->looks++;
    if (out->size != sizeof *out || out->totalNumPcs || !out->collectNumPcs)
        wrong("a buffer is not as CUPTI wants it");
    a->full |= (mode_is("full") && a->looks >= 3) ||
               (mode_is("fills") && a->got_ns &&
                fake_cupti.time() - a->got_ns > FILLS_MS * 1000000ull);
    a->got_ns = fake_cupti.time();
    if (a->full) {
        out->hardwareBufferFull = 1;
        result = CUPTI_ERROR_OUT_OF_MEMORY;
    } else if (mode_is("torn") || (mode_is("once") && a->looks == 2))
        result = CUPTI_ERROR_UNKNOWN;
    else if (!a->deaf && (uint32_t)(uintptr_t)p->ctx == pc.context)
        data_get(a, out);
    pthread_mutex_unlock(&pc.lock);
    return result;
}

/* An ELF file whose checksum is that of its bytes. */
CUptiResult cuptiGetCubinCrc(CUpti_GetCubinCrcParams *p)
{
    const uint8_t *at = p->cubin;

    p->cubinCrc = 0;
    for (size_t i = 0; i < p->cubinSize; i++)
        p->cubinCrc = p->cubinCrc * 31 + at[i];
    return CUPTI_SUCCESS;
}

/* ---- what a test makes happen -------------------------------------------------------- */

static void resource_tell(CUpti_CallbackId id, CUcontext context, void *descriptor)
{
    CUpti_ResourceData about = {.context = context, .resourceDescriptor = descriptor};

    if (fake.resources >> id & 1)
        fake.told(NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &about);
}

void fake_context(uint32_t number, int begins)
{
    CUcontext context = (CUcontext)(uintptr_t)number;
    armed_t *a;

    resource_tell(begins ? CUPTI_CBID_RESOURCE_CONTEXT_CREATED
                         : CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                  context, NULL);
    if (begins)
        return;
    pthread_mutex_lock(&pc.lock); /* what was armed ends with it */
    a = armed_of(context);
    if (a)
        a->context = NULL;
    pthread_mutex_unlock(&pc.lock);
}

void fake_module(uint32_t context, const void *cubin, size_t bytes)
{
    CUpti_ModuleResourceData module = {.moduleId = 1, .cubinSize = bytes, .pCubin = cubin};

    resource_tell(CUPTI_CBID_RESOURCE_MODULE_LOADED, (CUcontext)(uintptr_t)context,
                  &module);
}

/* A look of several calls is over, so that each look has all. */
static int looks_are_over(void)
{
    int over = 1;

    for (int i = 0; i < CONTEXTS; i++)
        over &= !pc.of[i].context || pc.of[i].next == 0;
    return over;
}

/* What CUPTI had not given out when a kernel ended comes with the next look. */
void fake_lines(uint32_t context, const fake_line_t *lines, uint32_t count)
{
    pthread_mutex_lock(&pc.lock);
    while (!looks_are_over()) {
        pthread_mutex_unlock(&pc.lock);
        usleep(1000);
        pthread_mutex_lock(&pc.lock);
    }
    if (!count) {
        pc.ran = pc.runs;
        pc.ran_count = pc.run_count;
    }
    pc.runs = count ? lines : NULL;
    pc.run_count = count;
    pc.context = context;
    for (int i = 0; i < CONTEXTS; i++) {
        pc.of[i].next = 0;
        if ((uint32_t)(uintptr_t)pc.of[i].context == context)
            pc.of[i].late_ns = count ? 0 : fake_cupti.time() + LATE_MS * 1000000ull;
        pc.of[i].deaf &= count != 0;
    }
    pthread_mutex_unlock(&pc.lock);
}

int fake_pc_count(int what)
{
    int count;

    pthread_mutex_lock(&pc.lock);
    count = what == FAKE_PC_ARMS      ? pc.arms
            : what == FAKE_PC_DISARMS ? pc.disarms
                                      : pc.looks;
    pthread_mutex_unlock(&pc.lock);
    return count;
}
