/* SPDX-License-Identifier: Apache-2.0 */
/* box.h - the layout of the black box: one shared mapping between an application (its
 * host threads and its devices), a drainer in another process, and whoever reads it
 * afterwards.
 *
 * The mapping holds only fixed-width fields and offsets from its start, never a pointer
 * that a reader follows. It is the same from C, C++ and CUDA and may be read from a live
 * mapping, a file or a core dump. Everything up to a section's offsets is written before
 * xlife becomes OPEN and never changes again; the fields with an x in front have the
 * writer named.
 *
 *   page 0     gpurt_box_t: identity, control, drainer claim, table of sections
 *   sections   one a device and one for host code, each with
 *                rings     gpurt_ring_control_t [ring_count]
 *                data      ring_count rings of ring_bytes
 *                defs      slots of 256 bytes: sites and constant strings
 *                panics    gpurt_panic_t [panic_count]
 *                state     pages of gauges
 *   shelf      groups that a drainer has taken off rings and no file holds yet
 * Verbs: boxmap.h (host), log.h and panic.h (device). Order: docs/MEMORY_ORDER.md. */
#ifndef GPURT_BOX_H
#define GPURT_BOX_H

#include <gpurt/impl/record.h>

#define GPURT_BOX_MAGIC 0x31584f4254525047ull /* "GPRTBOX1", little endian */

enum {
    GPURT_BOX_VERSION = 3, /* grows when an old reader would misread the mapping */
    GPURT_BOX_PAGE = 4096,
    GPURT_BOX_SECTIONS = 9, /* 8 devices and the host */
    GPURT_BOX_NAME = 64,
    GPURT_BOX_RULES = 16,
    GPURT_BOX_SIDE = 4096,             /* most multiprocessors, and warp slots of one */
    GPURT_RING_MIN_BYTES = 4096,       /* two of the longest records */
    GPURT_RING_MAX_BYTES = 512 * 1024, /* 2^15 groups: a 16-bit seq tells two laps apart */
    GPURT_HOST_RING_BYTES = GPURT_RING_MAX_BYTES,
    GPURT_SHELF_BYTES = 2 << 20,      /* what two batches of a drainer take off rings */
    GPURT_SHELF_MAX_BYTES = 64 << 20, /* positions in it are compared by subtraction */
    GPURT_DEF_BYTES = 256,
    GPURT_DEF_MAX_SLOTS = 16, /* of one definition */
    GPURT_DEF_MAX_COUNT = 65536,
    GPURT_PANIC_OWN = 2, /* operands that the macro keeps by itself: a and b of a < b */
    GPURT_PANIC_ARGS = GPURT_MAX_ARGS + GPURT_PANIC_OWN,
    GPURT_PANIC_CONTEXTS = 8,
    GPURT_PANIC_FRAMES = 8,
    GPURT_PANIC_HELD = 8,
    GPURT_PANIC_WINDOWS = 4,
    GPURT_PANIC_WINDOW = 256, /* bytes of one */
    GPURT_PANIC_BYTES = 4096
};

enum {
    GPURT_SECTION_NONE = 0,
    GPURT_SECTION_CUDA = 1,
    GPURT_SECTION_CPU = 2,
    GPURT_SECTION_HOST = 3
};
enum {
    GPURT_POLICY_DROP_NEWEST = 0,
    GPURT_POLICY_OVERWRITE = 1,
    GPURT_POLICY_BLOCK = 2
};
enum {
    GPURT_LIFE_CREATING = 0,
    GPURT_LIFE_OPEN = 1,
    GPURT_LIFE_CLOSED = 2
};
enum {
    GPURT_DEF_NONE = 0,
    GPURT_DEF_SITE = 1,
    GPURT_DEF_STRING = 2
};

/* A producer's running figures. For the CPU back end and host code they lie in the ring's
 * control block; a GPU keeps its own in device memory, where they cost nothing. */
