/* SPDX-License-Identifier: Apache-2.0 */
#include "choice.h"

#include "environ.h"
#include "launchlink.h"
#include "life.h"
#include "process.h"
#include "refuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No version of the options is nearly as large: a greater struct_size was never set. */
#define OPTIONS_SIZE_SANE 4096

/* Who decided on a back end, in the words of info.why. */
struct wish {
    gpurt_backend_t backend;
    const char *source;
};

bool gpurt_choice_has_cuda(void)
{
    return &gpurt_backend_cuda != NULL;
}

/* Fields this library does not know may only say "default". */
static bool unknown_fields_are_zero(const gpurt_options_t *given, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)given;

    for (size_t i = sizeof *given; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

static gpurt_status_t options_check(const gpurt_options_t *o, gpurt_error_t *err)
{
    if ((uint32_t)o->backend > GPURT_BACKEND_CPU)
        return REFUSE(err, GPURT_E_INVALID,
                      "backend %u: say GPURT_BACKEND_AUTO, _CUDA or _CPU",
                      (uint32_t)o->backend);
    if (o->device < 0)
        return REFUSE(err, GPURT_E_INVALID, "device %d: GPUs are numbered from 0",
                      o->device);
    if (o->cpu.schedule > GPURT_SCHEDULE_PCT)
        return REFUSE(err, GPURT_E_INVALID,
                      "cpu.schedule %u: say GPURT_SCHEDULE_DEFAULT, _RANDOM or _PCT",
                      o->cpu.schedule);
    if (o->cpu.rate > 256)
        return REFUSE(err, GPURT_E_INVALID,
                      "cpu.rate %u: it counts 256ths, so 256 is the most", o->cpu.rate);
    if (o->panics > GPURT_PANICS_OFF)
        return REFUSE(err, GPURT_E_INVALID,
                      "panics %u: say GPURT_PANICS_TELL, _QUIET or _OFF", o->panics);
    return GPURT_OK;
}

gpurt_status_t gpurt_choice_options(const gpurt_options_t *given, gpurt_options_t *out,
                                    gpurt_error_t *err)
{
    size_t size = given && given->struct_size ? given->struct_size : sizeof *given;

    memset(out, 0, sizeof *out);
    if (size < sizeof given->struct_size || size > OPTIONS_SIZE_SANE)
        return REFUSE(err, GPURT_E_INVALID,
                      "options.struct_size is %zu: set it to sizeof(gpurt_options_t), and "
                      "what you do not choose to zero",
                      size);
    if (given) {
        if (!unknown_fields_are_zero(given, size))
            return REFUSE(err, GPURT_E_INVALID,
                          "options of %zu bytes set a field that gpurt %d.%d.%d does not "
                          "know: link a newer gpurt or leave it zero",
                          size, GPURT_VERSION_MAJOR, GPURT_VERSION_MINOR,
                          GPURT_VERSION_PATCH);
        memcpy(out, given, size < sizeof *out ? size : sizeof *out);
    }
    out->struct_size = sizeof *out;
    return options_check(out, err);
}

/* The environment wins, so that a program can be sent elsewhere without a change to it. */
static gpurt_status_t wish_read(const gpurt_options_t *options, struct wish *wish,
                                gpurt_error_t *err)
{
    const char *word = gpurt_env_get("GPURT_BACKEND");

    *wish = (struct wish){options->backend, "options.backend=GPURT_BACKEND_CPU"};
    if (!word)
        return GPURT_OK;
    wish->source = "GPURT_BACKEND=cpu";
    if (strcmp(word, "auto") == 0)
        wish->backend = GPURT_BACKEND_AUTO;
    else if (strcmp(word, "cuda") == 0)
        wish->backend = GPURT_BACKEND_CUDA;
    else if (strcmp(word, "cpu") == 0)
        wish->backend = GPURT_BACKEND_CPU;
    else
        return REFUSE(err, GPURT_E_INVALID,
                      "GPURT_BACKEND=%.32s: say auto, cuda or cpu, or unset it", word);
    return GPURT_OK;
}

static gpurt_status_t backend_open(const gpurt_backend_ops_t *ops,
                                   const gpurt_options_t *options, gpurt_opened_t *out,
                                   gpurt_error_t *err)
{
    const gpurt_opened_t *twin = gpurt_life_find(ops->kind, options->device);
    gpurt_status_t st;

    if (twin)
        return REFUSE(err, GPURT_E_OPEN,
                      "device %d is open already (%s): share its pointer, or close it "
                      "first",
                      twin->info.device, twin->info.why);
    st = ops->open(options, out->index, &out->info, &out->self, err);
    if (st == GPURT_OK) {
        out->ops = ops;
        out->info.backend = ops->kind;
    }
    return st;
}

/* Generation of the first process that could use CUDA: those forked from it cannot. 0: none. Under
 * the lock of gpurt_open. */
static uint32_t cuda_process;

/* The driver itself may hang there, on a lock that a thread of the parent's held. */
static gpurt_status_t fork_check(gpurt_error_t *err)
{
    if (!cuda_process || cuda_process == gpurt_process_generation())
        return GPURT_OK;
    return REFUSE(err, GPURT_E_FORKED, GPURT_FORKED_CUDA);
}

/* Asks first: the probe has the better words for what is missing, and leaves nothing
 * behind. */
static gpurt_status_t cuda_open(const gpurt_options_t *options, gpurt_opened_t *out,
                                gpurt_error_t *err)
{
    gpurt_status_t st;

    if (!gpurt_choice_has_cuda())
        return REFUSE(err, GPURT_E_BACKEND,
                      "this program has no CUDA kernels linked: build its kernels with "
                      "nvcc too and link gpurt-cuda, or set GPURT_BACKEND=cpu");
    st = fork_check(err);
    if (st != GPURT_OK)
        return st;
    gpurt_launchlink_prepare();
    st = gpurt_backend_cuda.probe(options, err);
    if (st == GPURT_OK && !cuda_process)
        cuda_process = gpurt_process_generation();
    if (st == GPURT_OK)
        st = backend_open(&gpurt_backend_cuda, options, out, err);
    if (st == GPURT_OK)
        snprintf(out->info.why, sizeof out->info.why, "cuda: %.95s (device %d)",
                 out->info.name, out->info.device);
    return st;
}

static gpurt_status_t cpu_open(const gpurt_options_t *options, gpurt_opened_t *out,
                               const char *why, gpurt_error_t *err)
{
    gpurt_status_t st = backend_open(&gpurt_backend_simt, options, out, err);

    if (st == GPURT_OK) /* a reason can be longer than the place for it */
        snprintf(out->info.why, sizeof out->info.why, "cpu: %.250s", why);
    return st;
}

gpurt_status_t gpurt_choice_open(const gpurt_options_t *options, uint32_t index,
                                 gpurt_opened_t *out, gpurt_error_t *err)
{
    struct wish wish;
    gpurt_error_t reason = {0};
    char why[sizeof reason.text + 32];
    gpurt_status_t st = wish_read(options, &wish, err);

    memset(out, 0, sizeof *out);
    out->index = index;
    if (st != GPURT_OK)
        return st;
    if (wish.backend == GPURT_BACKEND_CUDA)
        return cuda_open(options, out, err);
    if (wish.backend == GPURT_BACKEND_CPU)
        return cpu_open(options, out, wish.source, err);
    if (!gpurt_choice_has_cuda())
        return cpu_open(options, out, "this program has no CUDA kernels linked", err);
    st = cuda_open(options, out, &reason);
    /* What the program does wrong is told, and not made up for by a slower back end. */
    if (err && (st == GPURT_E_OPEN || st == GPURT_E_FORKED))
        *err = reason;
    if (st == GPURT_OK || st == GPURT_E_OPEN || st == GPURT_E_FORKED)
        return st;
    snprintf(why, sizeof why, "no usable GPU: %s",
             reason.text[0] ? reason.text : gpurt_status_text(st));
    return cpu_open(options, out, why, err);
}
