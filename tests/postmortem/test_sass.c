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
    {"EXIT", 0x000000000000094d, 0x000fea0003800000, SASS_OTHER, 0, 0, 0, 0, 0, 0, false},
    /* not of nvdisasm: an offset below 0 */
    {"STL [R1-0x10], R21", 0xfffff01501007387, 0x000fe80000100800, SASS_STORE, SASS_LOCAL,
     4, 1, SASS_RZ, 21, -16, false},
};

int main(void)
{
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
