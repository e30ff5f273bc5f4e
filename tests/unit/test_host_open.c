/* SPDX-License-Identifier: Apache-2.0 */
/* Which back end gpurt_open takes, what it says about it, and that a process has one
 * runtime at a time. The program has both back ends. */
#include "../check.h"
#include "fake_backend.h"

#include <stdlib.h>
#include <string.h>

static const char *why_of(gpurt_t *rt, gpurt_backend_t backend)
{
    static gpurt_info_t info;

    CHECK_EQ(gpurt_info(rt, &info), GPURT_OK);
    CHECK_EQ(info.backend, backend);
    return info.why;
}

static void close_ok(gpurt_t *rt)
{
    gpurt_error_t err = {0};

    CHECK_MSG(gpurt_close(rt, &err) == GPURT_OK, "gpurt_close: %s", err.text);
    CHECK(!fake_cpu.is_open && !fake_cuda.is_open);
}

/* options: what is asked for; word: GPURT_BACKEND, NULL for none. */
static void opens(gpurt_backend_t asked, const char *word, gpurt_backend_t backend,
                  const char *why)
{
    gpurt_options_t options = {.struct_size = sizeof options, .backend = asked};
    gpurt_t *rt;

    if (word)
        setenv("GPURT_BACKEND", word, 1);
    rt = fake_gpurt_open(&options);
    CHECK_STR(why_of(rt, backend), why);
    close_ok(rt);
    unsetenv("GPURT_BACKEND");
}

static void refuses(gpurt_backend_t asked, const char *word, gpurt_status_t status,
                    const char *text)
{
    gpurt_options_t options = {.struct_size = sizeof options, .backend = asked};
    gpurt_error_t err = {0};
    gpurt_t *rt = (gpurt_t *)&err; /* must become NULL */

    if (word)
        setenv("GPURT_BACKEND", word, 1);
    CHECK_EQ(gpurt_open(&options, &rt, &err), status);
    CHECK(!rt);
    CHECK_EQ(err.status, status);
    CHECK_CONTAINS(err.text, text);
    CHECK(!strchr(err.text, '\n'));
    CHECK_EQ(gpurt_open(&options, &rt, NULL), status);
    CHECK(!fake_cpu.is_open && !fake_cuda.is_open);
    unsetenv("GPURT_BACKEND");
}

static void usable_gpu(void)
{
    const char *gpu = "cuda: NVIDIA Stand-in (device 3)";

    fake_reset();
    fake_cuda.info.device = 3;
    opens(GPURT_BACKEND_AUTO, NULL, GPURT_BACKEND_CUDA, gpu);
    opens(GPURT_BACKEND_CUDA, NULL, GPURT_BACKEND_CUDA, gpu);
    opens(GPURT_BACKEND_AUTO, "", GPURT_BACKEND_CUDA, gpu);
    opens(GPURT_BACKEND_AUTO, "auto", GPURT_BACKEND_CUDA, gpu);
    opens(GPURT_BACKEND_CPU, "cuda", GPURT_BACKEND_CUDA, gpu);
    opens(GPURT_BACKEND_CPU, "auto", GPURT_BACKEND_CUDA, gpu);
    CHECK_EQ(fake_calls_all(&fake_cpu), 0);
    opens(GPURT_BACKEND_AUTO, "cpu", GPURT_BACKEND_CPU, "cpu: GPURT_BACKEND=cpu");
    opens(GPURT_BACKEND_CUDA, "cpu", GPURT_BACKEND_CPU, "cpu: GPURT_BACKEND=cpu");
    opens(GPURT_BACKEND_CPU, NULL, GPURT_BACKEND_CPU,
          "cpu: options.backend=GPURT_BACKEND_CPU");
    CHECK_EQ(fake_calls(&fake_cuda, FAKE_OPEN), 6);
}

static void no_usable_gpu(void)
{
    fake_reset();
    fake_cuda.answer[FAKE_PROBE] = GPURT_E_DRIVER;
    fake_cuda.text = "driver 470 is older than CUDA 12: update it";
    opens(GPURT_BACKEND_AUTO, NULL, GPURT_BACKEND_CPU,
          "cpu: no usable GPU: driver 470 is older than CUDA 12: update it");
    CHECK_EQ(fake_calls(&fake_cuda, FAKE_OPEN), 0);
    refuses(GPURT_BACKEND_CUDA, NULL, GPURT_E_DRIVER, "driver 470");
    refuses(GPURT_BACKEND_CPU, "cuda", GPURT_E_DRIVER, "driver 470");
    CHECK_EQ(fake_calls(&fake_cpu, FAKE_OPEN), 1);

    fake_reset(); /* what the probe cannot know: somebody was quicker */
    fake_cuda.answer[FAKE_OPEN] = GPURT_E_BUSY;
    opens(GPURT_BACKEND_AUTO, NULL, GPURT_BACKEND_CPU, "cpu: no usable GPU: stand-in");
    refuses(GPURT_BACKEND_CUDA, NULL, GPURT_E_BUSY, "stand-in");

    fake_cuda.text = ""; /* a reason there always is */
    opens(GPURT_BACKEND_AUTO, NULL, GPURT_BACKEND_CPU,
          "cpu: no usable GPU: the GPU is in exclusive use by another process");
}

