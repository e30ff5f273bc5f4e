/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "streamends.h"

#include "duty.h"
#include "trouble.h"

#include <gpurt/atomic.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum {
    LOOK_MS = 125,
    ASK_MS = 250, /* before runninglook.c tells of it */
    STREAMS = 64, /* that are asked about in one look */
    HOLD_S = 1,
    STOP_MS = 500
};

/* One process. */
static struct {
    CUresult (*query)(CUstream stream);
    CUresult (*context_set)(CUcontext context);
    CUresult (*capture_mode)(CUstreamCaptureMode *mode);
    CUresult (*is_capturing)(CUstream stream, CUstreamCaptureStatus *status);
    CUresult (*is_capturing_own)(CUstream stream, CUstreamCaptureStatus *status);
    /* all fixed by start */
    uint32_t xowned;      /* streams of a thread's own were met; written by: any thread */
    bool owned_told;      /* the asker's */
    uint32_t xcaptures;   /* open; written by: any thread of the program, under the lock */
    pthread_mutex_t lock; /* held while the driver is asked */
    duty_t asker;
} streamends = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void hold(bool *held)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += HOLD_S;
    *held = pthread_mutex_timedlock(&streamends.lock, &until) == 0;
}

static void let_go(bool held)
{
    if (held)
        pthread_mutex_unlock(&streamends.lock);
}

void streamends_drop(const inflight_key_t *streams)
{
    bool held;

    hold(&held);
    inflight_drop(streams);
    let_go(held);
}

void streamends_captures(int more)
{
    bool held;

    hold(&held);
    gpurt_add_relaxed_dev_u32(&streamends.xcaptures,
                              (uint32_t)more); /* relaxed: the lock's */
    let_go(held);
}

static bool captures_are_open(void)
{
    /* relaxed: a capture of this very thread, or one that the program orders itself */
    return (int32_t)gpurt_load_relaxed_dev_u32(&streamends.xcaptures) > 0;
}

LAUNCHHOOK_PATH bool streamends_is_captured(CUstream stream, bool per_thread)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult (*ask)(CUstream, CUstreamCaptureStatus *) =
        per_thread ? streamends.is_capturing_own : streamends.is_capturing;

    if (!captures_are_open() || !ask)
        return false;
    return ask(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

LAUNCHHOOK_PATH bool streamends_answers(CUstream stream, bool per_thread)
{
    const bool own = stream == CU_STREAM_PER_THREAD || (!stream && per_thread);

    if (own)
        gpurt_store_relaxed_dev_u32(&streamends.xowned, 1); /* relaxed: a note */
    return !own;
}

/* ---- the thread ---------------------------------------------------------------------- */

/* A capture that nobody told of: it says nothing of what was launched. */
static bool is_captured(CUresult result)
{
    return result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
           result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

/* What was made before the question has ended when nothing is left, or when its context is gone. */
static void ask(const inflight_key_t *key)
{
    const uint32_t before = inflight_now();
    CUresult result = streamends.context_set(key->context);

    if (result == CUDA_SUCCESS)
        result = streamends.query((CUstream)(uintptr_t)key->stream);
    if (result != CUDA_ERROR_NOT_READY && !is_captured(result))
        inflight_emptied(key, before);
}

/* The list is made under the lock: what ends later is asked about before it does. */
static void look(void)
{
    inflight_key_t keys[STREAMS];
    uint32_t count;

    pthread_mutex_lock(&streamends.lock);
    count = captures_are_open() ? 0 : inflight_streams(keys, STREAMS, ASK_MS);
    for (uint32_t i = 0; i < count; i++)
        ask(&keys[i]);
    pthread_mutex_unlock(&streamends.lock);
}

static void owned_look(void)
{
    /* relaxed: a note */
    if (streamends.owned_told || !gpurt_load_relaxed_dev_u32(&streamends.xowned))
        return;
    streamends.owned_told = true;
    trouble_say(TROUBLE_NOTE,
                "what runs in default streams of single threads is not watched: "
                "GPURT_CUPTI=live does, at a higher cost");
}

static void asker_run(duty_t *duty)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED; /* of this thread */

    streamends.capture_mode(&mode);
    while (duty_wait(duty, LOOK_MS)) {
        owned_look();
        look();
    }
}

/* ---- start and stop ------------------------------------------------------------------ */

#define FIND(to_, name_)                                      \
    do {                                                      \
        void *at_ = find(name_);                              \
        memcpy(&streamends.to_, &at_, sizeof streamends.to_); \
    } while (0)

bool streamends_start(launchhook_find_t find, bool asks)
{
    FIND(query, "cuStreamQuery");
    FIND(context_set, "cuCtxSetCurrent");
    FIND(capture_mode, "cuThreadExchangeStreamCaptureMode");
    FIND(is_capturing, "cuStreamIsCapturing");
    FIND(is_capturing_own, "cuStreamIsCapturing_ptsz");
    if (!asks)
        return true;
    return streamends.query && streamends.context_set && streamends.capture_mode &&
           duty_start(&streamends.asker, "gpurt-ends", asker_run, NULL);
}

void streamends_stop(void)
{
    duty_stop(&streamends.asker, STOP_MS);
}
