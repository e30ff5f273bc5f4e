/* SPDX-License-Identifier: Apache-2.0 */
/* names_app COUNT - a program of so many kernels, each with a name of its own, that takes memory and
 * has ranges (NVTX) for the first time behind them. names_app COUNT again: whose collector sleeps;
 * when it is told to go on it becomes itself once more, by exec, and does all that then. */
#include "check.h"
#include "fake_cupti.h"

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

enum {
    TAKES = 100, /* of memory; and ranges */
    NAME = 32
};

static const fake_cupti_t *fake;

static void driver_start(void)
{
    void *library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW | RTLD_LOCAL), *entry;
    int (*initialise)(void);

    CHECK_MSG(library != NULL, "%s", dlerror());
    entry = dlsym(library, "InitializeInjection");
    memcpy(&initialise, &entry, sizeof initialise);
    CHECK_EQ(initialise(), 1);
}

/* It may be woken only by and by. */
static void collector_find(void)
{
    const struct timespec step = {.tv_nsec = 10000000};
    void *library = NULL;

    for (int tries = 0; tries < 1000 && !library; tries++) {
        library =
            dlopen(getenv("GPURT_CUPTI_LIBRARY"), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        if (!library)
            nanosleep(&step, NULL);
    }
    CHECK_MSG(library != NULL, "the collector does not wake up");
    fake = dlsym(library, "fake_cupti");
    for (int tries = 0; tries < 1000 && !fake->kinds(); tries++)
        nanosleep(&step, NULL);
    fake->patient(1);
}

static void become_another(char **argv)
{
    char word, *args[] = {argv[0], argv[1], NULL};

    CHECK_EQ(read(STDIN_FILENO, &word, 1), 1);
    execv(argv[0], args);
    CHECK_MSG(argv == NULL, "%s", argv[0]);
}

/* Names stay where they are for as long as records may name them. */
static void kernels(long count)
{
    char(*names)[NAME] = calloc((size_t)count, NAME);

    CHECK(names != NULL);
    for (long i = 0; i < count; i++) {
        uint64_t now = fake->time();

        snprintf(names[i], NAME, "kernel_%ld", i);
        fake->kernel(0, names[i], now - 2000, now - 1000);
    }
}

static void memory(CUpti_ActivityMemoryOperationType did, uint64_t address)
{
    CUpti_ActivityMemory4 m = {.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
                               .memoryOperationType = did,
                               .memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                               .bytes = 4096,
                               .address = address,
                               .timestamp = fake->time()};

    fake->put(0, &m);
}

static void range(CUpti_ActivityFlag end, uint32_t id)
{
    CUpti_ActivityMarker2 m = {.kind = CUPTI_ACTIVITY_KIND_MARKER,
                               .flags = end,
                               .name =
                                   end == CUPTI_ACTIVITY_FLAG_MARKER_END ? NULL : "late",
                               .id = id,
                               .timestamp = fake->time()};

    fake->put(0, &m);
}

int main(int argc, char **argv)
{
    CHECK_MSG(argc == 2 || argc == 3, "usage: names_app COUNT [again]");
    driver_start();
    if (argc == 3)
        become_another(argv);
    collector_find();
    kernels(atol(argv[1]));
    for (uint32_t i = 1; i <= TAKES; i++) {
        memory(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, 4096 * i);
        range(CUPTI_ACTIVITY_FLAG_MARKER_START, i);
        memory(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, 4096 * i);
        range(CUPTI_ACTIVITY_FLAG_MARKER_END, i);
    }
    return 0;
}
