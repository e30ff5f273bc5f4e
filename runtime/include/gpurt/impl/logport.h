/* SPDX-License-Identifier: Apache-2.0 */
/* logport.h - what device code needs to know of its black box, and what it knows of a
 * site.
 *
 * The host side fills gpurt_log_port before it launches kernels and empties it when it
 * closes the box; with groups == NULL every log call returns at once, and with panic_count 0
 * nothing is kept of a panic. On a GPU it lies
 * in constant memory, one copy a translation unit, so that its fields are operands and
 * not loads. Included by log.h and panic.h; not for users. */
#ifndef GPURT_LOGPORT_H
#define GPURT_LOGPORT_H

#include <gpurt/block.h>
#include <gpurt/impl/levels.h>
#include <gpurt/impl/ringput.h>
#include <gpurt/impl/state.h>
#if GPURT_ON_CUDA
#    include <stdio.h>
#    include <stdlib.h>
#endif

/* A constant string that was defined already. */
typedef struct gpurt_log_string_entry {
    uint64_t xaddress; /* 0 free; written by: the lane that claims it */
    uint32_t xnumber;  /* of its definition, 0 not yet; likewise */
    uint32_t reserved;
} gpurt_log_string_entry_t;

enum {
    GPURT_LOG_STRINGS = 4096,
    GPURT_LOG_PROBES = 16
};

typedef struct gpurt_trail gpurt_trail_t; /* trail.h */

/* Owner: the host side of the runtime. Addresses are the device's. */
typedef struct gpurt_log_port {
    gpurt_group_t *groups; /* of ring 0; NULL: not connected */
    gpurt_ring_control_t *controls;
    char *heads; /* of gpurt_ring_head_t, each at its offset (gpurt_log_head_at) */
    gpurt_def_t *defs;
    uint32_t *xdefs;                   /* slots taken; written by: lanes that define */
    gpurt_log_string_entry_t *strings; /* GPURT_LOG_STRINGS */
    gpurt_panic_t *panics;
    uint32_t *xpanics;                  /* raised so far; written by: lanes that panic */
    uint32_t *xfailed;                  /* of them, what nobody handles; likewise */
    const gpurt_box_control_t *control; /* levels */
    gpurt_trail_t *trails;              /* one a ring; NULL: none */
    uint32_t group_count, ring_bytes, ring_count, warp_slots;
    uint32_t heads_end; /* offset of the head that never has room, behind the last */
    uint32_t policy, def_count, panic_count;
    gpurt_group_t *waits;            /* state.h; NULL: not told of */
    gpurt_waitable_entry_t *objects; /* object_count */
    uint32_t *xobjects;              /* taken; written by: lanes that name */
    uint32_t object_count;
    uint32_t epoch;   /* 1..65535, of this box: numbers of others are not its own */
    uint32_t open[8]; /* by level: not 0 where messages may be recorded */
} gpurt_log_port_t;

/* span: levels that may be recorded, from PANIC downwards; 0: none. */
GPURT_HD void gpurt_log_port_open(gpurt_log_port_t *port, uint32_t span)
{
    for (uint32_t level = 0; level < 8; level++)
        port->open[level] = level <= GPURT_LEVEL_PANIC && level + span > GPURT_LEVEL_PANIC;
}

/* On a GPU two heads a cache line: neighbours are warps of one multiprocessor. */
#define GPURT_LOG_HEAD_BYTES 64
#define GPURT_LOG_HEADS      64 /* a multiprocessor; none has more warps */

/* A GPU's head of a warp: factors that the compiler knows, because one that lies in constant memory
 * is 25 cycles away, and nothing else of a call can begin before its head is asked for. */
GPURT_HD uint32_t gpurt_log_gpu_head(uint32_t sm, uint32_t slot)
{
    return (sm * GPURT_LOG_HEADS + slot) * GPURT_LOG_HEAD_BYTES;
}

/* A site's static part. Owner: the program, one object a use of a macro.
 * Shared with: all lanes; fixed but for what has an x in front. */
