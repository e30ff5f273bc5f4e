/* SPDX-License-Identifier: Apache-2.0 */
/* Each dump says of its fault what the thread that failed had said before: kernel, block,
 * thread, lane, SM, source line, and the address where it can be known. */
#include "check.h"
#include "dumps.h"
#include "gpufault.h"

static const struct expected {
    const char *name, *kind;
    bool lines, address;
    uint32_t spread; /* the fault may lie so many lines behind the one told */
    uint32_t frames, calls;
    uint32_t warps, grid; /* in the dump; x of the launch */
} dumps[] = {
    {"trap", "trap", true, false, 0, 1, 2, 18, 3},
    {"address", "illegal-address", true, false, 0, 1, 0, 18, 3},
    {"misaligned", "misaligned-address", true, true, 0, 1, 2, 18, 3},
    {"shared", "shared-out-of-range", true, true, 0, 1, 2, 18, 3},
    {"stack", "stack-overflow", true, false, 3, 1, 2, 18, 3},
    {"assert", "assert", true, false, 0, 1, 0, 18, 3},
    {"inlined", "illegal-address", true, false, 0, 2, 0, 18, 3},
    {"without_lines", "illegal-address", false, false, 0, 0, 0, 18, 3},
    {"debug", "illegal-address", true, false, 0, 1, 0, 18, 3},
    {"cluster", "illegal-address", true, false, 0, 1, 0, 1, 4}, /* the others had ended */
};
enum {
    DUMPS = sizeof dumps / sizeof dumps[0]
};

static void check_place(const struct expected *e, const fault_t *f, const dump_truth_t *t)
{
    const char *file = f->place.frame_count ? f->place.frames[0].file : "";
    char name[128];

    code_name(f->kernel, name, sizeof name);
    CHECK_MSG(strcmp(name, t->kernel) == 0, "%s: kernel %s", e->name, name);
    code_name(f->place.function, name, sizeof name);
    CHECK_MSG(strstr(name, strcmp(e->name, "stack") == 0     ? "eat_stack"
                           : strcmp(e->name, "cluster") == 0 ? "doomed_cluster"
                                                             : "fail"),
              "%s: function %s", e->name, name);
    CHECK_EQ(f->place.frame_count, e->frames);
    if (!e->lines)
        return;
    CHECK_MSG(strcmp(file, "fault_plain.cu") == 0, "%s: file %s", e->name, file);
    CHECK_MSG(f->place.frames[0].line >= t->line &&
                  f->place.frames[0].line <= t->line + e->spread,
              "%s: line %u, the program says %u", e->name, f->place.frames[0].line,
              t->line);
}

static void check_thread(const struct expected *e, const gpucore_t *core, const fault_t *f,
                         const dump_truth_t *t)
{
    const gpucore_block_t *b = fault_block(core, f);

    for (int i = 0; i < 3; i++) {
        CHECK_EQ(b->index[i], t->block[i]);
        CHECK_EQ(f->lane.thread[i], t->thread[i]);
    }
    CHECK_EQ(f->lane.lane, t->lane);
    CHECK_EQ(f->lanes, 1u << t->lane);
    CHECK_EQ(core->warps[f->warp].slot, t->slot);
    CHECK_EQ(fault_sm(core, f)->id, t->sm);
    CHECK(fault_grid(core, f));
    CHECK_EQ(fault_grid(core, f)->grid[0], e->grid);
    CHECK_EQ(fault_grid(core, f)->grid[1], 2);
    CHECK_EQ(fault_grid(core, f)->block[0], 40);
}

static void check_inlined(const fault_t *f)
{
    char name[128];

    code_name(f->place.frames[0].function, name, sizeof name);
    CHECK_MSG(strcmp(name, "(anonymous)::store_inlined") == 0, "inlined %s", name);
    CHECK_MSG(f->place.frames[1].line > f->place.frames[0].line, "called in line %u",
              f->place.frames[1].line);
}

static void check_dump(const struct expected *e)
{
    bytes_t file = dump_load(e->name);
    gpurt_error_t err;
    dump_truth_t truth;
    fault_book_t book;
    gpucore_t *core;
    uint32_t warps = 0;

    dump_truth(e->name, &truth);
    CHECK_MSG(gpucore_open_bytes(file, e->name, &core, &err) == GPURT_OK, "%s", err.text);
    CHECK_EQ(fault_book_fill(&book, core, &err), GPURT_OK);
    CHECK_MSG(!core->about.cut, "%s", e->name);
    CHECK_EQ(core->about.driver_major, 580);
    CHECK_EQ(core->about.cuda_major, 13);
    CHECK_MSG(core->about.time_s > 1700000000, "%s", e->name);
    CHECK(strcmp(core->devices[0].name, "NVIDIA H200") == 0);
    CHECK_EQ(core->devices[0].sm_major, 9);
    CHECK_EQ(core->warp_count, e->warps);
    CHECK_EQ(book.count, 1);
    CHECK_MSG(strcmp(book.faults[0].kind->id, e->kind) == 0, "%s is told as %s", e->name,
              book.faults[0].kind->id);
    CHECK_EQ(book.faults[0].lane_count, 1);
    CHECK_EQ(book.faults[0].call_count, e->calls);
    check_place(e, &book.faults[0], &truth);
    check_thread(e, core, &book.faults[0], &truth);
    CHECK_EQ(book.faults[0].has_address, e->address);
    if (e->address)
        CHECK_EQ(book.faults[0].address, truth.address);
    if (e->frames > 1)
        check_inlined(&book.faults[0]);
    for (uint32_t i = 0; i < book.other_count; i++)
        warps += book.others[i].warp_count;
    CHECK_EQ(warps, e->warps - 1);
    fault_book_fini(&book);
    gpucore_close(core);
    free((void *)(uintptr_t)file.at);
}

