/* SPDX-License-Identifier: Apache-2.0 */
/* A program that opens gpurt and is watched: one box holds what its kernels say and what the
 * GPU did. "late": the driver starts first, and the box is a while in coming. */
#include "check.h"
#include "fake_cupti.h"

#include <dlfcn.h>
#include <gpurt/gpurt.h>
#include <time.h>
#include <unistd.h>

static const fake_cupti_t *driver_start(void)
{
    void *library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW | RTLD_LOCAL), *entry;
    int (*initialise)(void);

    CHECK_MSG(library != NULL, "%s", dlerror());
    entry = dlsym(library, "InitializeInjection");
    memcpy(&initialise, &entry, sizeof initialise);
    CHECK_EQ(initialise(), 1);
    library = dlopen(getenv("GPURT_CUPTI_LIBRARY"), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    CHECK(library != NULL);
    return dlsym(library, "fake_cupti");
}

int main(int argc, char **argv)
{
    const fake_cupti_t *fake = NULL;
    bool late = argc > 1 && strcmp(argv[1], "late") == 0;
    struct timespec rest = {0, 300000000};
    char number[16];
    gpurt_error_t err;
    uint64_t now;
    gpurt_t *rt;

    if (late) { /* as gpurt_open does before it touches the driver */
        snprintf(number, sizeof number, "%d", (int)getpid());
        setenv("GPURT_OPENS", number, 1);
        fake = driver_start();
        now = fake->time();
        fake->kernel(0, "early", now - 2000, now - 1000);
        nanosleep(&rest, NULL); /* flushed, and nowhere to go yet */
    }
    CHECK_MSG(gpurt_open(NULL, &rt, &err) == GPURT_OK, "%s", err.text);
    if (!late)
        fake = driver_start();
    now = fake->time();
    fake->kernel(0, "inside", now - 2000, now - 1000);
    CHECK_EQ(gpurt_close(rt, &err), GPURT_OK);
    return 0;
}