typedef struct gpurt_site {
    /* GPURT_GATE_*, by gpurt_device_copy; written by: the lane that defines, the host (levels) */
    uint32_t xgate[GPURT_MAX_DEVICES];
    uint64_t types;
    const char *format, *file;
    uint32_t line;
    uint16_t format_bytes, file_bytes;
    uint8_t level, arg_count;
    uint16_t kind;
} gpurt_site_t;

/* What a limited form counts. A line of its own: an update takes its line out of the cache of the
 * multiprocessor, where gates are read. Owner: the program, one object a use. */
typedef struct GPURT_ALIGN(128) gpurt_log_limit {
    uint64_t xwindow_ns; /* rate limit: start of this second; written by: any lane */
    uint32_t xcount;     /* messages or tokens; likewise */
} gpurt_log_limit_t;

/* xgate: 0 never used; a number, perhaps with OFF; CLAIMED while it is being defined. OFF is
 * the sign, so that a site that is off costs one comparison. */
#define GPURT_GATE_OFF     0x80000000u
#define GPURT_GATE_CLAIMED 0x40000000u
#define GPURT_GATE_NUMBER  0x0000ffffu

/* A translation unit of CUDA code, and its copy of the port. Owner: the unit. */
typedef struct gpurt_log_unit {
    const void *symbol;
    struct gpurt_log_unit *next; /* written by: the list it is in */
    uint32_t trails;             /* it wants them; written by: context.h, as it is loaded */
} gpurt_log_unit_t;

GPURT_BEGIN_DECLS
/* While a program or a plugin is loaded and unloaded (logunit.c). Weak: a program of nvcc
 * that is linked without gpurt logs nothing. */
void gpurt_log_unit_add(gpurt_log_unit_t *unit) GPURT_WEAK;
void gpurt_log_unit_remove(gpurt_log_unit_t *unit) GPURT_WEAK;
#if !GPURT_ON_CUDA
extern gpurt_log_port_t gpurt_log_ports[GPURT_MAX_DEVICES]; /* logconnect.c */
#    define gpurt_log_port gpurt_log_ports[gpurt_device_copy()]
#endif
GPURT_END_DECLS

#if GPURT_ON_CUDA
static __constant__ gpurt_log_port_t gpurt_log_port;
static gpurt_log_unit_t gpurt_log_unit;

static __attribute__((constructor)) void gpurt_log_unit_enter(void)
{
    gpurt_log_unit.symbol = &gpurt_log_port;
    if (gpurt_log_unit_add)
        gpurt_log_unit_add(&gpurt_log_unit);
}
/* Somebody records a program that was linked without gpurt: once, because nobody else can. */
inline void gpurt_log_unit_alone(void)
{
    static bool told;
    const char *drainer = secure_getenv("GPURT_DRAIN"), *file = secure_getenv("GPURT_LOG");

    if (told || ((!drainer || !*drainer) && (!file || !*file)))
        return;
    told = true;
    fputs("gpurt: this program is linked without gpurt: what its kernels log, and their "
          "panics, went nowhere; link gpurt-cuda and call gpurt_open(NULL, &rt, NULL)\n",
          stderr);
}
static __attribute__((destructor)) void gpurt_log_unit_leave(void)
{
    if (gpurt_log_unit_remove)
        gpurt_log_unit_remove(&gpurt_log_unit);
    else
        gpurt_log_unit_alone();
}
#endif

/* May be old: on a GPU it comes out of the multiprocessor's cache, which is emptied whenever one
 * of its rings looks at its tail. relaxed: all it guards lies in the box and is read by the
 * drainer alone. */
GPURT_DEV uint32_t gpurt_log_gate(const gpurt_site_t *site)
{
#if GPURT_ON_CUDA
    return gpurt_load_relaxed_blk_u32(site->xgate);
#else
    return gpurt_load_relaxed_dev_u32(site->xgate + gpurt_device_copy());
#endif
}

/* Whether a site is anything but in use: never used, being defined, or off. */
GPURT_DEV bool gpurt_log_is_rare(uint32_t gate)
{
    return GPURT_UNLIKELY(gate - 1 >= GPURT_GATE_CLAIMED - 1);
}

