/* SPDX-License-Identifier: Apache-2.0 */
#include "pcsampler.h"

#include <stdlib.h>
#include <string.h>

enum {
    PCS = 2048,     /* instructions of one call */
    ROUNDS = 64,    /* of one read: 131,072 instructions */
    WORD_BYTES = 8, /* of "stalled_", behind which a reason's name begins */
    /* CUPTI's own 512 MiB hold the first launch up by 0.32 s, these by 0.07. At a period of 2^16
     * samples of a whole H100 fill less than a tenth of it between two looks. */
    BUFFER_BYTES = 16 << 20,
    LOOK_MS = 20 /* CUPTI's threads; 100 of its own */
};

#define PARAMS(type_, name_) type_##Params name_ = {.size = type_##ParamsSize}

/* ---- buffers ------------------------------------------------------------------------- */

static void data_close(CUpti_PCSamplingData *d)
{
    if (d && d->pPcData)
        free(d->pPcData[0].stallReason);
    if (d)
        free(d->pPcData);
    free(d);
}

/* What CUPTI wants to find in a buffer that it shall fill. */
static void data_clear(CUpti_PCSamplingData *d, size_t reasons)
{
    CUpti_PCSamplingPCData *pcs = d->pPcData;
    CUpti_PCSamplingStallReason *first = pcs[0].stallReason;

    memset(first, 0, PCS * reasons * sizeof *first);
    memset(d, 0, sizeof *d);
    d->size = sizeof *d;
    d->collectNumPcs = PCS;
    d->pPcData = pcs;
    for (size_t i = 0; i < PCS; i++)
        pcs[i] = (CUpti_PCSamplingPCData){.size = sizeof *pcs,
                                          .stallReasonCount = reasons,
                                          .stallReason = first + i * reasons};
}

/* Returns: NULL without memory. */
static CUpti_PCSamplingData *data_open(size_t reasons)
{
    CUpti_PCSamplingData *d = calloc(1, sizeof *d);

    if (d)
        d->pPcData = calloc(PCS, sizeof *d->pPcData);
    if (d && d->pPcData)
        d->pPcData[0].stallReason = calloc(PCS * reasons, sizeof *d->pPcData->stallReason);
    if (!d || !d->pPcData || !d->pPcData[0].stallReason) {
        data_close(d);
        return NULL;
    }
    data_clear(d, reasons);
    return d;
}

/* ---- reasons ------------------------------------------------------------------------- */

static uint8_t reason_of(pcsampler_t *s, const char *name, size_t bytes)
{
    uint32_t i = 0;

    bytes = bytes < PCSAMPLER_REASON_TEXT ? bytes : PCSAMPLER_REASON_TEXT - 1;
    while (i < s->reason_count &&
           (strlen(s->reasons[i]) != bytes || memcmp(s->reasons[i], name, bytes) != 0))
        i++;
    if (i == s->reason_count) {
        memcpy(s->reasons[i], name, bytes);
        s->reasons[i][bytes] = '\0';
        s->reason_count++;
    }
    return (uint8_t)i;
}

/* "smsp__pcsamp_warps_issue_stalled_barrier_not_issued": barrier, of schedulers that idled. */
static void way_set(pcsampler_t *s, size_t index, const char *name)
{
    static const char twin[] = "_not_issued";
    const char *at = strstr(name, "stalled_");
    size_t bytes;

    name = at ? at + WORD_BYTES : name;
    bytes = strlen(name);
    s->ways[index].idle =
        bytes > sizeof twin - 1 && strcmp(name + bytes - (sizeof twin - 1), twin) == 0;
    s->ways[index].number = s->numbers[index];
    s->ways[index].reason =
        reason_of(s, name, bytes - (s->ways[index].idle ? sizeof twin - 1 : 0));
}

static CUptiResult names_read(pcsampler_t *s)
{
    PARAMS(CUpti_PCSamplingGetStallReasons, p);
    char *text = calloc(s->number_count, CUPTI_STALL_REASON_STRING_SIZE);
    char *names[2 * PCSAMPLER_REASONS];
    CUptiResult result;

    if (!text)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < s->number_count; i++)
        names[i] = text + i * CUPTI_STALL_REASON_STRING_SIZE;
    p.ctx = s->context;
    p.numStallReasons = s->number_count;
    p.stallReasonIndex = s->numbers;
    p.stallReasons = names;
    result = s->api->cuptiPCSamplingGetStallReasons(&p);
    for (size_t i = 0; i < s->number_count && result == CUPTI_SUCCESS; i++) {
        names[i][CUPTI_STALL_REASON_STRING_SIZE - 1] = '\0';
        way_set(s, i, names[i]);
    }
    free(text);
    return result;
}

static CUptiResult reasons_read(pcsampler_t *s)
{
    PARAMS(CUpti_PCSamplingGetNumStallReasons, p);
    CUptiResult result;

    p.ctx = s->context;
    p.numStallReasons = &s->number_count;
    result = s->api->cuptiPCSamplingGetNumStallReasons(&p);
    if (result != CUPTI_SUCCESS)
        return result;
    if (s->number_count == 0 || s->number_count > 2 * PCSAMPLER_REASONS)
        return CUPTI_ERROR_NOT_SUPPORTED;
    s->numbers = calloc(s->number_count, sizeof *s->numbers);
    return s->numbers ? names_read(s) : CUPTI_ERROR_OUT_OF_MEMORY;
}

/* ---- samples ------------------------------------------------------------------------- */

/* Returns: false for a number that this GPU has not told. */
static bool way_find(const pcsampler_t *s, uint32_t number, size_t *index)
{
    for (*index = 0; *index < s->number_count; ++*index)
        if (s->ways[*index].number == number)
            return true;
    return false;
}

