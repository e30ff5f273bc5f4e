/* SPDX-License-Identifier: Apache-2.0 */
#include "sass.h"

/* An instruction is 128 bits: opcode 0..11, guard 12..15, first register 16..23, address
 * 24..31, second register 32..39, offset 40..63; in the high half a uniform register 0..5,
 * wide address 8, size 9..11, how uniform registers are used 26 and 27. */
enum {
    USE_SHIFT = 26,
    USE_UNIFORM = 2,    /* the uniform register is added */
    USE_DESCRIPTOR = 3, /* it only describes the memory */
    LDS = 0x984
};

static const struct opcode {
    uint16_t code;
    uint8_t kind, space;
} opcodes[] = {
    {0x980, SASS_LOAD, SASS_GENERIC},   {0x981, SASS_LOAD, SASS_GLOBAL},
    {0x983, SASS_LOAD, SASS_LOCAL},     {LDS, SASS_LOAD, SASS_SHARED},
    {0x985, SASS_STORE, SASS_GENERIC},  {0x385, SASS_STORE, SASS_GENERIC},
    {0x986, SASS_STORE, SASS_GLOBAL},   {0x386, SASS_STORE, SASS_GLOBAL},
    {0x387, SASS_STORE, SASS_LOCAL},    {0x988, SASS_STORE, SASS_SHARED},
    {0x388, SASS_STORE, SASS_SHARED},   {0x98a, SASS_ATOMIC, SASS_GENERIC},
    {0x38a, SASS_ATOMIC, SASS_GENERIC}, {0x9a8, SASS_ATOMIC, SASS_GLOBAL},
    {0x3a8, SASS_ATOMIC, SASS_GLOBAL},  {0x3a9, SASS_ATOMIC, SASS_GLOBAL},
    {0x98e, SASS_ATOMIC, SASS_GLOBAL},  {0x38c, SASS_ATOMIC, SASS_SHARED},
    {0x98c, SASS_ATOMIC, SASS_SHARED},  {0x95c, SASS_TRAP, SASS_NOWHERE},
    {0x343, SASS_CALL, SASS_NOWHERE},   {0x943, SASS_CALL, SASS_NOWHERE},
    {0x944, SASS_CALL, SASS_NOWHERE},   {0x344, SASS_CALL, SASS_NOWHERE},
};

static const struct opcode *opcode_find(uint32_t code)
{
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++)
        if (opcodes[i].code == code)
            return &opcodes[i];
    return NULL;
}

static void address_read(sass_op_t *op, uint32_t code, uint64_t low, uint64_t high)
{
    static const uint8_t sizes[8] = {1, 1, 2, 2, 4, 8, 16, 0};
    uint32_t use = high >> USE_SHIFT & 3;

    op->base = low >> 24 & 255;
    op->offset = (int32_t)((int64_t)low >> 40);
    op->wide = high >> 8 & 1;
    op->extra = SASS_RZ;
    if (use == USE_UNIFORM)
        op->extra = code == LDS ? low >> 32 & 63 : high & 63;
    op->computable =
        use == 0 || use == USE_UNIFORM || (use == USE_DESCRIPTOR && op->base != SASS_RZ);
    if (op->kind != SASS_ATOMIC)
        op->size = sizes[high >> 9 & 7];
    op->value = op->kind == SASS_LOAD ? low >> 16 & 255 : low >> 32 & 255;
}

bool sass_decode(bytes_t code, uint32_t sm_major, sass_op_t *out)
{
    uint64_t low = bytes_u64(code, 0), high = bytes_u64(code, 8);
    const struct opcode *found;

    memset(out, 0, sizeof *out);
    if (code.size < SASS_BYTES || sm_major != 9)
        return false;
    found = opcode_find(low & 0xfff);
    if (!found)
        return true;
    out->kind = found->kind;
    out->space = found->space;
    if (found->space != SASS_NOWHERE)
        address_read(out, low & 0xfff, low, high);
    return true;
}

const char *sass_space_name(uint32_t space)
{
    static const char *const names[] = {"", "generic", "global", "shared", "local"};

    return space < sizeof names / sizeof names[0] ? names[space] : "";
}
