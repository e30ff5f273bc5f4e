/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libnvidia-ml with two GPUs. FAKE_NVML: "hang" (the third answer never
 * comes), "mute" (no figures). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int nvmlInit_v2(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetUtilizationRates(void *device, unsigned use[2]);
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long memory[3]);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz);

static int gpus[2] = {0, 1};

static int mode_is(const char *word)
{
    const char *mode = getenv("FAKE_NVML");

    return mode && strcmp(mode, word) == 0;
}

static unsigned number(void *device)
{
    return (unsigned)*(int *)device;
}

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = 2;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = &gpus[index];
    return 0;
}

/* Those of fake_graphs.c end with their number as a letter. */
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    size_t bytes = strlen(uuid);
    long last = bytes > 2 ? strtol(uuid + bytes - 2, NULL, 16) : 0;

    if (last != '0' && last != '1')
        return 6; /* NVML_ERROR_NOT_FOUND */
    *device = &gpus[last - '0'];
    return 0;
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned use[2])
{
    static int asked;

    if (mode_is("hang") && ++asked == 3)
        for (;;)
            pause();
    use[0] = 61 + number(device);
    use[1] = 17;
    return mode_is("mute") ? 3 : 0;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long memory[3])
{
    memory[0] = 150ull << 30;
    memory[2] = (5ull + number(device)) << 30;
    memory[1] = memory[0] - memory[2];
    return mode_is("mute") ? 3 : 0;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    *milliwatts = 123456 + number(device);
    return 0;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = 700000;
    return 0;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
    (void)device;
    *celsius = sensor == 0 ? 44 : 0;
    return 0;
}

int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz)
{
    (void)device;
    *mhz = clock == 1 ? 1980 : clock == 2 ? 3201 : 0;
    return 0;
}
