/* SPDX-License-Identifier: Apache-2.0 */
#include "cubins.h"

#include "cubincode.h"
#include "elfview.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CUBINS = 4096,
    KEPT_BYTES = 256 << 20 /* in all: what large libraries with lines have, several times */
};

/* Written by: whoever loads the module, before it is to be found; what is below, the one thread
 * that asks for lines. */
typedef struct cubin {
    uint64_t crc;
    void *code;
    size_t bytes;
    bool opened;        /* it was asked for */
    cubincode_t *lines; /* NULL: it has none */
} cubin_t;

/* One process. What is there stays: who has found one uses it without the lock. */
static struct {
    const pcsampling_api_t *api;
    pthread_mutex_t lock; /* guards what is below; never held while CUPTI is called */
    cubin_t of[CUBINS];
    uint32_t count;
    size_t bytes;
} cubins = {.lock = PTHREAD_MUTEX_INITIALIZER};

void cubins_open(const pcsampling_api_t *api)
{
    cubins.api = api;
}

bool cubins_has_lines(const void *cubin, size_t bytes)
{
    elfsection_t section;
    elfview_t elf;

    return elfview_open((bytes_t){cubin, bytes}, &elf) &&
           elfview_find(&elf, ".debug_line", &section) && section.data.size > 0;
}

/* Under the lock. */
static cubin_t *find(uint64_t crc)
{
    for (uint32_t i = 0; i < cubins.count; i++)
        if (cubins.of[i].crc == crc)
            return &cubins.of[i];
    return NULL;
}

/* Under the lock. */
static bool add(uint64_t crc, const void *cubin, size_t bytes)
{
    void *code;

    if (cubins.count == CUBINS || bytes > KEPT_BYTES - cubins.bytes)
        return false;
    code = malloc(bytes);
    if (!code)
        return false;
    memcpy(code, cubin, bytes);
    cubins.of[cubins.count++] = (cubin_t){.crc = crc, .code = code, .bytes = bytes};
    cubins.bytes += bytes;
    return true;
}

bool cubins_crc(const void *cubin, size_t bytes, uint64_t *crc)
{
    CUpti_GetCubinCrcParams p = {
        .size = CUpti_GetCubinCrcParamsSize, .cubin = cubin, .cubinSize = bytes};
    const CUptiResult result = cubins.api->cuptiGetCubinCrc(&p);

    *crc = p.cubinCrc;
    return result == CUPTI_SUCCESS;
}

bool cubins_keep(uint64_t crc, const void *cubin, size_t bytes)
{
    bool kept;

    pthread_mutex_lock(&cubins.lock);
    kept = find(crc) || add(crc, cubin, bytes);
    pthread_mutex_unlock(&cubins.lock);
    return kept;
}

static const cubincode_t *lines_of(cubin_t *cubin)
{
    if (!cubin->opened)
        cubin->lines = cubincode_open(cubin->code, cubin->bytes);
    cubin->opened = true;
    return cubin->lines;
}

bool cubins_look(uint64_t crc, const char *function, uint64_t offset, cubins_place_t *out)
{
    line_frame_t frames[LINETABLE_FRAMES];
    const cubincode_t *lines;
    uint32_t count = 0;
    cubin_t *cubin;

    out->line = 0;
    out->file[0] = out->calls[0] = '\0';
    pthread_mutex_lock(&cubins.lock);
    cubin = find(crc);
    pthread_mutex_unlock(&cubins.lock);
    lines = cubin ? lines_of(cubin) : NULL;
    if (lines)
        count = cubincode_frames(lines, function, offset, frames);
    if (count == 0 || !frames[0].file[0])
        return false;
    out->line = frames[0].line;
    inlined_path(&frames[0], out->file);
    inlined_text(frames, count, out->calls);
    return out->line != 0;
}
