/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "sampling.h"

#include "capacity.h"
#include "duty.h"
#include "environ.h"
#include "hosttime.h"
#include "outlet.h"
#include "sampling_api.h"
#include "tell.h"
#include "trouble.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DEVICES = 8,
    FIRST_MS = 100,    /* the driver is being initialised when we start */
    FIRST_TRIES = 600, /* a minute */
    DECODE_MS =
        50, /* between two looks; with an interval below the default's as many samples */
    DECODE_LEAST_MS = 2,
    STOP_MS = 3000,
    INTERVAL_US = 1000,
    INTERVAL_LEAST_US =
        50,         /* below it they come faster than the hardware's buffer is read */
    SAMPLES = 4096, /* of one look: many times what is due */
    HARDWARE_BYTES = 8 << 20, /* an H200 fills them with some 500 samples */
    NAMES = 4                 /* candidates for a measure */
};
#define SLACK_NS 10000000000ull /* a sample is not older or newer than this */

/* What each measure is called: names differ between chips, the first that one knows is
 * taken. All must fit into one pass; the last ones give way. */
static const char *const candidates[GPURT_SAMPLE_MEASURES][NAMES] = {
    {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {"sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed",
     "sm__inst_executed.avg.pct_of_peak_sustained_elapsed"},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed",
     "dramc__throughput.avg.pct_of_peak_sustained_elapsed",
     "dram__read_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"sm__inst_executed_pipe_tensor_realtime.avg.pct_of_peak_sustained_elapsed",
     "sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
     "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
     "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_elapsed"},
    {"tpc__warps_active_realtime.avg.pct_of_peak_sustained_elapsed",
     "sm__warps_active_realtime.avg.pct_of_peak_sustained_elapsed",
     "sm__warps_active.avg.pct_of_peak_sustained_elapsed"},
};

/* A GPU that is sampled. */
typedef struct meter {
    size_t device;
    const char *chip;
    uint8_t *available, *config, *image;
    size_t available_bytes, config_bytes, image_bytes;
    CUpti_Profiler_Host_Object *host;
    CUpti_PmSampling_Object *object;
    uint32_t count; /* of metrics */
    const char *metrics[GPURT_SAMPLE_MEASURES];
    uint32_t measures[GPURT_SAMPLE_MEASURES]; /* which measure each metric is */
    bool warned;                              /* that it lost samples */
} meter_t;

static struct {
    const cupti_api_t *cupti;
    sampling_api_t api;
    duty_t duty;
    uint32_t interval_us;
    meter_t meters[DEVICES];
    uint32_t count;     /* of meters that run */
    uint64_t xleft_out; /* samples; written by: its thread */
} sampling;

static uint64_t interval_ns(void)
{
    return sampling.interval_us * 1000ull;
}

#define PARAMS(type_, name_) type_ name_ = {.structSize = type_##_STRUCT_SIZE}

/* It may be before there is a log. */
#define warn(...) trouble_say(TROUBLE_NOTE, __VA_ARGS__)

static void refused(const meter_t *m, CUptiResult result, const char *what)
{
    if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
        result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
        warn(
            "no samples of GPU %zu: its driver shows counters to administrators alone; "
            "load it with NVreg_RestrictProfilingToAdminUsers=0, or run with CAP_SYS_ADMIN",
            m->device);
    else if (result == CUPTI_ERROR_HARDWARE_BUSY)
        warn("no samples of GPU %zu: another tool has its counters (DCGM: dcgmi profile "
             "--pause)",
             m->device);
    else
        warn("no samples of GPU %zu: %s: CUPTI says %s", m->device, what,
             cupti_api_text(sampling.cupti, result));
}

/* ---- what is measured ---------------------------------------------------------------- */

static CUptiResult host_open(const meter_t *m, CUpti_Profiler_Host_Object **host)
{
    PARAMS(CUpti_Profiler_Host_Initialize_Params, p);
    CUptiResult result;

    p.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
    p.pChipName = m->chip;
    p.pCounterAvailabilityImage = m->available;
    result = sampling.api.cuptiProfilerHostInitialize(&p);
    *host = result == CUPTI_SUCCESS ? p.pHostObject : NULL;
    return result;
}