GPURT_DEV uint32_t gpurt_log_ring_at(uint32_t sm, uint32_t slot)
{
    return sm * gpurt_log_port.warp_slots + slot;
}

/* Offset of a warp's head. On the CPU heads lie in the box, with the rings' controls. */
GPURT_DEV uint32_t gpurt_log_head_at(uint32_t sm, uint32_t slot)
{
#if GPURT_ON_CUDA
    return gpurt_log_gpu_head(sm, slot);
#else
    return gpurt_log_ring_at(sm, slot) * (uint32_t)sizeof(gpurt_ring_control_t);
#endif
}

GPURT_DEV uint32_t gpurt_log_head_here(void)
{
    uint32_t sm = gpurt_sm();

    return gpurt_log_head_at(sm, gpurt_warp_slot());
}

/* Of the same warp. */
GPURT_DEV uint32_t gpurt_log_ring_of(uint32_t head)
{
#if GPURT_ON_CUDA
    uint32_t at = head / GPURT_LOG_HEAD_BYTES;

    return gpurt_log_ring_at(at / GPURT_LOG_HEADS, at % GPURT_LOG_HEADS);
#else
    return head / (uint32_t)sizeof(gpurt_ring_control_t);
#endif
}

/* The ring whose head is below heads_end. */
GPURT_DEV gpurt_ring_port_t gpurt_log_ring(uint32_t head)
{
    uint32_t ring = gpurt_log_ring_of(head);
    gpurt_ring_port_t port;

    port.group_count = gpurt_log_port.group_count;
    port.groups = gpurt_log_port.groups + (size_t)ring * port.group_count;
    port.policy = gpurt_log_port.policy;
    port.control = gpurt_log_port.controls + ring;
    port.head = (gpurt_ring_head_t *)(gpurt_log_port.heads + head);
    return port;
}

/* Takes slots for a definition of so many bytes of text and fills its head but for the
 * state. Returns: its number, 0 when the table is full. */
GPURT_DEVN uint32_t gpurt_log_take_def(uint32_t text_bytes, gpurt_def_t **out)
{
    uint32_t slots = ((uint32_t)sizeof(gpurt_def_t) + text_bytes + GPURT_DEF_BYTES - 1) /
                     GPURT_DEF_BYTES;
    uint32_t slot = gpurt_add_relaxed_dev_u32(gpurt_log_port.xdefs, slots);

    if (slots > GPURT_DEF_MAX_SLOTS || slot + slots > gpurt_log_port.def_count ||
        slot + slots < slot)
        return 0;
    *out = (gpurt_def_t *)((char *)gpurt_log_port.defs + (size_t)slot * GPURT_DEF_BYTES);
    (*out)->slots = (uint16_t)slots;
    return slot + 1;
}

/* Four at a time: each store goes over the bus, and four loads are under way together. */
GPURT_DEVN void gpurt_log_copy(char *to, const char *from, uint32_t bytes)
{
    uint32_t i = 0;

    GPURT_ROLLED
    while (i < bytes) {
        if ((uintptr_t)(to + i) % 4 == 0 && bytes - i >= 4) {
            *(uint32_t *)(void *)(to + i) =
                (uint32_t)(uint8_t)from[i] | (uint32_t)(uint8_t)from[i + 1] << 8 |
                (uint32_t)(uint8_t)from[i + 2] << 16 | (uint32_t)(uint8_t)from[i + 3] << 24;
            i += 4;
        } else {
            to[i] = from[i];
            i++;
        }
    }
}

/* Whether the rules leave a site out. */
GPURT_DEVN bool gpurt_log_is_off(const gpurt_site_t *site)
{
    return site->level <
           gpurt_level_at(gpurt_log_port.control, site->file, site->file_bytes, site->line);
}

