/* SPDX-License-Identifier: Apache-2.0 */
/* devices_app COUNT MESSAGES - a program with several devices open at once: each says MESSAGES in one
 * kernel, has a heap, and panics once; the host says something before and after the first of them
 * is closed.
 * devices_app COUNT MESSAGES each - with one open after the other, without a panic. */
#include "../kernels/device_kernels.h"

#include <gpurt/gpurt.h>
#include <gpurt/heap.h>
#include <gpurt/hostlog.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gpurt_error_t err;

static void end(const char *what)
{
    fprintf(stderr, "devices_app: %s: %s\n", what, err.text);
    exit(1);
}
#define OK(call)                \
    do {                        \
        if ((call) != GPURT_OK) \
            end(#call);         \
    } while (0)

static const gpurt_launch_t launch = {.grid = {4, 1, 1}, .block = {64, 1, 1}};

static void begin(uint32_t device, gpurt_t **rt, gpurt_heap_t *heap)
{
    gpurt_options_t o = {.struct_size = sizeof o, .device = (int32_t)device};
    gpurt_heap_options_t h = {
        .struct_size = sizeof h, .bytes = (device + 2) << 20, .make_default = true};

    OK(gpurt_open(&o, rt, &err));
    OK(gpurt_heap_create(*rt, &h, heap, &err));
}

static void finish(gpurt_t *rt, gpurt_heap_t *heap)
{
    OK(gpurt_heap_destroy(rt, heap, &err));
    OK(gpurt_close(rt, &err));
}

static void each(uint32_t count, struct device_args *args)
{
    gpurt_heap_t heap;
    gpurt_t *rt;

    for (uint32_t i = 0; i < count; i++) {
        begin(i, &rt, &heap);
        args->device = i;
        OK(gpurt_launch(rt, &launch, device_say, args, &err));
        OK(gpurt_sync(rt, &err));
        finish(rt, &heap);
    }
}

int main(int argc, char **argv)
{
    uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 2;
    struct device_args args = {.rounds =
                                   argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000};
    gpurt_t *rt[GPURT_MAX_DEVICES];
    gpurt_heap_t heap[GPURT_MAX_DEVICES];

    if (count == 0 || count > GPURT_MAX_DEVICES)
        return 2;
    if (argc > 3 && strcmp(argv[3], "each") == 0) {
        each(count, &args);
        return 0;
    }
    for (uint32_t i = 0; i < count; i++)
        begin(i, &rt[i], &heap[i]);
    gpurt_log(GPURT_LEVEL_INFO, "the host, with %u devices", count);
    for (uint32_t i = 0; i < count; i++) {
        args.device = i;
        OK(gpurt_launch(rt[i], &launch, device_say, &args, &err));
    }
    for (uint32_t i = 0; i < count; i++) {
        OK(gpurt_sync(rt[i], &err));
        args.device = i;
        OK(gpurt_launch(rt[i], &launch, device_raise, &args, &err));
        if (gpurt_sync(rt[i], &err) != GPURT_E_PANIC) /* it ends its block alone */
            end("a panic that no wait tells");
    }
    for (uint32_t i = 0; i < count; i++) {
        finish(rt[i], &heap[i]);
        if (i == 0)
            gpurt_log(GPURT_LEVEL_INFO, "the host, when %u is closed", i);
    }
    return 0;
}