/* The key that the kernel was given stands in two registers of the lane that failed; cuda-
 * gdb shows the same. */
static void check_registers(void)
{
    static const uint32_t key[2] = {0xe0ddba11, 0x05ca1ab1};
    uint32_t words[GPUCORE_REGISTERS_MAX], count, found = 0;
    bytes_t file = dump_load("address");
    code_place_t nowhere;
    fault_book_t book;
    gpucore_t *core;

    CHECK_EQ(gpucore_open_bytes(file, "address", &core, NULL), GPURT_OK);
    CHECK_EQ(fault_book_fill(&book, core, NULL), GPURT_OK);
    count = gpucore_registers(core, &core->warps[book.faults[0].warp], &book.faults[0].lane,
                              words);
    CHECK(count >= 24 && count < 64);
    CHECK(!code_find(core, 0x10, &nowhere)); /* code that is not loaded lies at 0 */
    for (uint32_t i = 0; i + 1 < count; i++)
        found += words[i] == key[0] && words[i + 1] == key[1];
    CHECK_EQ(found, 1);
    fault_book_fini(&book);
    gpucore_close(core);
    free((void *)(uintptr_t)file.at);
}

/* A dump that a user asked for: nobody failed, and every warp stands where it waits. */
static void check_hang(void)
{
    bytes_t file = dump_load("hang");
    fault_book_t book;
    gpucore_t *core;
    uint32_t warps = 0, blocks = 0;

    CHECK_EQ(gpucore_open_bytes(file, "hang", &core, NULL), GPURT_OK);
    CHECK_EQ(fault_book_fill(&book, core, NULL), GPURT_OK);
    CHECK_EQ(book.count, 1);
    CHECK(book.faults[0].snapshot && strcmp(book.faults[0].kind->id, "snapshot") == 0);
    for (uint32_t i = 0; i < book.other_count; i++) {
        warps += book.others[i].warp_count;
        blocks = blocks > book.others[i].block_count ? blocks : book.others[i].block_count;
        CHECK(strstr(book.others[i].place.kernel, "doomed"));
    }
    CHECK_EQ(warps, 18);
    CHECK_EQ(blocks, 6);
    fault_book_fini(&book);
    gpucore_close(core);
    free((void *)(uintptr_t)file.at);
}

/* Sets a word of each row of all tables of a kind. */
static void tables_set(bytes_t file, uint32_t kind, uint64_t at, uint32_t value)
{
    elfview_t elf;
    elfsection_t s;

    CHECK(elfview_open(file, &elf));
    for (uint32_t i = 0; i < elf.count; i++) {
        elfview_section(&elf, i, &s);
        for (uint64_t row = 0;
             s.type == 0x80000000u + kind && row + s.row_bytes <= s.data.size;
             row += s.row_bytes)
            memcpy((uint8_t *)(uintptr_t)s.data.at + row + at, &value, sizeof value);
    }
}

/* The warp that failed has ended: only its SM remembers it. */
static void check_ended_warp(void)
{
    bytes_t file = dump_load("address");
    fault_book_t book;
    dump_truth_t truth;
    gpucore_t *core;

    dump_truth("address", &truth);
    tables_set(file, 15, 32, 0); /* lanes: exception */
    tables_set(file, 14, 24, 0); /* warps: whether the failed instruction is known */
    CHECK_EQ(gpucore_open_bytes(file, "ended", &core, NULL), GPURT_OK);
    CHECK_EQ(fault_book_fill(&book, core, NULL), GPURT_OK);
    CHECK_EQ(book.count, 1);
    CHECK_EQ(book.faults[0].warp, GPUCORE_NONE);
    CHECK(!fault_block(core, &book.faults[0]) && !fault_grid(core, &book.faults[0]));
    CHECK_EQ(fault_sm(core, &book.faults[0])->id, truth.sm);
    CHECK(strcmp(book.faults[0].kind->id, "illegal-address") == 0);
    CHECK_EQ(book.faults[0].place.frames[0].line, truth.line);
    CHECK(!book.faults[0].has_address && !book.faults[0].snapshot);
    fault_book_fini(&book);
    gpucore_close(core);
    free((void *)(uintptr_t)file.at);
}

static void check_names(void)
{
    static const char *const names[][2] = {
        {"_Z6doomedP5place", "doomed"},
        {"_ZN2ns5thing3runIfLi4EEEvPT_", "ns::thing::run<...>"},
        {"_ZN12_GLOBAL__N_13runEv", "(anonymous)::run"},
        {"$_Z1aPi$_Z5innerPi", "inner"},
        {"_ZNK1a1bEv", "a::b"},
        {"gpurt_kernel", "gpurt_kernel"},
        {"_Z", "_Z"},
        {"_Z99x", "_Z99x"},
        {"", ""},
        {"$", "$"},
    };
    char name[64], little[5];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        code_name(names[i][0], name, sizeof name);
        CHECK_MSG(strcmp(name, names[i][1]) == 0, "%s is called %s", names[i][0], name);
    }
    code_name("_Z6doomedP5place", little, sizeof little);
    CHECK_MSG(strcmp(little, "doom") == 0, "%s", little);
}

int main(void)
{
    for (int i = 0; i < DUMPS; i++)
        check_dump(&dumps[i]);
    check_registers();
    check_hang();
    check_ended_warp();
    check_names();
    return 0;
}
