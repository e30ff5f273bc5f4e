/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_replay - a fuzz target as an ordinary test: each sound input, what is in the files
 * named, and many inputs damaged in ways that repeat (cut, flipped, overwritten with numbers
 * that break bounds, spliced). To be built with AddressSanitizer and UBSan.
 *
 *   fuzz_replay [FILE...]        as a test
 *   fuzz_replay --seeds FOLDER   writes the sound inputs there, for libFuzzer */
#include "check.h"
#include "fuzz.h"

#include <string.h>

enum {
    DAMAGED = 400, /* of each sound input */
    MOST = 8       /* damages of one */
};

static uint64_t state = 88172645463325252ull;

static uint32_t rnd(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % below;
}

/* Damages come where something is: most of a box is zero. */
static size_t place(const uint8_t *data, size_t size)
{
    size_t at = rnd((uint32_t)size);

    for (uint32_t tries = 0; tries < 64 && data[at] == 0; tries++)
        at = rnd((uint32_t)size);
    return at;
}

static size_t damage(uint8_t *data, size_t size)
{
    static const uint32_t odd[] = {0,           1,           0xffffffffu, 0x7fffffffu,
                                   0x80000000u, 0xfffffff8u, 4096,        65536};
    uint32_t count = 1 + rnd(MOST);

    for (uint32_t i = 0; i < count && size > 16; i++) {
        size_t at = place(data, size - 8), from = rnd((uint32_t)(size - 8));

        switch (rnd(6)) {
        case 0:
            data[at] ^= (uint8_t)(1u << rnd(8));
            break;
        case 1:
            data[at] = (uint8_t)rnd(256);
            break;
        case 2:
            memcpy(data + (at & ~(size_t)3), &odd[rnd(8)], 4);
            break;
        case 3:
            memmove(data + at, data + from, 8);
            break;
        case 4:
            memmove(data + (at & ~(size_t)7), data + (from & ~(size_t)7), 8);
            break;
        default:
            size -= rnd(8) ? 0 : rnd((uint32_t)size / 2);
        }
    }
    return size;
}

static void file_try(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data;
    long size;

    CHECK_MSG(file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0, "%s",
              path);
    data = malloc((size_t)size + 1);
    rewind(file);
    CHECK_MSG(data && fread(data, 1, (size_t)size, file) == (size_t)size, "%s", path);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    fclose(file);
}

static void seed_write(const char *folder, uint32_t index, const uint8_t *data, size_t size)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/seed%u", folder, index);
    file = fopen(path, "wb");
    CHECK_MSG(file && fwrite(data, 1, size, file) == size && fclose(file) == 0, "%s", path);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 2 && strcmp(argv[1], "--seeds") == 0 ? argv[2] : NULL;
    uint32_t inputs = 0, seeds = 0;
    size_t size;
    uint8_t *seed, *copy;

    for (; (seed = fuzz_seed(seeds, &size)) != NULL; seeds++) {
        if (folder) {
            seed_write(folder, seeds, seed, size);
            free(seed);
            continue;
        }
        LLVMFuzzerTestOneInput(seed, size);
        copy = malloc(size + 1);
        CHECK(copy);
        for (uint32_t i = 0; i < DAMAGED; i++, inputs++) {
            memcpy(copy, seed, size);
            /* An odd size asks the target to mend the checksums. */
            LLVMFuzzerTestOneInput(copy, damage(copy, size) | (i & 1));
        }
        free(copy);
        free(seed);
    }
    for (int i = 1; i < argc && !folder; i++, inputs++)
        file_try(argv[i]);
    CHECK_MSG(seeds > 0, "no sound input");
    printf("%u sound inputs, %u damaged\n", seeds, inputs);
    return 0;
}
