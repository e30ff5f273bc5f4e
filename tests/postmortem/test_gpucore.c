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

/* What stands before a return address is no call: then the unwinder made it up, and what it said
 * of the callers of that one. */
static void check_calls(void)
{
    bytes_t file = dump_load("trap");
    code_place_t call;
    fault_book_t book;
    gpucore_t *core;

    CHECK_EQ(gpucore_open_bytes(file, "trap", &core, NULL), GPURT_OK);
    CHECK_EQ(fault_book_fill(&book, core, NULL), GPURT_OK);
    CHECK_EQ(book.faults[0].call_count, 2);
    CHECK(code_find(core, book.faults[0].calls[1], &call));
    memcpy((void *)(uintptr_t)call.code.at, book.faults[0].place.code.at, 16);
    fault_book_fini(&book);
    CHECK_EQ(fault_book_fill(&book, core, NULL), GPURT_OK);
    CHECK_EQ(book.faults[0].call_count, 1);
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

/* ---- the lane of a warp ------------------------------------------------------------- */
enum {
    REGISTERS = 5,
    WARPS = 14,
    LANES = 15,
    FIRST = 8, /* lanes of the warp that failed: 8 to 31 */
    COUNT = 24,
    BEHIND = 3, /* instructions that may be put behind it */
    BASE = 4    /* its store is STG.E.64 [R4.64+0x10] */
};

/* Section `kind` of row `row` of table `table`. */
static bytes_t part_of(bytes_t file, uint32_t table, uint32_t kind, uint32_t row)
{
    elfview_t elf;
    elfsection_t s;

    CHECK(elfview_open(file, &elf));
    for (uint32_t i = 0; i < elf.count; i++)
        if (elfview_section(&elf, i, &s) && s.type == 0x80000000u + kind &&
            s.link == table && s.info == row)
            return s.data;
    CHECK_MSG(false, "no section %u of row %u", kind, row);
    return file;
}

static void word_set(bytes_t at, uint64_t offset, const void *value, size_t bytes)
{
    memcpy((uint8_t *)(uintptr_t)at.at + offset, value, bytes);
}

/* The dump of `address` as if all lanes of the warp had run its store, each with an address of
 * its own, and had stopped `passed` instructions later. */
static bytes_t crowd_make(const uint64_t addresses[COUNT], uint32_t exception,
                          uint32_t passed, const uint64_t (*behind)[2])
{
    bytes_t file = dump_load("address"), warps;
    const gpucore_warp_t *w;
    code_place_t place;
    fault_book_t book;
    gpucore_t *core;
    uint32_t all = 0xffffff00;
    uint64_t row, pc;

    CHECK_EQ(gpucore_open_bytes(file, "crowd", &core, NULL), GPURT_OK);
    CHECK_EQ(fault_book_fill(&book, core, NULL), GPURT_OK);
    w = &core->warps[book.faults[0].warp];
    warps = (bytes_t){NULL, 0};
    CHECK(code_find(core, w->error_pc, &place));
    for (uint32_t i = 1; behind && i <= BEHIND; i++)
        word_set(place.code, (uint64_t)i * SASS_BYTES, behind[i - 1], SASS_BYTES);
    for (uint32_t i = 0; i < COUNT; i++) {
        bytes_t registers = part_of(file, w->lanes, REGISTERS, i), lanes;
        elfsection_t s;

        CHECK(elfview_section(&core->elf, w->lanes, &s));
        lanes = s.data;
        row = i * s.row_bytes;
        pc = w->error_pc + passed * SASS_BYTES;
        word_set(registers, 4 * BASE, &addresses[i], 8);
        word_set(lanes, row, &pc, 8);
        word_set(lanes, row + 32, &exception, 4);
        CHECK(elfview_section(&core->elf, w->section, &s));
        warps = bytes_part(s.data, w->row * s.row_bytes, s.row_bytes);
    }
    word_set(warps, 16, &all, 4);
    fault_book_fini(&book);
    gpucore_close(core);
    return file;
}

/* A barrier and two that write other registers; one writes the address; a loop whose end does,
 * while the warp stands before that. */
static const uint64_t harmless[BEHIND][2] = {{0x0000000000007b1d, 0x000fec0000010000},
                                             {0x0000000000087805, 0x000fe20000015000},
                                             {0x3f80000009097421, 0x000fc80000000000}};
static const uint64_t written[BEHIND][2] = {{0x0000000000007b1d, 0x000fec0000010000},
                                            {0x0000000000047805, 0x000fe20000015000},
                                            {0x3f80000009097421, 0x000fc80000000000}};
static const uint64_t around[BEHIND][2] = {{0x0000000000007b1d, 0x000fec0000010000},
                                           {0x0000000000047805, 0x000fe20000015000},
                                           {0xfffffffc00f48947, 0x001fea000383ffff}};
static const struct crowd {
    const char *name;
    uint32_t exception, passed;
    uint64_t first, step; /* address of lane 8, and from lane to lane */
    uint64_t other;       /* of lane 17; 0: as the others' */
    uint32_t clue, want, lanes;
    bool sure;
    const char *words;
    const uint64_t (*behind)[2];
} crowds[] = {
    {"far", 14, 0, 0x7fdf4fe01000, 8, 0x7f91cfe01000, CULPRIT_FAR, 0, 1u << 17, false,
     "probably lane 17, by its address: 310 GiB from those of the others", NULL},
    {"right behind", 14, 1, 0x7fdf4fe01000, 8, 0x7f91cfe01000, CULPRIT_FAR, 0, 1u << 17,
     false, NULL, NULL},
    {"ran on", 14, 3, 0x7fdf4fe01000, 8, 0x7f91cfe01000, CULPRIT_UNKNOWN, CULPRIT_RAN_ON, 0,
     false,
     "one or more of these 24 lanes: the warp ran on before it stopped, and its registers "
     "are of later",
     NULL},
    {"past a barrier", 14, 2, 0x7fdf4fe01000, 8, 0x7f91cfe01000, CULPRIT_FAR, 0, 1u << 17,
     false, NULL, harmless},
    {"written since", 14, 3, 0x7fdf4fe01000, 8, 0x7f91cfe01000, CULPRIT_UNKNOWN,
     CULPRIT_OVERWRITTEN, 0, false, NULL, written},
    {"written around a loop", 14, 2, 0x7fdf4fe01000, 8, 0x7f91cfe01000, CULPRIT_UNKNOWN,
     CULPRIT_OVERWRITTEN, 0, false, NULL, around},
    {"null", 14, 0, 0x7fdf4fe01000, 8, 0x20, CULPRIT_NULL, 0, 1u << 17, true,
     "lane 17, by its address: in the page of NULL", NULL},
    {"no address", 14, 0, 0x7fdf4fe01000, 8, 0xdead00000000beef, CULPRIT_IMPOSSIBLE, 0,
     1u << 17, true, NULL, NULL},
    {"misaligned", 6, 0, 0x7fdf4fe01000, 8, 0x7fdf4fe01004, CULPRIT_MISALIGNED, 0, 1u << 17,
     true, "lane 17, by its address: misaligned", NULL},
    {"misaligned, ran on", 6, 5, 0x7fdf4fe01000, 8, 0x7fdf4fe01004, CULPRIT_MISALIGNED,
     CULPRIT_RAN_ON, 1u << 17, false, NULL, NULL},
    {"one page", 14, 0, 0x7fdf4fe01000, 8, 0, CULPRIT_SAME, 0, 0xffffff00, true, NULL,
     NULL},
    {"one address", 14, 0, 0x7fdf4fe01000, 0, 0, CULPRIT_EQUAL, 0, 0xffffff00, true,
     "lanes 8, 9, 10 and 21 more: all used the same address", NULL},
    {"in a row", 14, 0, 0x7fdf4fe01000, 4096, 0, CULPRIT_UNKNOWN, CULPRIT_WANT_CLUE, 0,
     false, "one or more of these 24 lanes: their addresses give no clue", NULL},
    {"scattered", 14, 0, 0x7f0000000000, 0x40000000, 0x7f1000000000, CULPRIT_UNKNOWN,
     CULPRIT_WANT_CLUE, 0, false, NULL, NULL},
};

static void check_crowd(const struct crowd *e)
{
    uint64_t addresses[COUNT];
    fault_book_t book;
    gpucore_t *core;
    const fault_t *f;
    char words[256];
    bytes_t file;

    for (uint32_t i = 0; i < COUNT; i++)
        addresses[i] = e->first + i * e->step - 0x10;
    if (e->other)
        addresses[17 - FIRST] = e->other - 0x10;
    file = crowd_make(addresses, e->exception, e->passed, e->behind);
    CHECK_EQ(gpucore_open_bytes(file, e->name, &core, NULL), GPURT_OK);
    CHECK_EQ(fault_book_fill(&book, core, NULL), GPURT_OK);
    f = &book.faults[0];
    culprit_words(&f->culprit, words, sizeof words);
    CHECK_MSG(f->narrowed && f->culprit.clue == e->clue && f->culprit.want == e->want &&
                  f->culprit.lanes == e->lanes && f->culprit.sure == e->sure,
              "%s: clue %u, want %u, lanes %08x, %s", e->name, f->culprit.clue,
              f->culprit.want, f->culprit.lanes, words);
    CHECK_MSG(!e->words || strcmp(words, e->words) == 0, "%s: %s", e->name, words);
    CHECK_MSG(f->vague == !e->lanes, "%s", e->name);
    CHECK_EQ(f->lane_count, e->lanes ? __builtin_popcount(e->lanes) : COUNT);
    if (e->other && e->lanes) {
        CHECK_EQ(f->lane.lane, 17);
        CHECK(f->has_address && f->address == e->other);
    }
    CHECK_MSG(e->lanes || !f->has_address, "%s: a good address is shown", e->name);
    fault_book_fini(&book);
    gpucore_close(core);
    free((void *)(uintptr_t)file.at);
}

/* ---- who waits, and who is waited for ------------------------------------------------- */
/* Most warps of the hang wait at a barrier, two poll: those are the suspects. */
static void check_suspect(void)
{
    static const uint64_t bar[2] = {0x0000000000007b1d, 0x000fec0000010000};
    bytes_t file = dump_load("hang");
    uint32_t last, first, moved = 0;
    code_place_t entry;
    fault_book_t book;
    gpucore_t *core;
    elfsection_t s;
    uint64_t pc;

    CHECK_EQ(gpucore_open_bytes(file, "hang", &core, NULL), GPURT_OK);
    pc = core->grids[0].entry;
    CHECK(code_find(core, pc, &entry));
    word_set(entry.code, 0, bar, sizeof bar);
    for (uint32_t i = 0; i + 2 < core->warp_count; i++, moved++) {
        CHECK(elfview_section(&core->elf, core->warps[i].lanes, &s));
        for (uint64_t row = 0; row + s.row_bytes <= s.data.size; row += s.row_bytes)
            word_set(s.data, row, &pc, 8);
    }
    CHECK_EQ(fault_book_fill(&book, core, NULL), GPURT_OK);
    CHECK_EQ(book.other_count, 2);
    CHECK_EQ(book.others[0].doing.kind, STANDING_POLLS);
    CHECK_EQ(book.others[0].warp_count, 2);
    CHECK(book.others[0].suspect && !book.others[1].suspect);
    CHECK_EQ(book.others[1].doing.kind, STANDING_BARRIER);
    CHECK_EQ(book.others[1].warp_count, moved);
    CHECK(
        standing_lines(core, &book.others[0].place, &book.others[0].doing, &first, &last));
    CHECK_MSG(first == 147 && last == 149, "lines %u-%u", first, last);
    CHECK(book.faults[0].snapshot && book.faults[0].pc == book.others[0].pc);
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
    check_calls();
    check_registers();
    check_hang();
    check_ended_warp();
    for (size_t i = 0; i < sizeof crowds / sizeof crowds[0]; i++)
        check_crowd(&crowds[i]);
    check_suspect();
    check_names();
    return 0;
}
