/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_peer: a library that CUDA loads (CUDA_INJECTION64_PATH) and that has CUPTI record what
 * the collector would, and reads none of it: what CUPTI itself costs, for benches. Its
 * buffers are made and touched before the first record and go round.
 *
 * GPURT_CUPTI: kinds, as for the collector. CUPTI_PEER_KIB: bytes of a buffer, 8 MiB unless
 * told. */
#include "cupti_api.h"
#include "wanted.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUFFERS = 64,
    READY = 4 /* as many are made at the start, and touched */
};

__attribute__((visibility("default"))) int InitializeInjection(void);

static struct {
    cupti_api_t api;
    pthread_mutex_t lock;
    uint8_t *made[BUFFERS], *free[BUFFERS];
    int all, count; /* of those that are free */
    size_t size, bytes;
} peer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void fail(const char *what)
{
    fprintf(stderr, "cupti_peer: %s\n", what);
    _Exit(9);
}

static uint8_t *make(void)
{
    uint8_t *buffer = peer.all < BUFFERS ? aligned_alloc(64, peer.size) : NULL;

    if (buffer)
        peer.made[peer.all++] = buffer;
    return buffer;
}

static void CUPTIAPI asked(uint8_t **buffer, size_t *size, size_t *max_records)
{
    pthread_mutex_lock(&peer.lock);
    *buffer = peer.count > 0 ? peer.free[--peer.count] : make();
    pthread_mutex_unlock(&peer.lock);
    *size = peer.size;
    *max_records = 0;
}

/* Where another library had CUPTI's buffers before, its own come here, too: they are left alone. */
static bool is_ours(const uint8_t *buffer)
{
    int i = 0;

    while (i < peer.all && peer.made[i] != buffer)
        i++;
    return i < peer.all;
}

static void CUPTIAPI done(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                          size_t valid)
{
    (void)context;
    (void)stream;
    (void)size;
    pthread_mutex_lock(&peer.lock);
    peer.bytes += valid;
    if (is_ours(buffer))
        peer.free[peer.count++] = buffer;
    pthread_mutex_unlock(&peer.lock);
}

/* A peer that recorded nothing would cost nothing. */
static void finish(void)
{
    peer.api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    if (peer.bytes == 0)
        fail("no records");
}

static CUptiResult enable(CUpti_ActivityKind kind)
{
    return kind == WANTED_DEVICE_GRAPHS ? peer.api.cuptiActivityEnableDeviceGraph(1)
                                        : peer.api.cuptiActivityEnable(kind);
}

int InitializeInjection(void)
{
    const char *kib = getenv("CUPTI_PEER_KIB"), *unknown;
    uint32_t wanted = wanted_read(getenv("GPURT_CUPTI"), &unknown);
    gpurt_error_t err;

    peer.size = (kib ? strtoul(kib, NULL, 10) : 8192) << 10;
    for (; peer.count < READY; peer.count++) {
        peer.free[peer.count] = make();
        if (!peer.free[peer.count])
            fail("no memory");
        memset(peer.free[peer.count], 1, peer.size);
    }
    if (cupti_api_open(&peer.api, &err) != GPURT_OK)
        fail(err.text);
    if (peer.api.cuptiActivityRegisterCallbacks(asked, done) != CUPTI_SUCCESS)
        fail("CUPTI refuses");
    for (uint32_t i = 0; wanted_rows[i].word; i++)
        if ((wanted >> i & 1) && enable(wanted_rows[i].kind) != CUPTI_SUCCESS)
            fail(wanted_rows[i].word);
    atexit(finish);
    return 1;
}
