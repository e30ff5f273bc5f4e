/* SPDX-License-Identifier: Apache-2.0 */
/* A program that opens gpurt and is watched: one box holds what its kernels say and what the
 * GPU did. "late": the driver starts first, and the box is a while in coming. "two": it has
 * another box, which is older, and closes that first. "serve": services run on a GPU, and calls
 * of CUDA take long. "last": it closes its box right behind a kernel and launches that are summed up
 * a second at a time. */
#include "check.h"
#include "fake_cupti.h"
#include "handover.h"
#include "hostring.h"
#include "injection.h"

#include <dlfcn.h>
#include <gpurt/gpurt.h>
#include <pthread.h>
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

static void launch(const fake_cupti_t *fake, const char *name)
{
    cuLaunchKernel_params one = {.gridDimX = 1, .blockDimX = 1};

    fake->launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &one, name, 0);
}

/* As gpurt_open makes one for another device. */
static void other_make(gpurt_boxmap_t *map)
{
    gpurt_section_plan_t sections[2] = {{.kind = GPURT_SECTION_CPU, .device = 7}};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 2, .sections = sections};
    gpurt_error_t err;

    gpurt_hostring_plan(&sections[1]);
    CHECK_MSG(gpurt_boxmap_create(&plan, map, &err) == GPURT_OK, "%s", err.text);
    gpurt_hostring_clock(map, 1);
    CHECK_MSG(gpurt_handover_give(map, &err) == GPURT_OK, "%s", err.text);
}

static bool is_written(const gpurt_boxmap_t *map)
{
    const gpurt_ring_control_t *c = gpurt_boxmap_control(map, 1, 0);

    return gpurt_load_relaxed_sys_u32(&c->head.xhead) != GPURT_RING_START;
}

/* What the GPU did is in the older box until that is closed. */
static void other_use(gpurt_boxmap_t *map, const fake_cupti_t *fake)
{
    struct timespec step = {0, 5000000};
    uint64_t now = fake->time();

    fake->kernel(0, "before", now - 2000, now - 1000);
    for (int i = 0; i < 4000 && !is_written(map); i++)
        nanosleep(&step, NULL);
    CHECK_MSG(is_written(map), "the oldest box is the place");
    launch(fake, "launched_before");
    launch(fake, "launched_twice");
    gpurt_store_release_sys_u32(&map->box->xlife, GPURT_LIFE_CLOSED); /* B4.rel */
    gpurt_boxmap_detach(map);
}

/* ---- calls that wait for a service ---------------------------------------------------- */

enum {
    LONG_MS = 1300,
    CALLBACKS = 11 /* at least, of calls that wait */
};

static void told_await(const fake_cupti_t *fake, bool on)
{
    struct timespec step = {0, 5000000};

    for (int i = 0; i < 1000 && (fake->told_of() >= CALLBACKS) != on; i++)
        nanosleep(&step, NULL);
    CHECK_EQ(fake->told_of() >= CALLBACKS, on);
}

/* Of a GPU without a service, context 1; the other one's is 2. */
static void *elsewhere(void *fake)
{
    ((const fake_cupti_t *)fake)->call(CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost, 1, LONG_MS);
    return NULL;
}

static void serve(const fake_cupti_t *fake)
{
    struct timespec look = {0, 300000000};
    pthread_t other;

    gpurt_injection_serve(1, "echo", true);
    gpurt_injection_serve(0, "brief", true);
    gpurt_injection_serve(0, "brief", false);
    told_await(fake, true);
    CHECK_EQ(pthread_create(&other, NULL, elsewhere, (void *)(uintptr_t)fake), 0);
    fake->call(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, 2, LONG_MS);
    fake->call(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, 2, 1);
    CHECK_EQ(pthread_join(other, NULL), 0);
    gpurt_injection_serve(1, "echo", false);
    told_await(fake, false);
    nanosleep(&look, NULL); /* nothing is left that would be told */
}

/* ---- what is summed up ---------------------------------------------------------------- */

/* The first samples are told at once, so these are the second ones. */
static void last(const fake_cupti_t *fake)
{
    static const fake_line_t of[2] = {{"first", 4711, 0x40, 6, 1},
                                      {"second", 4711, 0x40, 6, 1}};
    struct timespec look = {0, 300000000};

    fake->context(1, 1);
    for (int i = 0; i < 2; i++) {
        fake->lines(1, &of[i], 1);
        nanosleep(&look, NULL);
    }
    fake->lines(1, NULL, 0);
    launch(fake, "launched_last");
}

int main(int argc, char **argv)
{
    const fake_cupti_t *fake = NULL;
    bool late = argc > 1 && strcmp(argv[1], "late") == 0;
    bool two = argc > 1 && strcmp(argv[1], "two") == 0;
    gpurt_boxmap_t other;
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
        launch(fake, "launched_early"); /* there is no box to be had */
        fake->kernel(0, "early", now - 2000, now - 1000);
        nanosleep(&rest, NULL); /* flushed, and nowhere to go yet */
    }
    if (two)
        other_make(&other);
    CHECK_MSG(gpurt_open(NULL, &rt, &err) == GPURT_OK, "%s", err.text);
    if (late)
        nanosleep(&rest, NULL); /* the box is found */
    else
        fake = driver_start();
    if (two) {
        other_use(&other, fake);
        launch(fake, "launched_between"); /* the box is closed, and no other is found yet */
        nanosleep(&rest, NULL);
    }
    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        serve(fake);
    if (argc > 1 && strcmp(argv[1], "last") == 0)
        last(fake);
    now = fake->time();
    fake->kernel(0, "inside", now - 2000, now - 1000);
    launch(fake, "launched_inside");
    launch(fake, "launched_twice");
    CHECK_EQ(gpurt_close(rt, &err), GPURT_OK);
    return 0;
}
