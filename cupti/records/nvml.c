/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "nvml.h"

#include "duty.h"
#include "environ.h"
#include "hosttime.h"
#include "outlet.h"
#include "tell.h"

#include <dlfcn.h>
#include <gpurt/atomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEVICES = 8,
    LOOK_MS = 50, /* whether the program has begun */
    PERIOD_MS = 1000,
    STOP_MS = 100,
    CLOCK_SM = 1, /* NVML_CLOCK_SM */
    CLOCK_MEMORY = 2,
    SENSOR_GPU = 0
};
#define STUCK_NS 3000000000ull

/* NVML's own, as of its API 12: we have no header of it. 0 is success. */
typedef struct nvml_use {
    unsigned gpu, memory;
} nvml_use_t;
typedef struct nvml_memory {
    unsigned long long total, free, used;
} nvml_memory_t;

static struct {
    duty_t duty;
    uint32_t xbegun;    /* written by: threads of the program, and CUPTI's */
    uint64_t xasked_ns; /* since when an answer is waited for, 0: it is not; written by: the
                           duty's thread */
    uint64_t told_ns;   /* the question that was told of; nvml_stuck's */
    void *library;
    void *device[DEVICES]; /* handles, by CUDA's numbers */
    uint32_t count;
    int (*use)(void *, nvml_use_t *);
    int (*memory)(void *, nvml_memory_t *);
    int (*power)(void *, unsigned *), (*limit)(void *, unsigned *);
    int (*temperature)(void *, int, unsigned *);
    int (*clock)(void *, int, unsigned *);
} nvml;

#define FIND(library_, to_, name_)              \
    do {                                        \
        void *found_ = dlsym(library_, name_);  \
        memcpy(&(to_), &found_, sizeof found_); \
    } while (0)

/* ---- which devices ------------------------------------------------------------------- */

/* CUDA's devices in CUDA's order: a program may see a part of them, under other numbers.
 * Returns: false where the driver cannot be asked. */
static bool devices_of_cuda(int (*by_uuid)(const char *, void **))
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    int (*count_get)(int *), (*get)(int *, int), (*uuid_get)(unsigned char[16], int);
    int count = 0;

    if (!cuda)
        return false;
    FIND(cuda, count_get, "cuDeviceGetCount");
    FIND(cuda, get, "cuDeviceGet");
    FIND(cuda, uuid_get, "cuDeviceGetUuid");
    if (!count_get || !get || !uuid_get || !by_uuid || count_get(&count) != 0)
        return false;
    for (int i = 0; i < count && i < DEVICES; i++) {
        unsigned char u[16];
        char name[48];
        int device;

        if (get(&device, i) != 0 || uuid_get(u, device) != 0)
            return false;
        snprintf(name, sizeof name,
                 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
                 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11],
                 u[12], u[13], u[14], u[15]);
        if (by_uuid(name, &nvml.device[i]) != 0)
            nvml.device[i] = NULL; /* a part of a GPU, of which NVML tells little */
        nvml.count = (uint32_t)i + 1;
    }
    return nvml.count > 0;
}

static bool devices_find(void)
{
    int (*by_uuid)(const char *, void **), (*by_index)(unsigned, void **);
    int (*count_get)(unsigned *);
    unsigned count = 0;

    FIND(nvml.library, by_uuid, "nvmlDeviceGetHandleByUUID");
    FIND(nvml.library, by_index, "nvmlDeviceGetHandleByIndex_v2");
    FIND(nvml.library, count_get, "nvmlDeviceGetCount_v2");
    if (devices_of_cuda(by_uuid))
        return true;
    if (!by_index || !count_get || count_get(&count) != 0)
        return false;
    for (unsigned i = 0; i < count && i < DEVICES; i++, nvml.count++)
        if (by_index(i, &nvml.device[i]) != 0)
            nvml.device[i] = NULL;
    return nvml.count > 0;
}

