/* SPDX-License-Identifier: Apache-2.0 */
#include "sass.h"

/* An instruction is 128 bits: opcode 0..11, guard 12..15, first register 16..23, address
 * 24..31, second register 32..39, offset 40..63; in the high half a uniform register 0..5,
 * wide address 8, size 9..11, order 13..16, predicates written 17..22, how uniform registers
 * are used 26 and 27. */
enum {
    USE_SHIFT = 26,
    USE_DESCRIPTOR = 3, /* it only describes the memory */
    ORDER_SHIFT = 13,   /* weak 0, constant 4; else strong, by scope */
    ORDER_CONSTANT = 4,
    LDS = 0x984,
    BRA = 0x947,
    PHASECHK = 0x5a7,
    CLUSTER_WAIT = 0xdc7,
    BAR_MODE = 13,
    BAR_ARRIVE = 1
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
    {0x98c, SASS_ATOMIC, SASS_SHARED},  {0x38d, SASS_ATOMIC, SASS_SHARED},
    {0xf8c, SASS_ATOMIC, SASS_SHARED},  {0x9a6, SASS_ATOMIC, SASS_GLOBAL},
    {0x95c, SASS_TRAP, SASS_NOWHERE},   {0x343, SASS_CALL, SASS_NOWHERE},
    {0x943, SASS_CALL, SASS_NOWHERE},   {0x944, SASS_CALL, SASS_NOWHERE},
    {0x344, SASS_CALL, SASS_NOWHERE},
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
    uint32_t use = high >> USE_SHIFT & 3, order = high >> ORDER_SHIFT & 15;

    op->base = low >> 24 & 255;
    op->offset = (int32_t)((int64_t)low >> 40);
    op->wide = high >> 8 & 1;
    op->extra = SASS_RZ;
    op->strong = op->space != SASS_SHARED && op->space != SASS_LOCAL && order != 0 &&
                 order != ORDER_CONSTANT;
    if (op->space == SASS_SHARED && use)
        op->extra = code == LDS ? low >> 32 & 63 : high & 63;
    /* elsewhere an atomic marks its descriptor as shared memory marks what is added */
    op->computable =
        use == 0 || op->extra != SASS_RZ ||
        ((use == USE_DESCRIPTOR || op->kind == SASS_ATOMIC) && op->base != SASS_RZ);
    if (op->kind != SASS_ATOMIC)
        op->size = sizes[high >> 9 & 7];
    op->value = op->kind == SASS_LOAD ? low >> 16 & 255 : low >> 32 & 255;
}

/* ---- what it writes, where it goes ------------------------------------------------------ */
/* The low 9 bits of an opcode tell the operation, the rest the form of its operands. */
enum {
    OPERATION = 0x1ff,
    CONTROL = 0x140, /* branches and what belongs to them, 32 of them */
    R2P = 0x004,
    BAR = 0x11d,
    WIDEST = 0x1f0, /* from here on: matrices, in any number of registers */
    UNKNOWN_WIDTH = 4
};

static const struct control {
    uint16_t code; /* OPERATION bits */
    uint8_t kind;
} controls[] = {
    {0x141, SASS_CONVERGE}, {0x145, SASS_OTHER}, {0x146, SASS_OTHER}, {0x147, SASS_BRANCH},
    {0x148, SASS_CONVERGE}, {0x14d, SASS_EXIT},  {0x15d, SASS_SLEEP},
};

