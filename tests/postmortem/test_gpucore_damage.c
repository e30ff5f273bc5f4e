/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps that are cut, flipped and mangled where it hurts are read without a crash, and
 * without believing more than they hold. The sanitizers of the presets watch. */
#include "check.h"
#include "dumps.h"
#include "gpufault.h"

#include <elf.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    ROUNDS = 60, /* a dump and kind of damage */
    CUTS = 40
};

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* On an allocation of its own size, so that a read behind its end is seen. */
static void feed(const uint8_t *at, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    CHECK(copy);
    memcpy(copy, at, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void flip_bytes(uint8_t *file, uint64_t size)
{
    for (uint64_t i = 1 + draw(200); i > 0; i--)
        file[draw(size)] = (uint8_t)draw(256);
}

/* Headers of sections are where everything hangs. */
static void mangle_headers(uint8_t *file, uint64_t size)
{
    static const uint64_t awkward[] = {
        0, 1, 7, 8, 24, 1u << 31, UINT32_MAX, UINT64_MAX, UINT64_MAX - 7};
    bytes_t b = {file, size};
    uint64_t table = bytes_u64(b, offsetof(Elf64_Ehdr, e_shoff));
    uint64_t count = (size - table) / sizeof(Elf64_Shdr);

    for (uint64_t i = 1 + draw(20); i > 0; i--) {
        uint64_t at = table + draw(count) * sizeof(Elf64_Shdr) + 4 * draw(16);
        uint64_t v = awkward[draw(sizeof awkward / sizeof awkward[0])];

        if (at + 8 <= size)
            memcpy(file + at, &v, draw(2) ? 4 : 8);
    }
}

static bool is_whole(const uint8_t *at, size_t size)
{
    bytes_t file = {at, size};
    gpucore_t *core;
    bool whole =
        gpucore_open_bytes(file, "cut", &core, NULL) == GPURT_OK && !core->about.cut;

    if (core)
        gpucore_close(core);
    return whole;
}

/* A section that reaches beyond the end is cut, and what is there of it is read. */
static void check_long_section(bytes_t file, uint8_t *copy)
{
    uint64_t table = bytes_u64(file, offsetof(Elf64_Ehdr, e_shoff)), size = file.size;

    memcpy(copy, file.at, (size_t)file.size);
    memcpy(copy + table + 5 * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size), &size,
           sizeof size);
    feed(copy, (size_t)file.size);
    CHECK(!is_whole(copy, (size_t)file.size));
}

static void damage(const char *name)
{
    bytes_t file = dump_load(name);
    uint8_t *copy = malloc((size_t)file.size);

    CHECK(copy);
    CHECK_MSG(is_whole(file.at, (size_t)file.size), "%s", name);
    check_long_section(file, copy);
    for (int i = 0; i < CUTS; i++) {
        size_t size = (size_t)draw(file.size);

        feed(file.at, size);
        CHECK_MSG(!is_whole(file.at, size), "%s cut at %zu is taken for whole", name, size);
    }
    for (int i = 0; i < 2 * ROUNDS; i++) {
        memcpy(copy, file.at, (size_t)file.size);
        (i < ROUNDS ? flip_bytes : mangle_headers)(copy, file.size);
        feed(copy, (size_t)file.size);
    }
    free(copy);
    free((void *)(uintptr_t)file.at);
}

int main(void)
{
    damage("address");
    damage("assert");
    damage("debug");
    return 0;
}
