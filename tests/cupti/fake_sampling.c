/* SPDX-License-Identifier: Apache-2.0 */
/* PM sampling of the stand-in: a chip of two devices that knows some of the metrics, and whose
 * samples come as time goes by. FAKE_PM: "forbidden" (for administrators alone), "busy"
 * (another tool has them), "second" (the second device is), "passes" (three metrics fit into
 * one pass), "flood" (too many come for the third look, and then none before a new start),
 * "strange" (times of another clock), "backwards" (one of three ends before it begins), "slow" (a second until it counts), "hang" (a look never
 * comes back). */
#include "fake_cupti.h"

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DEVICES = 2,
    METRICS = 8,
    SAMPLES = 4096
};

struct CUpti_Profiler_Host_Object {
    const char *names[METRICS];
    size_t count;
};
struct CUpti_PmSampling_Object {
    uint64_t interval, next;
    int open, on, looks, full;
};
/* What a counter data image holds. */
typedef struct image {
    uint64_t count;
    struct {
        uint64_t start, end;
    } samples[SAMPLES];
} image_t;

static struct CUpti_PmSampling_Object objects[DEVICES];
static int hosts;

static int mode_is(const char *word)
{
    const char *mode = getenv("FAKE_PM");

    return mode && strcmp(mode, word) == 0;
}

/* The second name of tensor is known here, the first is not; warps are not at all. */
static double value_of(const char *name)
{
    static const struct {
        const char *name;
        double value;
    } known[] = {{"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", 91.5},
                 {"sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed", 10.125},
                 {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 42.25},
                 {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 33}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].value;
    return -1;
}

/* What decodes is a library that is loaded late, so its exit handlers run early: behind them
 * nothing of it may be called. */
static int gone;

static void leave(void)
{
    gone = 1;
}

static void need_here(void)
{
    if (gone)
        abort();
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *p)
{
    static int loaded;

    if (!loaded++)
        atexit(leave);
    return p->structSize == CUpti_Profiler_Initialize_Params_STRUCT_SIZE
               ? CUPTI_SUCCESS
               : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *p)
{
    static int asked;

    if (asked++ < 2) /* the driver is not there yet */
        return CUPTI_ERROR_NOT_INITIALIZED;
    p->pChipName = "FAKE100"; /* of devices that are not there, too */
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiPmSamplingGetCounterAvailability(CUpti_PmSampling_GetCounterAvailability_Params *p)
{
    if (p->deviceIndex >= DEVICES)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (mode_is("forbidden"))
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    if (!p->pCounterAvailabilityImage)
        p->counterAvailabilityImageSize = 64;
    else
        memset(p->pCounterAvailabilityImage, 7, 64);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *p)
{
    if (p->profilerType != CUPTI_PROFILER_TYPE_PM_SAMPLING ||
        p->pCounterAvailabilityImage[63] != 7)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (mode_is("slow")) {
        atexit(leave); /* of what it loads just now */
        usleep(100000);
        need_here();
    }
    p->pHostObject = calloc(1, sizeof *p->pHostObject);
    hosts++;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *p)
{
    need_here();
    free(p->pHostObject);
    hosts--;
    return CUPTI_SUCCESS;
}

/* One unknown name spoils the whole object. */
CUptiResult
cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *p)
{
    struct CUpti_Profiler_Host_Object *host = p->pHostObject;

    for (size_t i = 0; i < p->numMetrics; i++) {
        if (value_of(p->ppMetricNames[i]) < 0 || host->count == METRICS)
            return CUPTI_ERROR_INVALID_METRIC_NAME;
        host->names[host->count++] = p->ppMetricNames[i];
    }
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *p)
{
    p->configImageSize = sizeof(size_t);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *p)
{
    memcpy(p->pConfigImage, &p->pHostObject->count, sizeof(size_t));
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *p)
{
    size_t count;

    memcpy(&count, p->pConfigImage, sizeof count);
    p->numOfPasses = mode_is("passes") && count > 3 ? 2 : 1;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params *p)
{
    struct CUpti_PmSampling_Object *o = &objects[p->deviceIndex];

    if (mode_is("busy") || (mode_is("second") && p->deviceIndex == 1))
        return CUPTI_ERROR_HARDWARE_BUSY;
    o->open = 1;
    o->full = 0; /* which a stop and a start do not change */
    p->pPmSamplingObject = o;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params *p)
{
    if (p->triggerMode != CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL)
        return CUPTI_ERROR_NOT_SUPPORTED;
    p->pPmSamplingObject->interval = p->samplingInterval;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params *p)
{
    p->counterDataSize = sizeof(image_t);
    return p->maxSamples <= SAMPLES ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiPmSamplingCounterDataImageInitialize(
    CUpti_PmSampling_CounterDataImage_Initialize_Params *p)
{
    memset(p->pCounterData, 0, sizeof(uint64_t));
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params *p)
{
    p->pPmSamplingObject->next = fake_cupti.time();
    p->pPmSamplingObject->on = 1;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params *p)
{
    need_here();
    p->pPmSamplingObject->on = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params *p)
{
    need_here();
    p->pPmSamplingObject->open = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params *p)
{
    struct CUpti_PmSampling_Object *o = p->pPmSamplingObject;
    image_t *image = (image_t *)(void *)p->pCounterDataImage;
    uint64_t now = fake_cupti.time(), other = mode_is("strange") ? now - 3600000000000 : 0;

    if (mode_is("hang"))
        pause(); /* its thread is left behind, and reads nothing any more */
    need_here();
    if (o->full) {
        p->overflow = 1;
        return CUPTI_ERROR_OUT_OF_MEMORY;
    }
    for (; o->next + o->interval <= now && image->count < SAMPLES; image->count++) {
        image->samples[image->count].start = o->next - other;
        o->next += o->interval;
        image->samples[image->count].end = o->next - other;
        if (o->looks == 0 && image->count == 0) /* as CUPTI tells of the first one */
            image->samples[0].start -= 400000000;
        if (mode_is("backwards") && image->count % 3 == 1)
            image->samples[image->count].start = image->samples[image->count].end + 1;
    }
    o->looks++;
    o->full = mode_is("flood") && o->looks == 3;
    p->overflow = (uint8_t)o->full;
    return o->full ? CUPTI_ERROR_OUT_OF_MEMORY : CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params *p)
{
    p->numCompletedSamples = ((const image_t *)(const void *)p->pCounterDataImage)->count;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(
    CUpti_PmSampling_CounterData_GetSampleInfo_Params *p)
{
    const image_t *image = (const image_t *)(const void *)p->pCounterDataImage;

    p->startTimestamp = image->samples[p->sampleIndex].start;
    p->endTimestamp = image->samples[p->sampleIndex].end;
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *p)
{
    for (size_t i = 0; i < p->numMetrics; i++)
        p->pMetricValues[i] = value_of(p->ppMetricNames[i]);
    return CUPTI_SUCCESS;
}

/* When all is over nothing is left on: an exit handler of the library, run last. */
__attribute__((destructor)) static void left_check(void)
{
    const char *path = getenv("FAKE_PM_LEFT");
    FILE *out = path && !mode_is("hang") ? fopen(path, "w") : NULL; /* its thread lives */

    if (!out)
        return;
    fprintf(out, "%d\n",
            hosts + objects[0].on + objects[0].open + objects[1].on + objects[1].open);
    fclose(out);
}
