/* SPDX-License-Identifier: Apache-2.0 */
#include "linetable.h"

enum {
    OP_EXTENDED = 0,
    OP_COPY = 1,
    OP_ADVANCE_PC = 2,
    OP_ADVANCE_LINE = 3,
    OP_SET_FILE = 4,
    OP_CONST_ADD_PC = 8,
    OP_FIXED_ADVANCE_PC = 9,
    EXTENDED_END = 1,
    EXTENDED_ADDRESS = 2,
    EXTENDED_INLINED = 0x90,
    OPCODES_MAX = 256
};

/* One unit: a header and the programs of its sequences. */
typedef struct unit {
    bytes_t folders, files, program;
    uint32_t least_step, opcode_base, line_range;
    int32_t line_base;
    uint8_t lengths[OPCODES_MAX]; /* arguments of standard opcodes */
} unit_t;

typedef struct row {
    uint64_t address, function;
    uint32_t file, line, caller; /* caller: number of a row, 0 none */
} row_t;

/* ---- header ------------------------------------------------------------------------ */
/* Takes the texts of a list off the front; the list ends with an empty one. */
static bytes_t take_list(bytes_t *b, uint32_t numbers)
{
    bytes_t list = *b;

    while (b->size > 0 && b->at[0] != 0) {
        size_t bytes = strlen(bytes_text(*b, 0)) + 1;

        if (bytes == 1)
            break; /* not terminated */
        *b = bytes_part(*b, bytes, b->size);
        for (uint32_t i = 0; i < numbers; i++)
            bytes_take_leb(b, false);
    }
    list.size -= b->size;
    *b = bytes_part(*b, 1, b->size);
    return list;
}

/* Takes a unit off the front of the section. Returns: false at the end, and where it cannot
 * be read. */
static bool unit_take(bytes_t *section, unit_t *u)
{
    uint64_t size = bytes_take(section, 4), header;
    uint32_t version, wide = 4;
    bytes_t rest;

    memset(u, 0, sizeof *u);
    if (size == 0xffffffff) {
        size = bytes_take(section, 8);
        wide = 8;
    }
    if (size == 0)
        return false;
    rest = bytes_part(*section, 0, size);
    *section = bytes_part(*section, size, section->size);
    version = (uint32_t)bytes_take(&rest, 2);
    header = bytes_take(&rest, wide);
    if (version < 2 || version > 4)
        return section->size > 0; /* the next may be one that we know */
    u->program = bytes_part(rest, header, rest.size);
    rest = bytes_part(rest, 0, header);
    u->least_step = (uint32_t)bytes_take(&rest, 1);
    if (version == 4)
        bytes_take(&rest, 1);
    bytes_take(&rest, 1); /* rows are statements or not: nobody asks */
    u->line_base = (int32_t)bytes_take(&rest, 1);
    u->line_base -= u->line_base > 127 ? 256 : 0;
    u->line_range = (uint32_t)bytes_take(&rest, 1);
    u->opcode_base = (uint32_t)bytes_take(&rest, 1);
    for (uint32_t i = 1; i < u->opcode_base; i++)
        u->lengths[i] = (uint8_t)bytes_take(&rest, 1);
    u->folders = take_list(&rest, 0);
    u->files = take_list(&rest, 3);
    if (u->line_range == 0 || u->opcode_base == 0)
        u->program.size = 0;
    return true;
}

/* Entry `number`, counted from 1. *folder: of a list of files. */
static const char *list_at(bytes_t list, uint32_t number, bool files, uint32_t *folder)
{
    while (list.size > 0 && number > 0) {
        const char *text = bytes_text(list, 0);
        uint32_t of = 0;

        list = bytes_part(list, strlen(text) + 1, list.size);
        if (files) {
            of = (uint32_t)bytes_take_leb(&list, false);
            bytes_take_leb(&list, false);
            bytes_take_leb(&list, false);
        }
        if (--number == 0) {
            if (folder)
                *folder = of;
            return text;
        }
    }
    return "";
}

/* ---- program ----------------------------------------------------------------------- */
typedef struct machine {
    const unit_t *unit;
    bytes_t left;
    row_t now, last; /* last: the row before, where count is not 0 */
    uint32_t count;  /* rows of this sequence so far; repeated ones count once */
    bool ended;      /* the sequence did */
} machine_t;

static void machine_reset(machine_t *m)
{
    memset(&m->now, 0, sizeof m->now);
    m->now.file = m->now.line = 1;
    m->count = 0;
    m->ended = false;
}

static void extended(machine_t *m)
{
    uint64_t size = bytes_take_leb(&m->left, false);
    bytes_t op = bytes_part(m->left, 0, size);
    uint32_t code = (uint32_t)bytes_take(&op, 1);

    m->left = bytes_part(m->left, size, m->left.size);
    if (code == EXTENDED_END) {
        m->ended = true;
    } else if (code == EXTENDED_ADDRESS) {
        m->now.address = bytes_number(op, 0, op.size >= 8 ? 8 : 4);
    } else if (code == EXTENDED_INLINED) {
        m->now.caller = (uint32_t)bytes_take_leb(&op, false);
        m->now.function = bytes_take_leb(&op, false);
    }
}