typedef struct gpurt_ring_head {
    uint32_t xhead;    /* next position; written by: the ring's producer(s) */
    uint32_t xlimit;   /* position at which the producer must look up; likewise */
    uint64_t xrecords; /* messages written; likewise */
    uint32_t xlap;     /* position where the current lap ends; likewise */
    uint32_t xlost;    /* messages dropped; likewise */
    uint64_t xlook_ns; /* full ring: no look at xtail before this time; likewise */
    uint64_t xwait_ns; /* blocking: no wait for room before this time; likewise */
} gpurt_ring_head_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_ring_head_t) == 40, "layout of version 1");

/* What was lost, whole at any time: one 128-bit store. */
typedef struct GPURT_ALIGN(16) gpurt_ring_loss {
    uint32_t count;   /* messages, running; low half */
    uint32_t reason;  /* of the last one */
    uint64_t time_ns; /* of the last one, producer's clock */
} gpurt_ring_loss_t;

/* Owner: the box. Two cache lines so that host and device never write the same one. */
typedef struct GPURT_ALIGN(128) gpurt_ring_control {
    uint32_t xtail; /* space before it is free again; written by: drainer */
    uint32_t xseen; /* messages drained up to xfiled; written by: drainer */
    uint32_t xseen_high;
    uint32_t
        xlost_told; /* of xloss.count, how many are in the stream; written by: drainer */
    uint32_t xplan; /* low half of the number of the flush that the next four belong to:
                       what the above become when it is done; written by: drainer */
    uint32_t xplan_tail, xplan_seen, xplan_seen_high, xplan_lost_told;
    uint32_t xfiled; /* what is before it is in the file; from there to xtail on the shelf;
                        written by: drainer */
    uint32_t reserved[6];
    gpurt_ring_loss_t xloss; /* written by: the ring's producer */
    gpurt_ring_head_t head;  /* CPU back end and host code */
    uint32_t reserved2[2];
} gpurt_ring_control_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_ring_control_t) == 128, "two lines");
GPURT_STATIC_ASSERT(offsetof(gpurt_ring_control_t, xloss) == 64, "a line for each writer");

/* A site or a constant string, in 1..16 consecutive slots; its number is its first
 * slot's index plus one. Texts follow the struct without terminators: format, file,
 * module; a string has only the first. */
typedef struct gpurt_def {
    uint32_t xstate; /* GPURT_DEF_*, stored last; written by: who claimed the slot */
    uint16_t slots;
    uint8_t level; /* GPURT_LEVEL_* */
    uint8_t arg_count;
    uint32_t line;
    uint16_t kind;  /* GPURT_KIND_* of its records */
    uint16_t flags; /* 0 */
    uint64_t types; /* GPURT_TYPE_*, four bits an argument */
    uint64_t gate;  /* where in the producer's memory the site's gate word lies */
    uint16_t format_bytes, file_bytes, module_bytes;
    uint16_t reserved;
} gpurt_def_t;
enum {
    GPURT_DEF_TEXT_BYTES = GPURT_DEF_MAX_SLOTS * GPURT_DEF_BYTES - 40
};
GPURT_STATIC_ASSERT(sizeof(gpurt_def_t) == 40, "layout of version 1");

enum {
    GPURT_PANIC_EMPTY = 0,
    GPURT_PANIC_WRITTEN = 1,
    GPURT_PANIC_COPYING = 2 /* whole but for its windows: memory is being read for them */
};

/* What kind of promise was broken. Numbers are frozen; 0 stands in logs of before. A reader
 * takes one that it does not know for PANIC. */
