/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of sm_90 as nvdisasm of CUDA 13.0 words them, and what is made of them. */
#include "check.h"
#include "sass.h"

static const struct instruction {
    const char *words;
    uint64_t low, high;
    uint32_t kind, space, size, base, extra, value;
    int32_t offset;
    bool wide;
} list[] = {
    {"LD.E R4, desc[UR4][R4.64]", 0x0000000404047980, 0x00321e000c101900, SASS_LOAD,
     SASS_GENERIC, 4, 4, SASS_RZ, 4, 0, true},
    {"LDG.E R4, desc[UR4][R18.64+0x28]", 0x0000280412047981, 0x006164000c1e1900, SASS_LOAD,
     SASS_GLOBAL, 4, 18, SASS_RZ, 4, 0x28, true},
    {"LDG.E.STRONG.SYS R4, desc[UR36][R6.64+0x2c]", 0x00002c2406047981, 0x004ea2000c1f5900,
     SASS_LOAD, SASS_GLOBAL, 4, 6, SASS_RZ, 4, 0x2c, true},
    {"LDL R20, [R1+0x80c]", 0x00080c0001147983, 0x000ea20000100800, SASS_LOAD, SASS_LOCAL,
     4, 1, SASS_RZ, 20, 0x80c, false},
    {"@!PT LDS RZ, [RZ]", 0x00000000fffff984, 0x000fe20000000800, SASS_LOAD, SASS_SHARED, 4,
     SASS_RZ, SASS_RZ, SASS_RZ, 0, false},
    {"ST.E.64.STRONG.SYS desc[UR4][R2.64], R26", 0x0000001a02007985, 0x0033de000c115b04,
     SASS_STORE, SASS_GENERIC, 8, 2, SASS_RZ, 26, 0, true},
    {"STG.E.64 desc[UR4][R2.64+0x8], R12", 0x0000080c02007986, 0x000fe8000c101b04,
     SASS_STORE, SASS_GLOBAL, 8, 2, SASS_RZ, 12, 8, true},
    {"STG.E desc[UR36][R2.64], R5", 0x0000000502007986, 0x001fe2000c101924, SASS_STORE,
     SASS_GLOBAL, 4, 2, SASS_RZ, 5, 0, true},
    {"STL [R1+0x810], R21", 0x0008101501007387, 0x000fe80000100800, SASS_STORE, SASS_LOCAL,
     4, 1, SASS_RZ, 21, 0x810, false},
    {"STS.64 [R9+UR4], R6", 0x0000000609007988, 0x0007e20008000a04, SASS_STORE, SASS_SHARED,
     8, 9, 4, 6, 0, false},
    {"BPT.TRAP 0x1", 0x000000040000795c, 0x000fe20000300000, SASS_TRAP, 0, 0, 0, 0, 0, 0,
     false},
    {"CALL.ABS.NOINC R14", 0x000000000e007343, 0x001fea0003c00000, SASS_CALL, 0, 0, 0, 0, 0,
     0, false},
    {"CALL.REL.NOINC", 0x0000002000507944, 0x001fea0003c00000, SASS_CALL, 0, 0, 0, 0, 0, 0,
     false},
    {"EXIT", 0x000000000000094d, 0x000fea0003800000, SASS_EXIT, 0, 0, 0, 0, 0, 0, false},
    {"@P0 BRA (forward)", 0x00000000001c0947, 0x000fea0003800000, SASS_BRANCH, 0, 0, 0, 0,
     0, 0, false},
    {"BAR.SYNC.DEFER_BLOCKING 0x0", 0x0000000000007b1d, 0x002fec0000010000, SASS_BARRIER, 0,
     0, 0, 0, 0, 0, false},
    {"BAR.SYNC R6, 0x40", 0x000100060000751d, 0x001fec0000010000, SASS_BARRIER, 0, 0, 0, 0,
     0, 0, false},
    {"BAR.ARV 0x1, 0x80", 0x0042000000007b1d, 0x000fec0000002000, SASS_OTHER, 0, 0, 0, 0, 0,
     0, false},
    {"UCGABAR_ARV", 0x00000000000079c7, 0x000fec0008000000, SASS_OTHER, 0, 0, 0, 0, 0, 0,
     false},
    {"UCGABAR_WAIT", 0x0000000000007dc7, 0x000fe20008000000, SASS_BARRIER, 0, 0, 0, 0, 0, 0,
     false},
    {"BSYNC B0", 0x0000000000007941, 0x000fea0003800000, SASS_CONVERGE, 0, 0, 0, 0, 0, 0,
     false},
    {"WARPSYNC.ALL", 0x0000000000007948, 0x000fea0003800000, SASS_CONVERGE, 0, 0, 0, 0, 0,
     0, false},
    {"NANOSLEEP 0x64", 0x000000640000795d, 0x000fea0003800000, SASS_SLEEP, 0, 0, 0, 0, 0, 0,
     false},
    {"SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR6], R0", 0x00000000ff0075a7, 0x000e240008000146,
     SASS_TRY, 0, 0, 0, 0, 0, 0, false},
    {"ATOMG.E.ADD.STRONG.GPU PT, R3, desc[UR4][R2.64], R15", 0x0000000f020379a8,
     0x000ee200081ee1c4, SASS_ATOMIC, SASS_GLOBAL, 0, 2, SASS_RZ, 15, 0, true},
    {"ATOMG.E.CAS.STRONG.GPU PT, R0, [R2], R6, R7", 0x00000006020073a9, 0x001ea400001ee107,
     SASS_ATOMIC, SASS_GLOBAL, 0, 2, SASS_RZ, 6, 0, true},
    {"ATOM.E.ADD.STRONG.GPU PT, RZ, desc[UR4][R4.64], R15", 0x0000000f04ff798a,
     0x004fe800081ee1c4, SASS_ATOMIC, SASS_GENERIC, 0, 4, SASS_RZ, 15, 0, true},
    {"REDG.E.ADD.STRONG.GPU desc[UR4][R6.64], R17", 0x000000110600798e, 0x000fe8000c10e184,
     SASS_ATOMIC, SASS_GLOBAL, 0, 6, SASS_RZ, 17, 0, true},
    {"REDG.E.ADD.F32x2.FTZ.RN.STRONG.GPU desc[UR4][R12.64], R16", 0x000000100c0079a6,
     0x000fe2000c10f584, SASS_ATOMIC, SASS_GLOBAL, 0, 12, SASS_RZ, 16, 0, true},
    {"ATOMS.CAS R5, [R6+0xc], R10, R11", 0x00000c0a0605738d, 0x000ea4000000000b,
     SASS_ATOMIC, SASS_SHARED, 0, 6, SASS_RZ, 10, 12, false},
    {"ATOMS.POPC.INC.32 RZ, [R9+UR4]", 0x0000000009ff7f8c, 0x000fe2000d800004, SASS_ATOMIC,
     SASS_SHARED, 0, 9, 4, 0, 0, false},
    {"LD.E.U8.STRONG.SYS R13, desc[UR4][R2.64]", 0x00000004020d7980, 0x000ea2000c115100,
     SASS_LOAD, SASS_GENERIC, 1, 2, SASS_RZ, 13, 0, true},
    {"ST.E.U16.STRONG.SYS desc[UR4][R8.64], R0", 0x0000000008007985, 0x000fe8000c115504,
     SASS_STORE, SASS_GENERIC, 2, 8, SASS_RZ, 0, 0, true},
    /* not of nvdisasm: an offset below 0 */
    {"STL [R1-0x10], R21", 0xfffff01501007387, 0x000fe80000100800, SASS_STORE, SASS_LOCAL,
     4, 1, SASS_RZ, 21, -16, false},
};

