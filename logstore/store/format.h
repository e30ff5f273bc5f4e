/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - the log file on disk, version 1. docs/LOG_FORMAT.md is the prose of it.
 *
 * A log is a chain of zstd frames. Everything that is not rows sits in skippable frames,
 * which every zstd tool steps over; each of them begins with gplog_block_t. All numbers are
 * little endian; all sizes are multiples of 8, save those of the zstd frames of rows.
 *
 *   FILE  (DICT | BLOB | FRAME rows)*  with every 1,024 frames and at the end: DICT INDEX
 *   END   last, after a clean close
 *
 * A file may hold several such runs: one is appended each time it is opened again. */
#ifndef GPURT_LOGSTORE_FORMAT_H
#define GPURT_LOGSTORE_FORMAT_H

#include <gpurt/impl/box.h>

#define GPLOG_MAGIC 0x184d2a57u /* one of the 16 magics of skippable zstd frames */
#define GPLOG_TAG   0x314c5047u /* "GPL1" */

enum {
    GPLOG_VERSION = 1
};
enum {
    GPLOG_FILE = 1,
    GPLOG_DICT = 2,
    GPLOG_FRAME = 3,
    GPLOG_INDEX = 4,
    GPLOG_END = 5,
    GPLOG_BLOB = 6
};
enum {
    GPLOG_ROWS = 0,  /* gpurt_row_t one after another */
    GPLOG_PACKED = 1 /* the same as differences from rows before them: rowpack.h */
};
enum {
    GPLOG_ALIGN = 8,
    GPLOG_BLOCK_MAX = 64 << 20, /* bytes of a block: bounds what a reader allocates */
    GPLOG_RAW_MAX = 4 << 20,    /* bytes of a frame's rows */
    GPLOG_INDEX_EVERY = 1024,   /* frames */
    GPLOG_SITES_MAX = 1 << 20
};

/* Head of every skippable frame. */
typedef struct gplog_block {
    uint32_t magic; /* GPLOG_MAGIC */
    uint32_t size;  /* bytes that follow this field, as zstd defines it */
    uint32_t tag;   /* GPLOG_TAG */
    uint16_t type, version;
    uint32_t crc;   /* CRC-32C from tag to the end, this field as 0 */
    uint32_t flags; /* GPLOG_HELD, GPLOG_WHOLE or 0 */
} gplog_block_t;
GPURT_STATIC_ASSERT(sizeof(gplog_block_t) == 24, "format 1");
enum {
    GPLOG_HELD = 1, /* of a FILE: its writer holds the lock that pulse.h asks for */
    GPLOG_WHOLE = 2 /* of an END: its sums are of the whole file; else of its run alone */
};

typedef struct gplog_section {
    uint32_t kind, device, sm_count, warp_slots;
    uint8_t uuid[16];
    char name[GPURT_BOX_NAME];
} gplog_section_t;

/* FILE: who was recorded. */
typedef struct gplog_file {
    uint64_t created_ns;
    uint32_t gpurt_version, section_count;
    gpurt_box_identity_t identity;
    gplog_section_t sections[GPURT_BOX_SECTIONS];
} gplog_file_t;
GPURT_STATIC_ASSERT(sizeof(gplog_file_t) == 1048, "format 1");

/* DICT: gplog_def_t one after another, each with its text: format, file, module. */
typedef struct gplog_def {
    uint32_t bytes; /* of this entry with its text, padded to 8 */
    uint32_t id;    /* of rows' site; strings and sites count together */
    uint32_t line;
    uint16_t kind; /* GPURT_DEF_* */
    uint16_t record_kind;
    uint64_t types;
    uint8_t level, arg_count;
    uint16_t format_bytes, file_bytes, module_bytes;
} gplog_def_t;
GPURT_STATIC_ASSERT(sizeof(gplog_def_t) == 32, "format 1");

/* FRAME: what the rows in the zstd frame right behind it add up to. */
typedef struct gplog_frame {
    uint64_t number;
    uint64_t first_ns, last_ns; /* smallest and largest, real time */
    uint64_t messages;          /* a row of own lane values counts once a lane */
    uint64_t lost;
    uint32_t rows, panics;
    uint32_t levels;   /* bit per level */
    uint32_t sections; /* bit per section */
    uint32_t encoding; /* GPLOG_ROWS or GPLOG_PACKED; raw_bytes are those of the rows */
    uint32_t raw_bytes, packed_bytes;
    uint32_t packed_crc; /* CRC-32C of the zstd frame */
    uint64_t sites[4];   /* bit per site, modulo 256 */
} gplog_frame_t;
GPURT_STATIC_ASSERT(sizeof(gplog_frame_t) == 104, "format 1");

