/* SPDX-License-Identifier: Apache-2.0 */
#include "dumps.h"

#include "check.h"

#include <zstd.h>

static FILE *file_of(const char *name, const char *ending)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s%s", GPURT_DUMPS, name, ending);
    file = fopen(path, "rb");
    CHECK_MSG(file, "%s is not there", path);
    return file;
}

bytes_t dump_load(const char *name)
{
    static uint8_t packed[1 << 20];
    FILE *file = file_of(name, ".core.zst");
    size_t got = fread(packed, 1, sizeof packed, file), size;
    bytes_t out;
    void *at;

    fclose(file);
    out.size = ZSTD_getFrameContentSize(packed, got);
    CHECK_MSG(out.size > 0 && out.size < 1u << 30, "%s: %llu bytes", name,
              (unsigned long long)out.size);
    at = malloc((size_t)out.size);
    CHECK(at);
    size = ZSTD_decompress(at, (size_t)out.size, packed, got);
    CHECK_EQ(size, out.size);
    out.at = at;
    return out;
}

void dump_truth(const char *name, dump_truth_t *t)
{
    FILE *file = file_of(name, ".txt");
    int got;

    memset(t, 0, sizeof *t);
    got = fscanf(file,
                 "kernel %63s block %u,%u,%u thread %u,%u,%u warp %u lane %u sm %u slot %u "
                 "line %u address %llx",
                 t->kernel, &t->block[0], &t->block[1], &t->block[2], &t->thread[0],
                 &t->thread[1], &t->thread[2], &t->warp, &t->lane, &t->sm, &t->slot,
                 &t->line, &t->address);
    fclose(file);
    CHECK_EQ(got, 13);
}