enum {
    GPURT_CATEGORY_NONE = 0,
    GPURT_CATEGORY_PANIC = 1,
    GPURT_CATEGORY_ASSERT = 2,
    GPURT_CATEGORY_COMPARE = 3,
    GPURT_CATEGORY_BOUNDS = 4,
    GPURT_CATEGORY_UNREACHABLE = 5,
    /* 32..47: faults, and 48..63: hangs, of a kernel of the CPU back end. Its executor writes
     * them (failure.c), with a report. */
    GPURT_CATEGORY_FAULT = 32,
    GPURT_CATEGORY_ADDRESS = 32,
    GPURT_CATEGORY_BUS = 33,
    GPURT_CATEGORY_ARITHMETIC = 34,
    GPURT_CATEGORY_INSTRUCTION = 35,
    GPURT_CATEGORY_STACK = 36,
    GPURT_CATEGORY_TRAP = 37,
    GPURT_CATEGORY_SYNC = 38,  /* synchronisation against its rules */
    GPURT_CATEGORY_SCOPE = 39, /* an atomic whose scope leaves out a user of its word */
    GPURT_CATEGORY_ABORT = 40,
    GPURT_CATEGORY_SHARED = 41, /* more shared memory than there is */
    GPURT_CATEGORY_HANG = 48,
    GPURT_CATEGORY_DEADLOCK = 48,
    GPURT_CATEGORY_LIVELOCK = 49,
    GPURT_CATEGORY_OCCUPANCY = 50,
    GPURT_CATEGORY_RUNTIME = 64, /* 64..127: of the runtime's own parts */
    GPURT_CATEGORY_USER = 128    /* 128..255: of programs (GPURT_PANIC_AS) */
};

/* Texts are numbers of string definitions, 0 none. */
typedef struct gpurt_panic_context {
    uint32_t name, type; /* GPURT_TYPE_* */
    uint64_t value;
} gpurt_panic_context_t;

typedef struct gpurt_panic_frame {
    uint32_t function, file, line;
} gpurt_panic_frame_t;

/* What the warp's task had taken and not given back. */
typedef struct gpurt_panic_held {
    uint32_t kind, name; /* GPURT_HELD_* */
    uint64_t object;
} gpurt_panic_held_t;

enum {
    GPURT_HELD_NONE = 0,
    GPURT_HELD_LOCK = 1,
    GPURT_HELD_CHANNEL = 2,
    GPURT_HELD_ALLOCATION = 3
};

/* A part of memory as it was. */
typedef struct gpurt_panic_window {
    uint64_t base, size;  /* what was named */
    uint64_t start, mark; /* first byte copied; the address that matters, 0 none */
    uint32_t bytes, name;
    uint8_t data[GPURT_PANIC_WINDOW];
} gpurt_panic_window_t;

/* One panic: of the lanes of a warp that came to it together. A slot is taken once and never
 * reused: the first ones matter most. */
typedef struct GPURT_ALIGN(64) gpurt_panic {
    uint32_t xstate; /* GPURT_PANIC_*, stored last; written by: the lane that panicked */
    uint32_t site;   /* number of the site's definition */
    uint32_t sm, warp_slot;
    gpurt_dim3_t block, thread;
    uint32_t warp, lane;
    uint32_t mask;   /* lanes that ran together */
    uint32_t failed; /* lanes for which the condition failed */
    uint64_t time_ns, clock;
    uint64_t xtold;  /* number of the flush that tells it, 0 none; written by: drainer */
    uint32_t number; /* of the section's panics, from 0: the lowest of a block came first */
    uint16_t category; /* GPURT_CATEGORY_* */
    uint16_t own;      /* that many of args are the macro's own, before the message's */
    uint32_t condition, function, kernel; /* texts: `i < n`, and where it stands */
    uint32_t cluster_rank, cluster_size;
    gpurt_dim3_t grid, block_dim;
    uint64_t launch;       /* the device's number for it */
    uint64_t log_sequence; /* messages that the warp's ring had taken before */
    uint32_t contexts_left_out, frames_left_out, held_left_out; /* beyond the tables */
    uint64_t task, parent_task;                                 /* 0 none */
    uint32_t context_count, frame_count, held_count, window_count;
    uint64_t args[GPURT_PANIC_ARGS]; /* as the site's types say, one a word */
    uint64_t lanes[GPURT_PANIC_OWN][GPURT_WARP_SIZE]; /* the first operands of each lane in
                                                         `mask` */
    gpurt_panic_context_t contexts[GPURT_PANIC_CONTEXTS]; /* newest last */
    gpurt_panic_frame_t frames[GPURT_PANIC_FRAMES];       /* innermost first */
    gpurt_panic_held_t held[GPURT_PANIC_HELD];
    gpurt_panic_window_t windows[GPURT_PANIC_WINDOWS];
    uint8_t reserved[1732];
    uint32_t
        report_bytes; /* of the whole report, 0 none; GPURT_PANIC_REPORT of them are here, in
                              the place of windows and what is reserved */
} gpurt_panic_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_panic_t) == GPURT_PANIC_BYTES, "layout of version 2");
enum {
    GPURT_PANIC_REPORT = GPURT_PANIC_BYTES - 4 - (int)offsetof(gpurt_panic_t, windows)
};
GPURT_STATIC_ASSERT(offsetof(gpurt_panic_t, report_bytes) == GPURT_PANIC_BYTES - 4,
                    "the report ends before it");

