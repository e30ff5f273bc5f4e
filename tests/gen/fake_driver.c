/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libcuda, libnvidia-ml and libcupti, as far as gpurt-doctor calls them.
 * It plays what FAKE_DRIVER says: words hang, crash, prohibited, exclusive, and old
 * (compute capability 6.1), init=N (what cuInit answers), cuda=N (the driver's CUDA
 * version). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuInit(unsigned flags);
EXPORT int cuDriverGetVersion(int *version);
EXPORT int cuDeviceGetCount(int *count);
EXPORT int cuDeviceGet(int *device, int ordinal);
EXPORT int cuDeviceGetName(char *name, int room, int device);
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device);
EXPORT int nvmlInit_v2(void);
EXPORT int nvmlSystemGetDriverVersion(char *version, unsigned room);
EXPORT int cuptiGetVersion(unsigned *version);

static const char *word(const char *name)
{
    const char *all = getenv("FAKE_DRIVER");
    const char *at = all ? strstr(all, name) : NULL;

    return at ? at + strlen(name) : NULL;
}

int cuInit(unsigned flags)
{
    const char *code = word("init=");

    (void)flags;
    signal(SIGTERM, SIG_IGN); /* a driver that hangs does not listen */
    while (word("hang"))
        pause();
    if (word("crash"))
        raise(SIGSEGV);
    return code ? atoi(code) : 0;
}

int cuDriverGetVersion(int *version)
{
    const char *number = word("cuda=");

    *version = number ? atoi(number) : 13000;
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = 2;
    return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal + 40;
    return 0;
}

int cuDeviceGetName(char *name, int room, int device)
{
    snprintf(name, (size_t)room, "Fake \033[31mGPU %d", device);
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    int second = device == 41;

    *value = attribute == 16   ? 132
             : attribute == 39 ? 2048
             : attribute == 75 ? (second && word("old") ? 6 : 9)
             : attribute == 76 ? (second && word("old") ? 1 : 0)
             : attribute == 20 ? (!second              ? 0
                                  : word("prohibited") ? 2
                                  : word("exclusive")  ? 3
                                                       : 0)
                               : 0;
    return 0;
}

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlSystemGetDriverVersion(char *version, unsigned room)
{
    snprintf(version, room, "580.65.06");
    return 0;
}

int cuptiGetVersion(unsigned *version)
{
    *version = 130001;
    return 0;
}