static void long_reason(void)
{
    char text[GPURT_ERROR_TEXT];
    gpurt_info_t info;
    gpurt_t *rt;

    fake_reset();
    memset(text, 'r', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    fake_cuda.answer[FAKE_PROBE] = GPURT_E_NO_DEVICE;
    fake_cuda.text = text;
    rt = fake_gpurt_open(NULL);
    CHECK_EQ(gpurt_info(rt, &info), GPURT_OK);
    CHECK_CONTAINS(info.why, "cpu: no usable GPU: rrr");
    CHECK_EQ(strlen(info.why), sizeof info.why - 1);
    close_ok(rt);
}

static void nothing_opens(void)
{
    fake_reset();
    fake_cuda.answer[FAKE_PROBE] = GPURT_E_NO_DEVICE;
    fake_cpu.answer[FAKE_OPEN] = GPURT_E_NOMEM;
    refuses(GPURT_BACKEND_AUTO, NULL, GPURT_E_NOMEM, "stand-in");
    fake_cpu.answer[FAKE_OPEN] = GPURT_OK; /* a failed open leaves nothing behind */
    opens(GPURT_BACKEND_AUTO, NULL, GPURT_BACKEND_CPU, "cpu: no usable GPU: stand-in");
}

static void bad_word(void)
{
    fake_reset();
    refuses(GPURT_BACKEND_AUTO, "gpu", GPURT_E_INVALID,
            "GPURT_BACKEND=gpu: say auto, cuda or cpu");
    refuses(GPURT_BACKEND_CPU, "CPU", GPURT_E_INVALID, "auto, cuda or cpu");
    refuses(GPURT_BACKEND_CPU, "cpu ", GPURT_E_INVALID, "auto, cuda or cpu");
    CHECK_EQ(fake_calls_all(&fake_cpu) + fake_calls_all(&fake_cuda), 0);
}

static void twice(void)
{
    gpurt_error_t err = {0};
    gpurt_t *rt, *second = (gpurt_t *)&err;

    fake_reset();
    rt = fake_gpurt_open(NULL);
    CHECK_EQ(gpurt_open(NULL, &second, &err), GPURT_E_OPEN);
    CHECK(!second);
    CHECK_CONTAINS(err.text, "cuda: NVIDIA Stand-in");
    CHECK_CONTAINS(err.text, "close it first");
    CHECK_EQ(fake_calls(&fake_cuda, FAKE_OPEN), 1);
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_OK); /* the first one is as it was */
    close_ok(rt);
    second = fake_gpurt_open(NULL);
    CHECK(second != rt);
    close_ok(second);
}

static void no_place(void)
{
    gpurt_error_t err = {0};

    fake_reset();
    CHECK_EQ(gpurt_open(NULL, NULL, &err), GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "out is NULL");
    CHECK_EQ(gpurt_open(NULL, NULL, NULL), GPURT_E_INVALID);
    CHECK_EQ(fake_calls_all(&fake_cuda), 0);
    CHECK_EQ(gpurt_close(NULL, &err), GPURT_OK);
}

/* Closing waits for the work first and tells its failure; it goes through all the same. */
static void close_tells(void)
{
    gpurt_error_t err = {0};
    gpurt_t *rt;

    fake_reset();
    rt = fake_gpurt_open(NULL);
    fake_cuda.answer[FAKE_SYNC] = GPURT_E_DEADLOCK;
    fake_cuda.answer[FAKE_CLOSE] = GPURT_E_CUDA;
    fake_cuda.text = "kernel k: deadlock";
    CHECK_EQ(gpurt_close(rt, &err), GPURT_E_DEADLOCK);
    CHECK_EQ(err.status, GPURT_E_DEADLOCK);
    CHECK_STR(err.text, "kernel k: deadlock");
    CHECK_EQ(fake_calls(&fake_cuda, FAKE_CLOSE), 1);

    fake_cuda.answer[FAKE_SYNC] = GPURT_OK;
    rt = fake_gpurt_open(NULL);
    CHECK_EQ(gpurt_close(rt, &err), GPURT_E_CUDA);
    CHECK_EQ(err.status, GPURT_E_CUDA);
    CHECK_EQ(gpurt_close(rt, NULL), GPURT_E_CLOSED);
}

/* The back ends need not know their objects: what is left at the end goes through the
 * table, events before streams. The stand-in refuses to close while one is alive. */
static void close_sweeps(void)
{
    gpurt_t *rt;
    uint64_t handle;

    fake_reset();
    rt = fake_gpurt_open(NULL);
    for (int i = 0; i < 40; i++) {
        CHECK_EQ(gpurt_stream_create(rt, &handle, NULL), GPURT_OK);
        CHECK_EQ(gpurt_event_create(rt, &handle, NULL), GPURT_OK);
        if (i % 3 == 0)
            CHECK_EQ(gpurt_event_destroy(rt, handle), GPURT_OK);
    }
    CHECK_EQ(fake_alive(), 80 - 14);
    close_ok(rt);
    CHECK_EQ(fake_alive(), 0);
    CHECK_EQ(fake_calls(&fake_cuda, FAKE_STREAM_DESTROY), 40);
    CHECK_EQ(fake_calls(&fake_cuda, FAKE_EVENT_DESTROY), 40);
}

int main(void)
{
    usable_gpu();
    no_usable_gpu();
    long_reason();
    nothing_opens();
    bad_word();
    twice();
    no_place();
    close_tells();
    close_sweeps();
    return 0;
}
