/* SPDX-License-Identifier: Apache-2.0 */
/* Another library that CUDA_INJECTION64_PATH may name. With FAKE_PROFILER it records through
 * CUPTI, and asks nobody. */
#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int InitializeInjection(void);

static void CUPTIAPI asked(uint8_t **buffer, size_t *size, size_t *most)
{
    *size = 8192;
    *most = 0;
    *buffer = malloc(*size);
}

static void CUPTIAPI done(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                          size_t valid)
{
    (void)context;
    (void)stream;
    (void)size;
    printf("the other profiler has %zu bytes\n", valid);
    fflush(stdout);
    free(buffer);
}

int InitializeInjection(void)
{
    __typeof__(cuptiActivityRegisterCallbacks) *take;
    __typeof__(cuptiActivityEnable) *enable;
    void *library, *entry;

    puts("the other profiler");
    if (!getenv("FAKE_PROFILER"))
        return 1;
    library = dlopen(getenv("GPURT_CUPTI_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    entry = dlsym(library, "cuptiActivityRegisterCallbacks");
    memcpy(&take, &entry, sizeof take);
    entry = dlsym(library, "cuptiActivityEnable");
    memcpy(&enable, &entry, sizeof enable);
    take(asked, done);
    enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    return 1;
}