/* Where a branch leads, under which predicate, and what instructions write. */
static sass_op_t decoded(uint64_t low, uint64_t high)
{
    uint64_t words[2] = {low, high};
    bytes_t code = {(const uint8_t *)words, sizeof words};
    sass_op_t op;

    CHECK(sass_decode(code, 9, &op));
    return op;
}

static void check_flow(void)
{
    sass_op_t op = decoded(0xfffffffc00f08947, 0x001fea000383ffff); /* @!P0 BRA at 0xe0 */

    CHECK_EQ(0xe0 + op.target, 0xb0);
    CHECK(op.guard == 0 && op.guard_not && op.dest_count == 0);
    op = decoded(0x0000000000140947, 0x000fea0003800000); /* @P0 BRA at 0x90 */
    CHECK_EQ(0x90 + op.target, 0xf0);
    CHECK(op.guard == 0 && !op.guard_not);
    op = decoded(0xfffffffc00fc7947, 0x000fc0000383ffff); /* BRA to itself */
    CHECK(op.target == 0 && op.guard == SASS_PT);
}

static void check_writes(void)
{
    sass_op_t op = decoded(0x0000000404047981, 0x000f22000c1e1d00); /* LDG.E.128 R4 */

    CHECK(sass_writes(&op, 4) && sass_writes(&op, 7) && !sass_writes(&op, 8) && !op.strong);
    op = decoded(0x0000000404007980, 0x001ea8000c10f900); /* LD.E.STRONG.GPU R0 */
    CHECK(sass_writes(&op, 0) && !sass_writes(&op, 1) && op.strong);
    op = decoded(0x00000000ff0700720c & 0xffffffffff, 0x041fe20003f05270); /* ISETP P0 */
    CHECK(!sass_writes(&op, 0));
    op = decoded(0x0000000807027825, 0x001fd800078e0002); /* IMAD.WIDE.U32 R2, R7, 8, R2 */
    CHECK(sass_writes(&op, 2) && sass_writes(&op, 3) && !sass_writes(&op, 1));
    op = decoded(0x0000000902008986, 0x008fe8000c101904); /* @!P0 STG.E [R2.64], R9 */
    CHECK(!sass_writes(&op, 0) && !sass_writes(&op, SASS_RZ));
}

int main(void)
{
    check_flow();
    check_writes();
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        const struct instruction *in = &list[i];
        uint64_t words[2] = {in->low, in->high};
        bytes_t code = {(const uint8_t *)words, sizeof words};
        sass_op_t op;

        CHECK_MSG(sass_decode(code, 9, &op), "%s", in->words);
        CHECK_MSG(op.kind == in->kind && op.space == in->space, "%s: kind %u, memory %u",
                  in->words, op.kind, op.space);
        CHECK_MSG(op.size == in->size && op.base == in->base && op.extra == in->extra &&
                      op.value == in->value && op.offset == in->offset &&
                      op.wide == in->wide,
                  "%s: %u bytes, R%u, UR%u, value R%u, offset %d, wide %d", in->words,
                  op.size, op.base, op.extra, op.value, op.offset, op.wide);
        code.size--;
        CHECK_MSG(!sass_decode(code, 9, &op), "%s: cut", in->words);
        code.size++;
        CHECK_MSG(!sass_decode(code, 10, &op) && op.kind == SASS_OTHER,
                  "%s: of a GPU that is not known", in->words);
    }
    return 0;
}
