/* SPDX-License-Identifier: Apache-2.0 */
/* gpurt_options_t from programs older and newer than the library, and options that
 * cannot be. */
#include "../check.h"
#include "fake_backend.h"

#include <stddef.h>
#include <string.h>

/* A struct of a program built against a later gpurt. */
struct later {
    gpurt_options_t now;
    uint64_t knob;
};

static const gpurt_options_t *taken(const void *options)
{
    gpurt_t *rt = fake_gpurt_open((const gpurt_options_t *)options);

    CHECK_EQ(gpurt_close(rt, NULL), GPURT_OK);
    CHECK_EQ(fake_cpu.options.struct_size, sizeof(gpurt_options_t));
    return &fake_cpu.options;
}

static void refused(const void *options, const char *text)
{
    gpurt_error_t err = {0};
    gpurt_t *rt = (gpurt_t *)&err;

    CHECK_EQ(gpurt_open((const gpurt_options_t *)options, &rt, &err), GPURT_E_INVALID);
    CHECK(!rt);
    CHECK_CONTAINS(err.text, text);
}

static void sizes(void)
{
    struct later later = {
        .now = {.struct_size = sizeof later, .backend = GPURT_BACKEND_CPU}};
    gpurt_options_t o = {.backend = GPURT_BACKEND_CPU, .cpu.seed = 7, .cpu.strict = true};

    CHECK_EQ(taken(&o)->cpu.seed, 7); /* struct_size 0: the present one */
    o.struct_size = sizeof o;
    CHECK_EQ(taken(&o)->cpu.seed, 7);
    CHECK(taken(&o)->cpu.strict);
    o.struct_size =
        offsetof(gpurt_options_t, cpu.seed); /* an older one ends before the seed */
    o.cpu.workers = 5;
    CHECK_EQ(taken(&o)->cpu.seed, 0);
    CHECK_EQ(taken(&o)->cpu.workers, 5);
    CHECK(!taken(&o)->cpu.strict);

    later.now.cpu.seed = 9;
    CHECK_EQ(taken(&later)->cpu.seed, 9);
    later.knob = (uint64_t)1 << 56; /* the very last byte */
    refused(&later, "does not know");
}

static void sizes_never_set(void)
{
    gpurt_options_t o = {.backend = GPURT_BACKEND_CPU};

    o.struct_size = 3;
    refused(&o, "struct_size is 3");
    o.struct_size = 0xdeadbeef; /* must not be believed: there is no such memory */
    refused(&o, "sizeof(gpurt_options_t)");
    o.struct_size = 4097;
    refused(&o, "struct_size is 4097");
}

static void values(void)
{
    gpurt_options_t o = {.struct_size = sizeof o, .backend = (gpurt_backend_t)3};

    refused(&o, "backend 3");
    o.backend = (gpurt_backend_t)-1;
    refused(&o, "GPURT_BACKEND_AUTO");
    o.backend = GPURT_BACKEND_CPU;
    o.device = -1;
    refused(&o, "device -1");
    o.device = 0;
    o.cpu.schedule = 3;
    refused(&o, "cpu.schedule 3");
    o.cpu.schedule = GPURT_SCHEDULE_PCT;
    o.cpu.rate = 257;
    refused(&o, "cpu.rate 257");
    o.cpu.rate = 256;
    CHECK_EQ(taken(&o)->cpu.rate, 256);
}

int main(void)
{
    fake_reset();
    sizes();
    sizes_never_set();
    values();
    fake_cuda.answer[FAKE_PROBE] = GPURT_E_NO_DEVICE;
    CHECK_EQ(taken(NULL)->backend, GPURT_BACKEND_AUTO);
    CHECK_EQ(taken(NULL)->cpu.seed, 0);
    return 0;
}