GPURT_DEVN void gpurt_log_write_def(gpurt_def_t *def, const gpurt_site_t *site)
{
    def->level = site->level;
    def->arg_count = site->arg_count;
    def->line = site->line;
    def->kind = site->kind;
    def->flags = 0;
    def->types = site->types;
    def->gate = (uint64_t)(uintptr_t)(site->xgate + gpurt_device_copy());
    def->format_bytes = site->format_bytes;
    def->file_bytes = site->file_bytes;
    def->module_bytes = 0;
    gpurt_log_copy(gpurt_def_text(def), site->format, site->format_bytes);
    gpurt_log_copy(gpurt_def_text(def) + site->format_bytes, site->file, site->file_bytes);
    gpurt_store_release_sys_u32(&def->xstate, GPURT_DEF_SITE); /* B3.rel */
}

/* First use of a site, by one lane. off: GPURT_GATE_OFF or 0. Returns: its gate. */
GPURT_DEVN uint32_t gpurt_log_define_as(gpurt_site_t *site, uint32_t off)
{
    uint32_t *own = site->xgate + gpurt_device_copy(), gate = 0, number;
    gpurt_def_t *def;

    if (!gpurt_cas_relaxed_dev_u32(own, &gate, GPURT_GATE_CLAIMED)) {
        /* Another lane defines it: one trip to memory, then it has a number. */
        while (gate == GPURT_GATE_CLAIMED) {
            gpurt_pause();
            gate = gpurt_load_acquire_dev_u32(own); /* B8.acq */
        }
        return gate;
    }
    number = gpurt_log_take_def((uint32_t)site->format_bytes + site->file_bytes, &def);
    gate = number;
    gate |= number ? off : GPURT_GATE_OFF;
    gpurt_store_release_dev_u32(own, gate); /* B8.rel */
    if (number != 0)
        gpurt_log_write_def(def, site);
    return gate;
}

/* ... as the rules say. */
GPURT_DEV uint32_t gpurt_log_define(gpurt_site_t *site)
{
    return gpurt_log_define_as(site, gpurt_log_is_off(site) ? GPURT_GATE_OFF : 0);
}

#define GPURT_STRING_NONE 0xffffffffu

/* Defines a constant string whose entry the caller has claimed. Its number is known
 * before its text is written, so that others wait for one trip to memory only. */
GPURT_DEVN uint32_t gpurt_log_define_string(gpurt_log_string_entry_t *entry,
                                            const char *text)
{
    uint32_t bytes = 0, number;
    gpurt_def_t *def;

    GPURT_ROLLED
    while (bytes < GPURT_DEF_TEXT_BYTES && text[bytes])
        bytes++;
    number = gpurt_log_take_def(bytes, &def);
    /* relaxed: the drainer waits for the definition itself */
    gpurt_store_relaxed_dev_u32(&entry->xnumber, number ? number : GPURT_STRING_NONE);
    if (number == 0)
        return 0;
    def->types = 0;
    def->format_bytes = (uint16_t)bytes;
    def->file_bytes = def->module_bytes = 0;
    gpurt_log_copy(gpurt_def_text(def), text, bytes);
    gpurt_store_release_sys_u32(&def->xstate, GPURT_DEF_STRING); /* B3.rel */
    return number;
}

/* A constant string as an argument: the same address is the same text for ever.
 * Returns: its number, 0 when there is no room for it. */
GPURT_DEVN uint32_t gpurt_log_string(const char *text)
{
    uint64_t address = (uint64_t)(uintptr_t)text;
    uint32_t at = (uint32_t)((address * 0x9e3779b97f4a7c15ull) >> 48);

    if (!text || !gpurt_log_port.strings)
        return 0;
    GPURT_ROLLED
    for (uint32_t i = 0; i < GPURT_LOG_PROBES; i++) {
        gpurt_log_string_entry_t *e =
            &gpurt_log_port.strings[(at + i) & (GPURT_LOG_STRINGS - 1)];
        uint64_t found = gpurt_load_relaxed_dev_u64(&e->xaddress);
        uint32_t number;

        if (found == 0 && gpurt_cas_relaxed_dev_u64(&e->xaddress, &found, address))
            return gpurt_log_define_string(e, text);
        if (found != address)
            continue;
        while ((number = gpurt_load_relaxed_dev_u32(&e->xnumber)) == 0)
            gpurt_pause();
        return number == GPURT_STRING_NONE ? 0 : number;
    }
    return 0;
}

#endif