static void host_close(CUpti_Profiler_Host_Object **host)
{
    PARAMS(CUpti_Profiler_Host_Deinitialize_Params, p);

    p.pHostObject = *host;
    if (*host)
        sampling.api.cuptiProfilerHostDeinitialize(&p);
    *host = NULL;
}

static CUptiResult host_add(CUpti_Profiler_Host_Object *host, const char **names,
                            size_t count)
{
    PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, p);

    p.pHostObject = host;
    p.ppMetricNames = names;
    p.numMetrics = count;
    return sampling.api.cuptiProfilerHostConfigAddMetrics(&p);
}

/* Whether this chip has that metric: asked of an object of its own, because one that has
 * refused may be left half changed. */
static bool is_known(const meter_t *m, const char *name)
{
    CUpti_Profiler_Host_Object *host;
    bool known =
        host_open(m, &host) == CUPTI_SUCCESS && host_add(host, &name, 1) == CUPTI_SUCCESS;

    host_close(&host);
    return known;
}

static void metrics_choose(meter_t *m)
{
    for (uint32_t i = 0; i < GPURT_SAMPLE_MEASURES && duty_wait(&sampling.duty, 0); i++)
        for (uint32_t k = 0; k < NAMES && candidates[i][k]; k++)
            if (is_known(m, candidates[i][k])) {
                m->metrics[m->count] = candidates[i][k];
                m->measures[m->count++] = i;
                break;
            }
}

/* The configuration of the first m->count metrics. Returns: its passes, 0 on failure. */
static size_t config_make(meter_t *m)
{
    PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
    PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);

    host_close(&m->host);
    free(m->config);
    m->config = NULL;
    if (host_open(m, &m->host) != CUPTI_SUCCESS ||
        host_add(m->host, m->metrics, m->count) != CUPTI_SUCCESS)
        return 0;
    size.pHostObject = m->host;
    if (sampling.api.cuptiProfilerHostGetConfigImageSize(&size) != CUPTI_SUCCESS)
        return 0;
    m->config_bytes = size.configImageSize;
    m->config = malloc(m->config_bytes);
    image.pHostObject = m->host;
    image.pConfigImage = passes.pConfigImage = m->config;
    image.configImageSize = passes.configImageSize = m->config_bytes;
    if (!m->config ||
        sampling.api.cuptiProfilerHostGetConfigImage(&image) != CUPTI_SUCCESS ||
        sampling.api.cuptiProfilerHostGetNumOfPasses(&passes) != CUPTI_SUCCESS)
        return 0;
    return passes.numOfPasses;
}

/* One that needs several passes cannot be sampled: the last metrics give way. */
static bool metrics_fit(meter_t *m)
{
    size_t passes = 0;

    for (; m->count > 0; m->count--) {
        passes = config_make(m);
        if (passes <= 1)
            break;
    }
    return passes == 1;
}

/* ---- a GPU, on and off --------------------------------------------------------------- */

static CUptiResult availability_read(meter_t *m)
{
    PARAMS(CUpti_PmSampling_GetCounterAvailability_Params, p);
    CUptiResult result;

    p.deviceIndex = m->device;
    result = sampling.api.cuptiPmSamplingGetCounterAvailability(&p);
    if (result != CUPTI_SUCCESS)
        return result;
    m->available = malloc(p.counterAvailabilityImageSize);
    p.pCounterAvailabilityImage = m->available;
    return m->available ? sampling.api.cuptiPmSamplingGetCounterAvailability(&p)
                        : CUPTI_ERROR_OUT_OF_MEMORY;
}

static CUptiResult image_reset(meter_t *m)
{
    PARAMS(CUpti_PmSampling_CounterDataImage_Initialize_Params, p);

    p.pPmSamplingObject = m->object;
    p.counterDataSize = m->image_bytes;
    p.pCounterData = m->image;
    return sampling.api.cuptiPmSamplingCounterDataImageInitialize(&p);
}

