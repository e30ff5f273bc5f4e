/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - the format of a record between the code that makes it and the drainer.
 *
 * A record is 2 to 128 groups of 16 bytes (group.h) at consecutive positions of one ring.
 * Positions count groups, run free and wrap at 2^32. Each group carries a tag and three
 * words:
 *
 *   tag      seq:16 | salt:8 | shape:8
 *            seq    low bits of the group's position: tells this lap from all earlier ones
 *            salt   the same in every group of a record, different for neighbours in time:
 *                   two producers that share a ring by mistake are noticed
 *            shape  first group: 0x80 | groups - 1; group i of the record: i
 *   word 0   site:16 | kind:8 | warp:5 | form:3
 *   word 1   time, bits 0..31 (nanoseconds of the producer's clock)
 *   word 2   time, bits 32..47 | lane:5 << 16 | zero:11
 *   word 3   block (linear rank, modulo 2^32); for host records the thread
 *   word 4.. GPURT_FORM_*_PART: the mask of lanes first; then the arguments
 *
 * Arguments are 32-bit words, 64-bit ones low word first; their types stand in the site's
 * definition (box.h). Forms LANES_* hold values of each lane, one column an argument word:
 * word j of the lane with rank r among L lanes is at j * L + r.
 * A ring of zeros holds no record: no shape is 0. */
#ifndef GPURT_RECORD_H
#define GPURT_RECORD_H

#include <gpurt/impl/group.h>
#include <gpurt/impl/kinds.h>

enum {
    GPURT_GROUP_BYTES = 16,
    GPURT_GROUP_WORDS = 3,
    GPURT_RECORD_MAX_GROUPS = 128,
    GPURT_RECORD_HEAD_WORDS = 4,
    GPURT_RECORD_MAX_WORDS = GPURT_RECORD_MAX_GROUPS * GPURT_GROUP_WORDS -
                             GPURT_RECORD_HEAD_WORDS, /* 380, the mask included */
    GPURT_MAX_ARGS = 12,                              /* of a log call */
    GPURT_MAX_SITE_TYPES = 16 /* of a site: what its word of types holds */
};
#define GPURT_TIME_MASK   ((1ull << 48) - 1) /* 78 hours; the drainer adds the rest */
#define GPURT_SHAPE_FIRST 0x80u

enum {
    GPURT_FORM_WARP = 0,       /* one set of values, all 32 lanes */
    GPURT_FORM_WARP_PART = 1,  /* one set of values, the lanes of a mask */
    GPURT_FORM_LANE = 2,       /* one lane */
    GPURT_FORM_LANES = 3,      /* own values of all 32 lanes */
    GPURT_FORM_LANES_PART = 4, /* own values of the lanes of a mask */
    GPURT_FORM_BLOCK = 5,      /* one set of values for a block */
    GPURT_FORM_THREAD = 6      /* a host thread */
};

enum {
    GPURT_LEVEL_NONE = 0,
    GPURT_LEVEL_TRACE = 1,
    GPURT_LEVEL_DEBUG = 2,
    GPURT_LEVEL_INFO = 3,
    GPURT_LEVEL_WARN = 4,
    GPURT_LEVEL_ERROR = 5,
    GPURT_LEVEL_PANIC = 6,
    GPURT_LEVEL_LOST = 7 /* records that are missing */
};

/* Why records are missing. */
enum {
    GPURT_LOSS_FULL = 1,    /* drop-newest: the ring was full */
    GPURT_LOSS_OVERRUN = 2, /* overwrite-oldest: the drainer was late */
    GPURT_LOSS_SITES = 3,   /* no room for the site's definition */
    GPURT_LOSS_TORN = 4,    /* a producer died inside a record */
    GPURT_LOSS_SHARED = 5,  /* two producers met in one ring */
    GPURT_LOSS_LIMITED = 6, /* a rate-limited site; nothing writes it */
    GPURT_LOSS_PANIC = 7,   /* a lane died inside its panic */
    GPURT_LOSS_BUFFERS = 8, /* CUPTI had no buffer for them */
    GPURT_LOSS_SLOTS = 9,   /* panics that found no slot */
    GPURT_LOSS_RINGLESS =
        10 /* a warp on a multiprocessor beyond those that the box has rings for */
};

/* Types of arguments: four bits each, argument 0 lowest. */
enum {
    GPURT_TYPE_NONE = 0,
    GPURT_TYPE_I32 = 1,
    GPURT_TYPE_U32 = 2,
    GPURT_TYPE_I64 = 3,
    GPURT_TYPE_U64 = 4,
    GPURT_TYPE_F32 = 5,
    GPURT_TYPE_F64 = 6,
    GPURT_TYPE_PTR = 7,
    GPURT_TYPE_CHAR = 8,
    GPURT_TYPE_STRING = 9 /* 32 bits: number of a string definition, 0 unknown */
};

GPURT_HD uint32_t gpurt_type_at(uint64_t types, uint32_t argument)
{
    return (uint32_t)(types >> (4 * argument)) & 15u;
}

/* Words that an argument of this type takes: 0 for NONE and for numbers not known. */
GPURT_HD uint32_t gpurt_type_words(uint32_t type)
{
    /* two bits a type, NONE lowest: 0 1 1 2 2 1 2 2 1 1 */
    return (0x5a694u >> (2 * (type & 15u))) & 3u;
}

/* Words of all arguments of one lane. */
GPURT_HD uint32_t gpurt_types_words(uint64_t types)
{
    uint32_t words = 0;

    for (; types != 0; types >>= 4)
        words += gpurt_type_words((uint32_t)types & 15u);
    return words;
}

/* Tags. salt is taken modulo 256. */
GPURT_HD uint32_t gpurt_tag_first(uint32_t position, uint32_t salt, uint32_t groups)
{
    return position << 16 | (salt & 0xffu) << 8 | GPURT_SHAPE_FIRST | (groups - 1);
}
GPURT_HD uint32_t gpurt_tag_rest(uint32_t position, uint32_t salt, uint32_t index)
{
    return position << 16 | (salt & 0xffu) << 8 | index;
}
/* From the tag of one group of a record to the next one's, were the first one's index 0. */
#define GPURT_TAG_STEP (1u << 16 | 1u)

/* Groups of a record with so many words after its head. An even number: records then begin on
 * 32 bytes, the unit in which a GPU writes across its link. */
GPURT_HD uint32_t gpurt_record_groups(uint32_t words)
{
    return (GPURT_RECORD_HEAD_WORDS + words + 2 * GPURT_GROUP_WORDS - 1) /
           (2 * GPURT_GROUP_WORDS) * 2;
}

/* The first word of a record. */
GPURT_HD uint32_t gpurt_record_what(uint32_t site, uint32_t kind, uint32_t form,
                                    uint32_t warp)
{
    return (site & 0xffffu) | kind << 16 | (warp & 31u) << 24 | form << 29;
}
GPURT_HD uint32_t gpurt_record_form(uint32_t what)
{
    return what >> 29;
}

/* Payload of GPURT_KIND_LAP, written when a record crosses into a new lap of its ring. */
typedef struct gpurt_lap {
    uint32_t lap;         /* laps completed since the ring began */
    uint32_t records_low; /* messages written before this mark, marks not counted */
    uint32_t records_high;
    uint32_t position; /* of this mark */
} gpurt_lap_t;
enum {
    GPURT_LAP_WORDS = 4
};
GPURT_STATIC_ASSERT(sizeof(gpurt_lap_t) == 4 * GPURT_LAP_WORDS, "only 32-bit words");

#endif
