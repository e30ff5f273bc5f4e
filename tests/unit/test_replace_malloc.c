/* SPDX-License-Identifier: Apache-2.0 */
/* malloc and free of a file's kernels are the default heap's; those of its host code are the
 * C library's. */
#include "alloc_stage.h"
#include "malloc_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

GPURT_KERNEL_DECLARE(malloc_build, struct malloc_args);
GPURT_KERNEL_DECLARE(malloc_drop, struct malloc_args);

enum {
    BLOCKS = 4,
    THREADS = 48,
    LENGTH = 20
};

static gpurt_heap_stats_t stats_of(const gpurt_heap_t *heap)
{
    gpurt_heap_stats_t stats;

    OK(gpurt_heap_check(rt, heap, &err));
    OK(gpurt_heap_stats(rt, heap, &stats, &err));
    return stats;
}

/* Kernels would get NULL without a word: gpurt_open succeeds, for only some may want a heap. */
static void no_heap_is_told(void)
{
    char said[1024] = "";
    FILE *file = tmpfile();
    int saved = dup(STDERR_FILENO);
    gpurt_error_t failed = {0};

    CHECK(file && saved >= 0 && dup2(fileno(file), STDERR_FILENO) == STDERR_FILENO);
    setenv("GPURT_HEAP_CHECKS", "ful", 1);
    for (int i = 0; i < 2; i++) {
        if (gpurt_open(NULL, &rt, &failed) != GPURT_OK)
            SKIP("%s", failed.text);
        OK(gpurt_close(rt, &err));
    }
    unsetenv("GPURT_HEAP_CHECKS");
    CHECK(dup2(saved, STDERR_FILENO) == STDERR_FILENO && close(saved) == 0);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    CHECK_STR(said, "gpurt: no default heap, so malloc and new of kernels answer NULL: "
                    "GPURT_HEAP_CHECKS=ful: say off, cheap or full\n");
}

/* On the CPU back end the host frees what a kernel allocated, whichever heap is the default by then. */
static void free_on_host(const gpurt_heap_t *heap, const struct malloc_args *args)
{
    gpurt_heap_options_t options = {.bytes = MIB, .make_default = true};
    gpurt_launch_t one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct malloc_args made = {.heads = args->heads, .length = 1};
    gpurt_heap_t other;
    gpurt_info_t info;
    void *object;

    CHECK_EQ(gpurt_info(rt, &info), GPURT_OK);
    if (info.backend == GPURT_BACKEND_CUDA)
        return;
    OK(gpurt_launch(rt, &one, malloc_build, &made, &err));
    OK(gpurt_copy(rt, 0, &object, made.heads, sizeof object, &err));
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(stats_of(heap).live, 1);
    OK(gpurt_heap_create(rt, &options, &other, &err));
    malloc_free_on_host(object);
    CHECK_EQ(stats_of(heap).live, 0);
    CHECK_EQ(stats_of(&other).counts.xbad_frees[GPURT_FREE_FOREIGN], 0);
    OK(gpurt_heap_destroy(rt, &other, &err));
    CHECK_EQ(malloc_on_host(1000), 0);
}

int main(void)
{
    gpurt_heap_options_t options = {.bytes = 8 * MIB, .make_default = true};
    gpurt_launch_t launch = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    struct malloc_args args = {.length = LENGTH};
    gpurt_error_t failed = {0};
    uint32_t wrong = 0;
    gpurt_heap_t heap;

    no_heap_is_told();
    if (gpurt_open(NULL, &rt, &failed) != GPURT_OK)
        SKIP("%s", failed.text);
    OK(gpurt_heap_create(rt, &options, &heap, &err));
    OK(gpurt_mem_create(rt, sizeof(void *) * BLOCKS * THREADS, (void **)&args.heads, &err));
    OK(gpurt_mem_create(rt, sizeof wrong, (void **)&args.xwrong, &err));
    OK(gpurt_fill(rt, 0, args.xwrong, 0, sizeof wrong, &err));
    OK(gpurt_launch(rt, &launch, malloc_build, &args, &err));
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(stats_of(&heap).live, BLOCKS * THREADS * LENGTH);
    CHECK_EQ(malloc_on_host(1000), 0);
    CHECK_EQ(stats_of(&heap).live, BLOCKS * THREADS * LENGTH);
    OK(gpurt_launch(rt, &launch, malloc_drop, &args, &err));
    OK(gpurt_copy(rt, 0, &wrong, args.xwrong, sizeof wrong, &err));
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(wrong, 0);
    CHECK_EQ(stats_of(&heap).live, 0);
    CHECK_EQ(stats_of(&heap).counts.xbad_frees[GPURT_FREE_FOREIGN], 0);
    free_on_host(&heap, &args);
    OK(gpurt_heap_destroy(rt, &heap, &err));
    OK(gpurt_mem_destroy(rt, args.heads));
    OK(gpurt_mem_destroy(rt, args.xwrong));
    OK(gpurt_close(rt, &err));
    return 0;
}