/* Where the report of a panic lies that has one: text without a terminator. */
GPURT_HD char *gpurt_panic_report(gpurt_panic_t *panic)
{
    return (char *)panic + offsetof(gpurt_panic_t, windows);
}

/* device time -> real time: real = real_ns + (t - device_ns) * (1 + rate_ppb / 1e9).
 * A sequence lock: odd while it is being written. */
typedef struct gpurt_clock_fit {
    uint32_t xseq;     /* written by: the application's host side, as all of this */
    uint32_t error_ns; /* bound of the fit at real_ns */
    uint64_t device_ns;
    uint64_t real_ns; /* CLOCK_REALTIME */
    int64_t rate_ppb;
} gpurt_clock_fit_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_clock_fit_t) == 32, "layout of version 1");

typedef struct gpurt_box_section {
    uint32_t kind;       /* GPURT_SECTION_* */
    uint32_t device;     /* number among its kind */
    uint32_t ring_count; /* sm_count * warp_slots; 1 for the host */
    uint32_t ring_bytes; /* a power of two */
    uint32_t sm_count, warp_slots;
    uint32_t policy; /* GPURT_POLICY_* */
    uint32_t def_count, panic_count, state_bytes;
    uint64_t rings_offset, data_offset, defs_offset, panics_offset, state_offset;
    gpurt_clock_fit_t clock;
    uint32_t xpanics; /* panics raised, slots or not; written by: devices */
    uint32_t xdefs;   /* slots taken (host section, CPU back end); written by: producers */
    uint32_t floor;   /* lowest level that kernels which run may be asked for; 0: the lowest
                         of the rules */
    uint32_t
        xpanics_told; /* raised without a slot, and in the stream; written by: drainer */
    uint32_t xplan, xplan_panics_told; /* as of a ring */
    uint32_t xfailed; /* of xpanics: nobody handles them, no guard and no scope; written by:
                         devices */
    uint32_t xtrap; /* why a kernel was trapped behind its panic, GPURT_TRAP_*, 0: none was;
                         written by: lanes that panic */
    uint8_t uuid[16];
    char name[GPURT_BOX_NAME];
} gpurt_box_section_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_box_section_t) == 224, "layout of version 1");

/* The neighbour of xfailed, for who has the address of that alone. */
GPURT_HD uint32_t *gpurt_box_trap(uint32_t *xfailed)
{
    GPURT_STATIC_ASSERT(offsetof(gpurt_box_section_t, xtrap) ==
                            offsetof(gpurt_box_section_t, xfailed) + sizeof(uint32_t),
                        "neighbours");
    return xfailed + 1;
}

/* Who made the box. Fixed at creation. */
typedef struct gpurt_box_identity {
    uint32_t pid, uid;
    uint64_t
        start_ticks;  /* of the process, as /proc/PID/stat counts: pid reuse is noticed */
    uint64_t real_ns; /* creation, CLOCK_REALTIME */
    uint8_t boot_id[16];
    char host[GPURT_BOX_NAME];
    char program[GPURT_BOX_NAME];
} gpurt_box_identity_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_box_identity_t) == 168, "layout of version 1");

/* Where a drainer is about to write what it took: stored before it writes, so that its
 * successor can see in the file whether that has happened. */
typedef struct gpurt_box_intent {
    uint64_t device, inode; /* of the file; 0: rows went where nobody can look */
    uint64_t offset;        /* of the frame in it */
    uint32_t check;         /* CRC of the frame's head */
    uint32_t reserved;
} gpurt_box_intent_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_box_intent_t) == 32, "layout of version 1");