/* INDEX: the frames since the index before. */
typedef struct gplog_index {
    uint64_t previous; /* offset of the index before, 0 none */
    uint64_t dict;     /* offset of a DICT with all definitions up to here */
    uint64_t file;     /* offset of the FILE block of this run */
    uint64_t count;
} gplog_index_t;
typedef struct gplog_index_entry {
    uint64_t offset; /* of the FRAME block */
    uint64_t first_ns, last_ns, messages, lost;
    uint32_t rows, panics, levels, sections;
    uint64_t sites; /* bit per site, modulo 64 */
} gplog_index_entry_t;
GPURT_STATIC_ASSERT(sizeof(gplog_index_entry_t) == 64, "format 1");

/* END: the last block of a file that was closed. Sums over all frames of the file. */
typedef struct gplog_end {
    uint64_t index;  /* offset of the last INDEX */
    uint64_t frames; /* one above the highest number of a frame */
    uint64_t messages, lost, panics;
    uint64_t first_ns, last_ns;
} gplog_end_t;
GPURT_STATIC_ASSERT(sizeof(gplog_end_t) == 56, "format 1");

/* BLOB: bytes that rows name by their id, as one zstd frame behind this. */
typedef struct gplog_blob {
    uint64_t id; /* CRC-32C of the bytes, and their count above it */
    uint64_t raw_bytes;
    uint32_t packed_bytes;
    uint32_t kind; /* GPLOG_BLOB_* */
} gplog_blob_t;
GPURT_STATIC_ASSERT(sizeof(gplog_blob_t) == 24, "format 1");
enum {
    GPLOG_BLOB_GPU_CORE = 1,
    GPLOG_BLOB_WAITS = 2 /* waitgraph.h */
};
#define GPLOG_BLOB_RAW_MAX (1ull << 30) /* bounds what a reader allocates */

/* Behind the fixed words of a panic's row come parts: kind << 24 | words, then the words. A reader
 * steps over kinds that it does not know, reads what is missing in one as 0, and finds none in
 * logs of before. Texts are ids of the dictionary, addresses and numbers of 64 bits come low
 * word first. */
enum {
    GPLOG_PART_ABOUT = 1,   /* category | own << 16, then gpurt_panic_t from `number` on, as
                               panicrow.c has them */
    GPLOG_PART_LANES = 2,   /* which operand, mask, its 64 bits in each lane of the mask */
    GPLOG_PART_CONTEXT = 3, /* name, type, value: once for each */
    GPLOG_PART_FRAMES = 4,  /* function, file, line: innermost first */
    GPLOG_PART_HELD = 5,    /* kind, name, object */
    GPLOG_PART_WINDOW = 6,  /* name, base, size, start, mark, count of bytes, the bytes */
    GPLOG_PART_REPORT = 7 /* bytes of the whole report, count of those that follow, they */
};
enum {
    GPLOG_PROGRAM_OTHERS = 255 /* one of those that came when all numbers were given */
};
enum {
    GPLOG_ROW_WORDS = 1024 /* of the longest row */
};

/* One row, followed by `words` words and, where that is odd, one of zero. */
typedef struct gpurt_row {
    uint64_t time_ns;  /* real time */
    uint32_t site;     /* id of its definition, 0 none */
    uint32_t block;    /* linear rank; a host row's thread */
    uint32_t mask;     /* lanes */
    uint16_t sm, slot; /* warp slot; with sm it names the ring */
    uint8_t warp;      /* in its block */
    uint8_t kind, section, form, level;
    uint8_t program; /* whose it is: program.h */
    uint16_t words;
} gpurt_row_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_row_t) == 32, "format 1");

static inline uint32_t *gpurt_row_words(const gpurt_row_t *row)
{
    return (uint32_t *)(uintptr_t)(row + 1);
}

static inline uint32_t gpurt_row_bytes(uint32_t words)
{
    return (uint32_t)sizeof(gpurt_row_t) + (words + 1u) / 2u * 8u;
}

static inline bool gpurt_row_per_lane(const gpurt_row_t *row)
{
    return row->form == GPURT_FORM_LANES || row->form == GPURT_FORM_LANES_PART;
}

/* Messages of a row: what a reader shows as so many lines. */
static inline uint32_t gpurt_row_messages(const gpurt_row_t *row)
{
    if (row->kind == GPURT_KIND_LOSS)
        return 0;
    return gpurt_row_per_lane(row) ? (uint32_t)__builtin_popcount(row->mask) : 1;
}

/* A panic, a fault of the hardware, or a hang: a failure of device code. */
static inline bool gpurt_row_is_panic(const gpurt_row_t *row)
{
    return gpurt_kind_family(row->kind) == GPURT_FAMILY_PANIC;
}

/* Messages that a row says are missing. */
static inline uint64_t gpurt_row_lost(const gpurt_row_t *row)
{
    const uint32_t *w = gpurt_row_words(row);

    return row->kind == GPURT_KIND_LOSS && row->words >= 3 ? w[1] | (uint64_t)w[2] << 32
                                                           : 0;
}

#endif