static bool library_open(void)
{
    const char *path = gpurt_env_get("GPURT_NVML_LIBRARY");
    int (*initialise)(void);

    nvml.library =
        dlopen(path && *path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!nvml.library && path && *path)
        gpurt_tell("GPURT_NVML_LIBRARY=%s: no gauges of the GPU: it cannot be loaded",
                   path);
    if (!nvml.library)
        return false;
    FIND(nvml.library, initialise, "nvmlInit_v2");
    FIND(nvml.library, nvml.use, "nvmlDeviceGetUtilizationRates");
    FIND(nvml.library, nvml.memory, "nvmlDeviceGetMemoryInfo");
    FIND(nvml.library, nvml.power, "nvmlDeviceGetPowerUsage");
    FIND(nvml.library, nvml.limit, "nvmlDeviceGetEnforcedPowerLimit");
    FIND(nvml.library, nvml.temperature, "nvmlDeviceGetTemperature");
    FIND(nvml.library, nvml.clock, "nvmlDeviceGetClockInfo");
    return initialise && nvml.use && nvml.memory && nvml.power && nvml.limit &&
           nvml.temperature && nvml.clock && initialise() == 0 && devices_find();
}

/* ---- samples ------------------------------------------------------------------------- */

/* What the driver does not tell stays 0. Returns: false when it tells nothing at all. */
static bool sample(void *device, gpurt_activity_environment_t *out)
{
    nvml_memory_t memory = {0};
    nvml_use_t use = {0};
    unsigned value;
    bool any;

    memset(out, 0, sizeof *out);
    any = nvml.use(device, &use) == 0;
    out->gpu_percent = use.gpu;
    out->memory_percent = use.memory;
    any |= nvml.memory(device, &memory) == 0;
    out->memory_used = gpurt_pair(memory.used);
    out->memory_total = gpurt_pair(memory.total);
    if (nvml.power(device, &value) == 0)
        out->milliwatts = value;
    if (nvml.limit(device, &value) == 0)
        out->milliwatts_limit = value;
    if (nvml.temperature(device, SENSOR_GPU, &value) == 0)
        out->celsius = value;
    if (nvml.clock(device, CLOCK_SM, &value) == 0)
        out->sm_mhz = value;
    if (nvml.clock(device, CLOCK_MEMORY, &value) == 0)
        out->memory_mhz = value;
    return any;
}

static void asking(bool on)
{
    /* relaxed: a time, for somebody who looks now and then */
    gpurt_store_relaxed_dev_u64(&nvml.xasked_ns, on ? gpurt_steady_ns() : 0);
}

static void round_ask(void)
{
    for (uint32_t i = 0; i < nvml.count; i++) {
        gpurt_activity_environment_t out;
        bool any;

        if (!nvml.device[i])
            continue;
        asking(true);
        any = sample(nvml.device[i], &out);
        asking(false);
        if (any && outlet_enter(false)) {
            outlet_put(GPURT_KIND_ENVIRONMENT, i, gpurt_real_ns(), &out);
            outlet_exit();
        }
    }
}

/* While the driver is being initialised, who asks it anything makes the program wait. Returns:
 * false when there is nothing more to do. */
static bool begun_wait(duty_t *duty)
{
    for (uint32_t ms = 0; ms < PERIOD_MS; ms += LOOK_MS) {
        if (!duty_wait(duty, LOOK_MS))
            return false;
        if (gpurt_load_relaxed_dev_u32(&nvml.xbegun)) /* relaxed: a hint */
            break;
    }
    return true;
}

static void run(duty_t *duty)
{
    bool there;

    if (!begun_wait(duty))
        return;
    asking(true);
    there = library_open();
    asking(false);
    if (!there)
        return;
    do
        round_ask();
    while (duty_wait(duty, PERIOD_MS));
}

void nvml_start(void)
{
    const char *choice = gpurt_env_get("GPURT_NVML");

    if (!choice || strcmp(choice, "off") != 0)
        duty_start(&nvml.duty, "gpurt-nvml", run, NULL);
}

void nvml_begun(void)
{
    gpurt_store_relaxed_dev_u32(&nvml.xbegun, 1); /* relaxed: a hint */
}

void nvml_stop(void)
{
    duty_stop(&nvml.duty, STOP_MS);
}

bool nvml_stuck(void)
{
    uint64_t asked = gpurt_load_relaxed_dev_u64(&nvml.xasked_ns); /* relaxed: a time */

    if (asked == 0 || asked == nvml.told_ns || gpurt_steady_ns() - asked < STUCK_NS)
        return false;
    nvml.told_ns = asked;
    return true;
}