static CUptiResult image_make(meter_t *m)
{
    PARAMS(CUpti_PmSampling_GetCounterDataSize_Params, p);
    CUptiResult result;

    p.pPmSamplingObject = m->object;
    p.pMetricNames = m->metrics;
    p.numMetrics = m->count;
    p.maxSamples = SAMPLES;
    result = sampling.api.cuptiPmSamplingGetCounterDataSize(&p);
    if (result != CUPTI_SUCCESS)
        return result;
    m->image_bytes = p.counterDataSize;
    m->image = malloc(m->image_bytes);
    return m->image ? image_reset(m) : CUPTI_ERROR_OUT_OF_MEMORY;
}

static CUptiResult counting_start(meter_t *m)
{
    PARAMS(CUpti_PmSampling_Enable_Params, enable);
    PARAMS(CUpti_PmSampling_SetConfig_Params, config);
    PARAMS(CUpti_PmSampling_Start_Params, start);
    CUptiResult result;

    enable.deviceIndex = m->device;
    result = sampling.api.cuptiPmSamplingEnable(&enable);
    if (result != CUPTI_SUCCESS)
        return result;
    m->object = config.pPmSamplingObject = start.pPmSamplingObject =
        enable.pPmSamplingObject;
    config.pConfig = m->config;
    config.configSize = m->config_bytes;
    config.hardwareBufferSize = HARDWARE_BYTES;
    config.samplingInterval = interval_ns();
    config.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
    config.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
    result = sampling.api.cuptiPmSamplingSetConfig(&config);
    if (result == CUPTI_SUCCESS)
        result = image_make(m);
    if (result == CUPTI_SUCCESS)
        result = sampling.api.cuptiPmSamplingStart(&start);
    return result;
}

/* Accepts what is half made, as close does. */
static void counting_stop(meter_t *m)
{
    PARAMS(CUpti_PmSampling_Stop_Params, stop);
    PARAMS(CUpti_PmSampling_Disable_Params, disable);

    stop.pPmSamplingObject = disable.pPmSamplingObject = m->object;
    if (m->object) {
        sampling.api.cuptiPmSamplingStop(&stop);
        sampling.api.cuptiPmSamplingDisable(&disable);
    }
    m->object = NULL;
    free(m->image);
    m->image = NULL;
}

static void meter_close(meter_t *m)
{
    counting_stop(m);
    host_close(&m->host);
    free(m->available);
    free(m->config);
    memset(m, 0, sizeof *m);
}

/* Whether to go on with what takes CUPTI half a second. What it loads for counters it loads as
 * they are first needed, so that its exit handlers come before the collector's: behind each
 * step there is one of ours in front of them. */
static bool step_done(void)
{
    atexit(sampling_stop);
    return duty_wait(&sampling.duty, 0);
}

/* Returns: whether it runs; else it has said why, or nobody wants it any more. *missing: there
 * is no such device. */
static bool meter_open(meter_t *m, bool *missing)
{
    CUptiResult result = availability_read(m);

    *missing = result == CUPTI_ERROR_INVALID_PARAMETER;
    if (*missing)
        return false;
    if (result != CUPTI_SUCCESS) {
        refused(m, result, "its counters");
        return false;
    }
    if (!step_done())
        return false;
    metrics_choose(m);
    if (!step_done())
        return false;
    if (!metrics_fit(m)) {
        warn("no samples of GPU %zu: its chip, %s, has none of the counters that we know",
             m->device, m->chip);
        return false;
    }
    if (!step_done())
        return false;
    result = counting_start(m);
    if (result != CUPTI_SUCCESS)
        refused(m, result, "start");
    return result == CUPTI_SUCCESS && step_done();
}

/* ---- samples ------------------------------------------------------------------------- */

/* In hundredths of a percent; a counter that is not there, or says nonsense: unknown. */
static int32_t hundredths(double percent)
{
    return percent >= 0 && percent < 1e6 ? (int32_t)(percent * 100 + 0.5)
                                         : GPURT_SAMPLE_UNKNOWN;
}

/* CUPTI lets the first one begin as counting was prepared, half a second before; its values
 * are those of one interval. */
