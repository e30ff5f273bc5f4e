/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include <gpurt/atomic.h>
#include <gpurt/impl/logport.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    SPEC = 32 /* of one conversion, with flags, width and precision */
};

/* Owner: simt_message. */
typedef struct line {
    const gpurt_simt_panic_t *panic;
    uint32_t device;
    char *out;
    size_t room, used;
} line_t;

static void GPURT_PRINTF(2, 3) add(line_t *l, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(l->out + l->used, l->room - l->used, fmt, args);
    va_end(args);
    if (n > 0)
        l->used += (size_t)n;
    if (l->used >= l->room) {
        l->used = l->room - 1;
        if (l->room > 4)
            memcpy(l->out + l->room - 4, "...", 3);
    }
}

/* A string is a number of the box; without a box nobody has given it one. */
static void add_string(line_t *l, uint32_t number)
{
    const gpurt_log_port_t *port = &gpurt_log_ports[l->device];
    gpurt_def_t *def;

    if (!port->defs || number == 0 || number > port->def_count) {
        add(l, "<string>");
        return;
    }
    def = (gpurt_def_t *)((char *)port->defs + (size_t)(number - 1) * GPURT_DEF_BYTES);
    if (gpurt_load_acquire_sys_u32(&def->xstate) != GPURT_DEF_STRING) { /* B3.acq */
        add(l, "<string>");
        return;
    }
    add(l, "%.*s", (int)def->format_bytes, gpurt_def_text(def));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* spec: '%', flags, width and precision; letter: the conversion. */
static void add_value(line_t *l, char spec[SPEC], char letter, uint32_t type, uint64_t v)
{
    char *end = spec + strlen(spec);
    uint32_t low = (uint32_t)v;
    double wide;
    float narrow;

    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &v, sizeof wide);
    switch (type) {
    case GPURT_TYPE_F32:
    case GPURT_TYPE_F64:
        snprintf(end, 4, "%c", strchr("eEfFgGaA", letter) ? letter : 'g');
        add(l, spec, type == GPURT_TYPE_F32 ? (double)narrow : wide);
        break;
    case GPURT_TYPE_STRING:
        add_string(l, low);
        break;
    case GPURT_TYPE_PTR:
        add(l, "0x%llx", (unsigned long long)v);
        break;
    case GPURT_TYPE_I32:
    case GPURT_TYPE_U32:
    case GPURT_TYPE_CHAR:
        if (letter == 'c') {
            add(l, "%c", (int)low);
            break;
        }
        v = type == GPURT_TYPE_U32 || strchr("ouxX", letter)
                ? low
                : (uint64_t)(int64_t)(int32_t)v;
        /* fall through */
    default:
        if (!strchr("diouxX", letter))
            letter = type == GPURT_TYPE_U32 || type == GPURT_TYPE_U64 ? 'u' : 'd';
        snprintf(end, 4, "ll%c", letter);
        add(l, spec, (long long)v);
        break;
    }
}
#pragma GCC diagnostic pop

static void add_operand(line_t *l, uint32_t argument)
{
    uint32_t type = gpurt_type_at(l->panic->types, argument);
    char spec[SPEC];

    snprintf(spec, sizeof spec, "%%%s",
             type == GPURT_TYPE_F64   ? ".17"
             : type == GPURT_TYPE_F32 ? ".9"
                                      : "");
    add_value(l, spec, 's', type, l->panic->args[argument]);
}

/* What a panic without a message has to say. */
static void add_promise(line_t *l)
{
    const gpurt_simt_panic_t *p = l->panic;

    if (p->category == GPURT_CATEGORY_UNREACHABLE) {
        add(l, "unreachable code was reached");
    } else if (!p->condition) {
        add(l, "panic");
    } else if (p->category == GPURT_CATEGORY_BOUNDS && p->own >= 2) {
        add(l, "index ");
        add_operand(l, 0);
        add(l, " out of bounds of ");
        add_operand(l, 1);
        add(l, ": %s", p->condition);
    } else {
        add(l, "%s does not hold", p->condition);
        if (p->own < 2)
            return;
        add(l, ": ");
        add_operand(l, 0);
        add(l, " and ");
        add_operand(l, 1);
    }
}

/* p: behind the '%'. Returns: behind the conversion, or NULL where there is none. */
static const char *spec_read(const char *p, char spec[SPEC], char *letter)
{
    size_t plain = strspn(p, "-+ #0123456789."), length;

    length = strspn(p + plain, "hlLzjt");
    *letter = p[plain + length];
    if (!*letter || !strchr("diouxXcspeEfFgGaA", *letter) || plain > SPEC - 8)
        return NULL;
    snprintf(spec, SPEC, "%%%.*s", (int)plain, p);
    return p + plain + length + 1;
}

void simt_message(const gpurt_simt_panic_t *panic, uint32_t device, char *out, size_t room)
{
    line_t l = {.panic = panic, .device = device, .out = out, .room = room};
    const char *p = panic->format, *percent;
    uint32_t argument = panic->own;

    out[0] = '\0';
    if (!*p)
        add_promise(&l);
    for (; (percent = strchr(p, '%')) != NULL;) {
        char spec[SPEC], letter;
        const char *behind;

        add(&l, "%.*s", (int)(percent - p), p);
        behind = percent[1] == '%' ? NULL : spec_read(percent + 1, spec, &letter);
        p = behind ? behind : percent + 1 + (percent[1] == '%');
        if (!behind)
            add(&l, "%%");
        else if (argument >= panic->arg_count)
            add(&l, "<missing>");
        else
            add_value(&l, spec, letter, gpurt_type_at(panic->types, argument),
                      panic->args[argument]);
        argument += behind != NULL;
    }
    add(&l, "%s", p);
}