/* How many registers an operation writes; by numbers of OPERATION. */
static uint32_t width_of(uint32_t operation)
{
    static const uint16_t none[] = {0x00b, 0x00c, 0x01c, 0x02a, 0x034, 0x118, 0x11a,
                                    BAR,   0x185, 0x186, 0x187, 0x188, 0x18e, 0x18f,
                                    0x192, 0x1a6, 0x1ab, 0x1ae, 0x1af, 0x1b2, 0x1c7};
    static const uint16_t one[] = {0x002, 0x006, 0x007, 0x008, 0x009, 0x010, 0x011,
                                   0x012, 0x013, 0x016, 0x017, 0x019, 0x020, 0x021,
                                   0x023, 0x024, 0x030, 0x031, 0x032, 0x035, 0x036,
                                   0x045, 0x046, 0x105, 0x106, 0x108, 0x109, 0x119};
    static const uint16_t two[] = {0x005, 0x025, 0x028, 0x029, 0x02b};

    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (none[i] == operation)
            return 0;
    for (size_t i = 0; i < sizeof one / sizeof one[0]; i++)
        if (one[i] == operation)
            return 1;
    for (size_t i = 0; i < sizeof two / sizeof two[0]; i++)
        if (two[i] == operation)
            return 2;
    return operation >= WIDEST ? SASS_RZ : UNKNOWN_WIDTH;
}

static uint32_t control_of(uint32_t code)
{
    uint32_t operation = code & OPERATION;

    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++)
        if (controls[i].code == operation)
            return controls[i].kind == SASS_BRANCH && code != BRA ? SASS_JUMP
                                                                  : controls[i].kind;
    return SASS_JUMP;
}

static void flow_read(sass_op_t *op, uint32_t code, uint64_t low, uint64_t high)
{
    uint32_t operation = code & OPERATION;

    if (code == PHASECHK)
        op->kind = SASS_TRY;
    else if (code == CLUSTER_WAIT ||
             (operation == BAR && (high >> BAR_MODE & 7) != BAR_ARRIVE))
        op->kind = SASS_BARRIER;
    else if ((operation & ~31u) == CONTROL)
        op->kind = control_of(code);
    if (op->kind == SASS_BRANCH) { /* 56 bits in three parts, in words */
        uint64_t words = (low >> 16 & 255) | low >> 34 << 8 | (high & 0x3ffff) << 38;

        op->target = SASS_BYTES + 4 * (uint64_t)((int64_t)(words << 8) >> 8);
    }
}

static void writes_read(sass_op_t *op, uint32_t code, uint64_t low)
{
    uint32_t operation = code & OPERATION;

    op->dest = low >> 16 & 255;
    op->dest_count = (operation & ~31u) == CONTROL || code == PHASECHK ? 0
                     : op->kind == SASS_LOAD                           ? (op->size + 3) / 4
                                             : width_of(operation);
    if (op->kind == SASS_LOAD && op->size == 0)
        op->dest_count = UNKNOWN_WIDTH;
}

bool sass_writes(const sass_op_t *op, uint32_t number)
{
    return number != SASS_RZ && op->dest != SASS_RZ && number >= op->dest &&
           number - op->dest < op->dest_count;
}

bool sass_writes_predicate(bytes_t code, const sass_op_t *op, uint32_t number)
{
    uint64_t low = bytes_u64(code, 0), high = bytes_u64(code, 8);

    if (number == SASS_PT || op->kind == SASS_LOAD || op->kind == SASS_STORE)
        return false;
    return (low & OPERATION) == R2P || (high >> 17 & 7) == number ||
           (high >> 20 & 7) == number;
}

/* ---- an instruction ---------------------------------------------------------------------- */
bool sass_decode(bytes_t code, uint32_t sm_major, sass_op_t *out)
{
    uint64_t low = bytes_u64(code, 0), high = bytes_u64(code, 8);
    const struct opcode *found;

    memset(out, 0, sizeof *out);
    if (code.size < SASS_BYTES || sm_major != 9)
        return false;
    out->guard = low >> 12 & 7;
    out->guard_not = low >> 15 & 1;
    found = opcode_find(low & 0xfff);
    if (found) {
        out->kind = found->kind;
        out->space = found->space;
        if (found->space != SASS_NOWHERE)
            address_read(out, low & 0xfff, low, high);
    } else {
        flow_read(out, low & 0xfff, low, high);
    }
    writes_read(out, low & 0xfff, low);
    return true;
}

const char *sass_space_name(uint32_t space)
{
    static const char *const names[] = {"", "generic", "global", "shared", "local"};

    return space < sizeof names / sizeof names[0] ? names[space] : "";
}