static bool sample_read(meter_t *m, size_t index, uint64_t *start,
                        gpurt_activity_sample_t *out)
{
    PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo_Params, info);
    PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, values);
    double value[GPURT_SAMPLE_MEASURES] = {0};
    uint64_t ns;

    info.pPmSamplingObject = m->object;
    info.pCounterDataImage = values.pCounterDataImage = m->image;
    info.counterDataImageSize = values.counterDataImageSize = m->image_bytes;
    info.sampleIndex = values.rangeIndex = index;
    values.pHostObject = m->host;
    values.ppMetricNames = m->metrics;
    values.numMetrics = m->count;
    values.pMetricValues = value;
    if (sampling.api.cuptiPmSamplingCounterDataGetSampleInfo(&info) != CUPTI_SUCCESS ||
        sampling.api.cuptiProfilerHostEvaluateToGpuValues(&values) != CUPTI_SUCCESS ||
        info.endTimestamp < info.startTimestamp)
        return false;
    ns = info.endTimestamp - info.startTimestamp;
    ns = ns < 2 * interval_ns() ? ns : interval_ns();
    *start = info.endTimestamp - ns;
    out->ns = gpurt_pair(ns);
    for (uint32_t i = 0; i < GPURT_SAMPLE_MEASURES; i++)
        out->percent[i] = GPURT_SAMPLE_UNKNOWN;
    for (uint32_t i = 0; i < m->count; i++)
        out->percent[m->measures[i]] = hundredths(value[i]);
    return true;
}

/* Times come by the clock that was registered. Where one cannot be, the last sample of a
 * look is taken to end now, and the others before it. */
static uint64_t clock_error(meter_t *m, size_t count, uint64_t now)
{
    gpurt_activity_sample_t last;
    uint64_t start, end;

    while (count > 0 && !sample_read(m, count - 1, &start, &last))
        count--;
    if (count == 0)
        return 0; /* nor is there one to put */
    end = start + gpurt_pair_value(last.ns);
    return end + SLACK_NS >= now && end <= now + SLACK_NS ? 0 : now - end;
}

static void samples_put(meter_t *m, size_t count)
{
    uint64_t error = clock_error(m, count, gpurt_real_ns());

    if (count == 0 || !outlet_enter(false))
        return;
    for (size_t i = 0; i < count; i++) {
        gpurt_activity_sample_t out;
        uint64_t start;

        if (sample_read(m, i, &start, &out))
            outlet_put(GPURT_KIND_SAMPLE, (uint32_t)m->device, start + error, &out);
        else
            gpurt_add_relaxed_dev_u64(&sampling.xleft_out, 1); /* relaxed: a count */
    }
    outlet_exit();
}

/* A buffer that was full stays as it is; stopped and started alone, an H200 tells no more. */
static bool counting_restart(meter_t *m)
{
    CUptiResult result;

    if (!m->warned)
        warn("samples of GPU %zu are missing: they came faster than they were read; "
             "GPURT_CUPTI_SAMPLE_US sets a longer interval than %u",
             m->device, sampling.interval_us);
    m->warned = true;
    counting_stop(m);
    result = counting_start(m);
    if (result != CUPTI_SUCCESS)
        refused(m, result, "to go on");
    return result == CUPTI_SUCCESS;
}

/* Returns: false: the driver does not go on. */
static bool meter_look(meter_t *m)
{
    PARAMS(CUpti_PmSampling_DecodeData_Params, decode);
    PARAMS(CUpti_PmSampling_GetCounterDataInfo_Params, info);
    CUptiResult result;

    decode.pPmSamplingObject = m->object;
    decode.pCounterDataImage = m->image;
    info.pCounterDataImage = m->image;
    decode.counterDataImageSize = info.counterDataImageSize = m->image_bytes;
    result = sampling.api.cuptiPmSamplingDecodeData(&decode);
    if (result != CUPTI_SUCCESS && result != CUPTI_ERROR_OUT_OF_MEMORY)
        return false;
    if (sampling.api.cuptiPmSamplingGetCounterDataInfo(&info) != CUPTI_SUCCESS)
        return false;
    samples_put(m, info.numCompletedSamples < SAMPLES ? info.numCompletedSamples : SAMPLES);
    return decode.overflow || result != CUPTI_SUCCESS ? counting_restart(m)
                                                      : image_reset(m) == CUPTI_SUCCESS;
}

/* ---- the thread ---------------------------------------------------------------------- */