/* A reason and its twin become one sample. The name stays with CUPTI, against its header: later
 * records of the function bear the same one. */
static void pc_tell(const pcsampler_t *s, const CUpti_PCSamplingPCData *pc,
                    pcsampler_each_fn *each, void *context)
{
    uint32_t samples[PCSAMPLER_REASONS] = {0}, idle[PCSAMPLER_REASONS] = {0};
    pcsample_t out = {.cubin = pc->cubinCrc,
                      .function = pc->functionName ? pc->functionName : "(no name)",
                      .offset = pc->pcOffset};
    size_t at;

    for (size_t i = 0; i < pc->stallReasonCount && i < s->number_count; i++) {
        const CUpti_PCSamplingStallReason *r = &pc->stallReason[i];

        if (r->samples == 0 || !way_find(s, r->pcSamplingStallReasonIndex, &at))
            continue;
        (s->ways[at].idle ? idle : samples)[s->ways[at].reason] += r->samples;
    }
    for (uint32_t i = 0; i < s->reason_count; i++) {
        out.reason = s->reasons[i];
        out.samples = samples[i];
        out.idle = idle[i];
        if (out.samples || out.idle)
            each(context, &out);
    }
}

static void data_tell(pcsampler_t *s, CUpti_PCSamplingData *d, pcsampler_each_fn *each,
                      void *context)
{
    s->lost += d->droppedSamples;
    s->full |= d->hardwareBufferFull != 0;
    for (size_t i = 0; i < d->totalNumPcs && i < PCS; i++)
        pc_tell(s, &d->pPcData[i], each, context);
}

/* ---- on and off ---------------------------------------------------------------------- */

static CUptiResult configure(pcsampler_t *s, uint32_t period)
{
    CUpti_PCSamplingConfigurationInfo of[6] = {
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE},
        {.attributeType =
             CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_WORKER_THREAD_PERIODIC_SLEEP_SPAN},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD}};
    PARAMS(CUpti_PCSamplingConfigurationInfo, p);

    of[0].attributeData.collectionModeData.collectionMode =
        CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
    of[1].attributeData.stallReasonData.stallReasonCount = s->number_count;
    of[1].attributeData.stallReasonData.pStallReasonIndex = s->numbers;
    of[2].attributeData.samplingDataBufferData.samplingDataBuffer = s->kept;
    of[3].attributeData.hardwareBufferSizeData.hardwareBufferSize = BUFFER_BYTES;
    of[4].attributeData.workerThreadPeriodicSleepSpanData.workerThreadPeriodicSleepSpan =
        LOOK_MS;
    of[5].attributeData.samplingPeriodData.samplingPeriod = period;
    p.ctx = s->context;
    p.numAttributes = period ? 6 : 5;
    p.pPCSamplingConfigurationInfo = of;
    return s->api->cuptiPCSamplingSetConfigurationAttribute(&p);
}

static CUptiResult enabled_prepare(pcsampler_t *s, uint32_t period, const char **what)
{
    CUptiResult result;

    *what = "why warps stand";
    result = reasons_read(s);
    if (result != CUPTI_SUCCESS)
        return result;
    *what = "how to sample";
    s->kept = data_open(s->number_count);
    s->out = data_open(s->number_count);
    if (!s->kept || !s->out)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    return configure(s, period);
}

static CUptiResult disable(const pcsampler_t *s)
{
    PARAMS(CUpti_PCSamplingDisable, p);

    p.ctx = s->context;
    return s->api->cuptiPCSamplingDisable(&p);
}

static void forget(pcsampler_t *s)
{
    data_close(s->kept);
    data_close(s->out);
    free(s->numbers);
    memset(s, 0, sizeof *s);
}

CUptiResult pcsampler_arm(pcsampler_t *s, const pcsampling_api_t *api, CUcontext context,
                          uint32_t period, const char **what)
{
    PARAMS(CUpti_PCSamplingEnable, p);
    CUptiResult result;

    s->api = api;
    s->context = p.ctx = context;
    *what = "start";
    result = api->cuptiPCSamplingEnable(&p);
    if (result == CUPTI_SUCCESS) {
        result = enabled_prepare(s, period, what);
        if (result != CUPTI_SUCCESS)
            disable(s);
    }
    if (result != CUPTI_SUCCESS)
        forget(s);
    return result;
}

CUptiResult pcsampler_read(pcsampler_t *s, pcsampler_each_fn *each, void *context)
{
    PARAMS(CUpti_PCSamplingGetData, p);
    CUptiResult result = CUPTI_SUCCESS;

    s->full = false;
    p.ctx = s->context;
    p.pcSamplingData = s->out;
    for (int round = 0; round < ROUNDS && result == CUPTI_SUCCESS; round++) {
        data_clear(s->out, s->number_count);
        result = s->api->cuptiPCSamplingGetData(&p);
        data_tell(s, s->out, each, context);
        if (s->out->remainingNumPcs == 0 || s->out->totalNumPcs == 0)
            break;
    }
    return result == CUPTI_SUCCESS && s->full ? CUPTI_ERROR_OUT_OF_MEMORY : result;
}

CUptiResult pcsampler_disarm(pcsampler_t *s, pcsampler_each_fn *each, void *context)
{
    CUptiResult result = disable(s);

    if (result == CUPTI_SUCCESS)
        data_tell(s, s->kept, each, context);
    forget(s);
    return result;
}

void pcsampler_abandon(pcsampler_t *s)
{
    s->kept = NULL;
    s->numbers = NULL; /* that was part of how to sample */
    forget(s);
}