static void standard(machine_t *m, uint32_t op)
{
    const unit_t *u = m->unit;

    switch (op) {
    case OP_ADVANCE_PC:
        m->now.address += bytes_take_leb(&m->left, false) * u->least_step;
        break;
    case OP_ADVANCE_LINE:
        m->now.line += (uint32_t)bytes_take_leb(&m->left, true);
        break;
    case OP_SET_FILE:
        m->now.file = (uint32_t)bytes_take_leb(&m->left, false);
        break;
    case OP_CONST_ADD_PC:
        m->now.address += (255 - u->opcode_base) / u->line_range * u->least_step;
        break;
    case OP_FIXED_ADVANCE_PC:
        m->now.address += bytes_take(&m->left, 2);
        break;
    default:
        for (uint32_t i = 0; i < u->lengths[op]; i++)
            bytes_take_leb(&m->left, false);
        break;
    }
}

static bool row_same(const row_t *a, const row_t *b)
{
    return a->address == b->address && a->file == b->file && a->line == b->line &&
           a->caller == b->caller && a->function == b->function;
}

/* ptxas writes some rows twice, and numbers callers as if it had written them once. */
static void row_count(machine_t *m)
{
    m->count += m->count == 0 || !row_same(&m->last, &m->now);
    m->last = m->now;
}

/* The next row, in m->now; also the end of a sequence is one, for its address. Returns:
 * false at the end of the program. */
static bool machine_next(machine_t *m)
{
    const unit_t *u = m->unit;

    if (m->ended)
        machine_reset(m);
    while (m->left.size > 0) {
        uint32_t op = (uint32_t)bytes_take(&m->left, 1);

        if (op >= u->opcode_base) {
            op -= u->opcode_base;
            m->now.address += (uint64_t)(op / u->line_range) * u->least_step;
            m->now.line += (uint32_t)(u->line_base + (int32_t)(op % u->line_range));
            row_count(m);
            return true;
        }
        if (op == OP_EXTENDED) {
            extended(m);
            if (m->ended)
                return true;
        } else if (op == OP_COPY) {
            row_count(m);
            return true;
        } else {
            standard(m, op);
        }
    }
    return false;
}

/* The row that covers pc, and where its sequence begins. */
static bool row_find(const unit_t *u, uint64_t pc, row_t *found, machine_t *sequence)
{
    machine_t m = {.unit = u, .left = u->program}, start;
    row_t before = {0};
    bool any = false;

    machine_reset(&m);
    start = m;
    while (machine_next(&m)) {
        if (any && before.address <= pc && pc < m.now.address) {
            *found = before;
            *sequence = start;
            return true;
        }
        any = !m.ended;
        before = m.now;
        if (m.ended) {
            start = m;
            machine_reset(&start);
        }
    }
    return false;
}

/* Row `number` of a sequence. */
static bool row_at(machine_t m, uint32_t number, row_t *out)
{
    while (m.count < number && machine_next(&m))
        if (m.ended)
            return false;
    *out = m.now;
    return number > 0 && m.count == number;
}

static void frame_fill(const unit_t *u, bytes_t strings, const row_t *row,
                       line_frame_t *out)
{
    uint32_t folder = 0;

    out->file = list_at(u->files, row->file, true, &folder);
    out->folder = list_at(u->folders, folder, false, NULL);
    out->line = row->line;
    out->function = row->caller ? bytes_text(strings, row->function) : "";
}

static uint32_t frames_of(const unit_t *u, bytes_t strings, row_t row, machine_t sequence,
                          line_frame_t out[LINETABLE_FRAMES])
{
    uint32_t count = 0, number;

    do {
        frame_fill(u, strings, &row, &out[count++]);
        number = row.caller;
    } while (number && count < LINETABLE_FRAMES && row_at(sequence, number, &row) &&
             row.caller < number);
    return count;
}

uint32_t linetable_find(bytes_t line, bytes_t strings, uint64_t pc,
                        line_frame_t out[LINETABLE_FRAMES])
{
    machine_t sequence;
    unit_t u;
    row_t row;

    while (unit_take(&line, &u))
        if (row_find(&u, pc, &row, &sequence))
            return frames_of(&u, strings, row, sequence, out);
    return 0;
}

/* ---- all of it ----------------------------------------------------------------------- */

/* A row is visited when the next one is known, which says where it ends. A caller that cannot be
 * one is none, as in frames_of. */
static void unit_visit(const unit_t *u, uint64_t number, line_visit_t visit, void *context)
{
    machine_t m = {.unit = u, .left = u->program};
    line_span_t before = {0}; /* number 0: there is none */

    machine_reset(&m);
    while (machine_next(&m)) {
        const row_t *now = &m.now;

        before.to = now->address > before.from ? now->address : before.from;
        if (before.number && (m.ended || m.count != before.number))
            visit(context, &before);
        if (m.count != before.number)
            before = (line_span_t){.from = now->address,
                                   .unit = number,
                                   .function = now->function,
                                   .file = now->file,
                                   .line = now->line,
                                   .number = m.count,
                                   .caller = now->caller < m.count ? now->caller : 0};
        if (m.ended)
            before.number = 0;
    }
}

void linetable_visit(bytes_t line, line_visit_t visit, void *context)
{
    bytes_t left = line;
    uint64_t number = 0;
    unit_t u;

    while (unit_take(&left, &u)) {
        unit_visit(&u, number, visit, context);
        number = line.size - left.size;
    }
}

void linetable_frame(bytes_t line, bytes_t strings, const line_span_t *span,
                     line_frame_t *out)
{
    const row_t row = {.function = span->function,
                       .file = span->file,
                       .line = span->line,
                       .caller = span->caller};
    bytes_t left = bytes_part(line, span->unit, line.size);
    unit_t u;

    unit_take(&left, &u);
    frame_fill(&u, strings, &row, out);
}