/* Until the driver is there: before, CUPTI knows no device. Returns: whether to go on. */
static bool driver_wait(duty_t *duty)
{
    PARAMS(CUpti_Profiler_Initialize_Params, initialise);
    PARAMS(CUpti_Device_GetChipName_Params, chip);

    for (int tries = 0; tries < FIRST_TRIES && duty_wait(duty, FIRST_MS); tries++)
        if (sampling.api.cuptiProfilerInitialize(&initialise) == CUPTI_SUCCESS &&
            sampling.api.cuptiDeviceGetChipName(&chip) == CUPTI_SUCCESS)
            return true;
    return false;
}

static void meters_open(void)
{
    const size_t seen = capacity_devices(); /* by the program; CUPTI knows others, too */
    const size_t count = seen && seen < DEVICES ? seen : DEVICES;

    for (size_t device = 0; device < count; device++) {
        meter_t *m = &sampling.meters[sampling.count];
        PARAMS(CUpti_Device_GetChipName_Params, chip);
        bool missing = false;

        chip.deviceIndex = device;
        if (sampling.api.cuptiDeviceGetChipName(&chip) != CUPTI_SUCCESS)
            return; /* there is none, nor any behind it */
        m->device = device;
        m->chip =
            chip.pChipName; /* CUPTI 13.0 has one for devices that are not there, too */
        if (meter_open(m, &missing))
            sampling.count++;
        else
            meter_close(m);
        if (missing)
            return;
    }
}

static void meters_look(void)
{
    for (uint32_t i = 0; i < sampling.count; i++)
        if (!meter_look(&sampling.meters[i])) {
            meter_close(&sampling.meters[i]);
            sampling.meters[i] = sampling.meters[--sampling.count];
            memset(&sampling.meters[sampling.count], 0, sizeof sampling.meters[0]);
        }
}

static uint32_t decode_ms(void)
{
    uint32_t ms = (uint32_t)((uint64_t)DECODE_MS * sampling.interval_us / INTERVAL_US);

    return ms > DECODE_MS ? DECODE_MS : ms < DECODE_LEAST_MS ? DECODE_LEAST_MS : ms;
}

static void run(duty_t *duty)
{
    if (!driver_wait(duty))
        return;
    meters_open();
    for (bool first = true; sampling.count > 0 && duty_wait(duty, decode_ms());
         first = false) {
        meters_look();
        if (first)
            atexit(sampling_stop); /* as step_done */
    }
    for (uint32_t i = 0; i < sampling.count; i++) {
        meter_look(&sampling.meters[i]); /* what came since */
        meter_close(&sampling.meters[i]);
    }
}

static uint32_t interval_read(void)
{
    const char *value = gpurt_env_get("GPURT_CUPTI_SAMPLE_US");
    uint64_t us = gpurt_tell_number("GPURT_CUPTI_SAMPLE_US", value, 0);

    return us == 0 || us > 1000000  ? INTERVAL_US
           : us < INTERVAL_LEAST_US ? INTERVAL_LEAST_US
                                    : (uint32_t)us;
}

static void ends_with_thread(void *unused)
{
    (void)unused;
    sampling_stop();
}

/* A program that exits from its first thread ends that thread's own objects before it calls
 * any exit handler, so that nobody's come before ours, not even those of a library that is
 * being loaded just now. */
static void first_at_exit(void)
{
    extern int __cxa_thread_atexit_impl(void (*end)(void *), void *object, void *library)
        __attribute__((weak));
    extern void *__dso_handle __attribute__((visibility("hidden")));

    if (gettid() == getpid() && __cxa_thread_atexit_impl)
        __cxa_thread_atexit_impl(ends_with_thread, NULL, &__dso_handle);
}

void sampling_start(const cupti_api_t *api)
{
    const char *missing;

    sampling.cupti = api;
    sampling.interval_us = interval_read();
    missing = sampling_api_find(api, &sampling.api);
    if (missing)
        warn("no samples: this CUPTI has no %s; 13.0 or later is needed", missing);
    else if (duty_start(&sampling.duty, "gpurt-sampler", run, NULL))
        first_at_exit();
}

uint32_t sampling_left_out(void)
{
    /* relaxed: a count */
    return gpurt_at_least(gpurt_load_relaxed_dev_u64(&sampling.xleft_out));
}

void sampling_stop(void)
{
    duty_stop(&sampling.duty, STOP_MS);
}