/* A drainer's claim. Taken over when its process is gone. */
typedef struct gpurt_box_claim {
    uint64_t xowner; /* pid | epoch << 32, 0 free; written by: drainers, compare-exchange */
    uint64_t start_ticks; /* of that process; written by: the owner, as all below */
    uint64_t xbeat_ns;    /* CLOCK_REALTIME of its last round */
    uint64_t xplanned;    /* number of the last flush whose plan is whole, from 1 */
    uint64_t xdone;       /* number of the last flush whose tails are stored */
    uint32_t reserved[6];
} gpurt_box_claim_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_box_claim_t) == 64, "layout of version 1");

/* Groups of one ring, on the shelf: this head, in the place of a group, then they. */
typedef struct gpurt_box_piece {
    uint32_t ring;  /* its number, section in the highest byte */
    uint32_t start; /* their first position in the ring */
    uint32_t groups;
    uint32_t reserved;
} gpurt_box_piece_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_box_piece_t) == sizeof(gpurt_group_t), "it lies in one");

/* Where a drainer puts what it takes off rings before a frame is full: pieces, one behind
 * another, in a ring of groups whose positions run free. A piece counts while it ends behind
 * its ring's xfiled. */
typedef struct gpurt_box_shelf {
    uint64_t offset;
    uint32_t group_count; /* a power of two; 0: no shelf */
    uint32_t xfirst;      /* the oldest piece; written by: drainer */
    uint32_t xend;        /* behind the newest; likewise */
    uint32_t reserved[3];
} gpurt_box_shelf_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_box_shelf_t) == 32, "layout of version 3");

/* A level for the sites whose source file, and line, match; the last match counts
 * (levels.h). */
typedef struct gpurt_level_rule {
    uint32_t level;  /* GPURT_LEVEL_*; bits 8..31: a line, 0 for all */
    char module[60]; /* with * and ?; terminated */
} gpurt_level_rule_t;

/* What anyone may ask of the application. */
typedef struct gpurt_box_control {
    uint32_t xlevel; /* lowest level that is recorded; written by: any attached process */
    uint32_t xrules; /* grows with each change of the levels, odd meanwhile; likewise */
    uint32_t rule_count;
    uint32_t reserved; /* 0 */
    gpurt_level_rule_t rules[GPURT_BOX_RULES];
} gpurt_box_control_t;

typedef struct gpurt_box {
    uint64_t magic;
    uint32_t version, header_bytes; /* sizeof this struct, so that a reader knows its age */
    uint64_t box_bytes;
    uint32_t section_count;
    uint32_t section_bytes; /* sizeof one entry */
    uint32_t gpurt_version; /* of the library that made it */
    uint32_t check;         /* CRC-32C of what never changes (boxmap.h) */
    uint32_t xlife;         /* GPURT_LIFE_*; written by: the application's host side */
    uint32_t xwork;         /* launches begun; likewise; a sleeping drainer waits here */
    uint32_t xended;        /* that many of them have ended; likewise */
    uint32_t xasleep;       /* the drainer wants to be woken; written by: drainer */
    gpurt_box_identity_t identity;
    gpurt_box_intent_t intent;
    gpurt_box_claim_t claim;
    gpurt_box_control_t control;
    gpurt_box_section_t sections[GPURT_BOX_SECTIONS];
    gpurt_box_shelf_t shelf;
} gpurt_box_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_box_t) <= GPURT_BOX_PAGE, "the header is page 0");
GPURT_STATIC_ASSERT(offsetof(gpurt_box_t, identity) == 56, "layout of version 1");
GPURT_STATIC_ASSERT(offsetof(gpurt_box_t, claim) == 256, "layout of version 1");
GPURT_STATIC_ASSERT(offsetof(gpurt_box_t, control) == 320, "layout of version 1");
GPURT_STATIC_ASSERT(offsetof(gpurt_box_t, sections) == 1360, "layout of version 1");

/* Text of a definition. */
GPURT_HD char *gpurt_def_text(gpurt_def_t *def)
{
    return (char *)(def + 1);
}

#endif
