/* SPDX-License-Identifier: Apache-2.0 */
/* rowpack.h - rows of a frame as differences from rows before them: what zstd is given of
 * them, an eighth of their bytes where a GPU's work repeats. LOG_FORMAT.md has the layout.
 *
 * The packer says for each row which slot of a small table it differs least from; the table
 * holds the words last seen there. So who unpacks need not know how slots are chosen, and a
 * bad choice costs bytes alone. */
#ifndef GPURT_LOG_ROWPACK_H
#define GPURT_LOG_ROWPACK_H

#include "collected.h"
#include "format.h"

#include <stddef.h>

enum {
    GPLOG_PACK_SLOTS = 254,
    GPLOG_PACK_WIDTHS =
        254, /* what follows the slots as an op: the next row's widths are new */
    GPLOG_PACK_WHOLE = 255, /* a row as it is */
    GPLOG_PACK_WORDS = 32   /* of a longer row no difference is taken */
};

/* Begin of the packed bytes: ops, then differences of times, then all others. */
typedef struct gplog_pack {
    uint32_t op_bytes, time_bytes;
} gplog_pack_t;
GPURT_STATIC_ASSERT(sizeof(gplog_pack_t) == 8, "format 1");

typedef struct gplog_pack_slot {
    uint64_t widths; /* two bits a word: no difference, or one of 1, 2, 4 bytes */
    uint64_t narrow; /* the packer's: the widths of `used`, one behind the other */
    uint32_t used;   /* words behind the time that have a width, */
    uint16_t count;  /* of how many, */
    bool settled;    /* and the widths are of a difference from a row of that length */
    union {
        gpurt_row_t row;
        uint32_t words[GPLOG_PACK_WORDS];
    };
} gplog_pack_slot_t;

/* Owner: the caller. Begins anew with each frame. */
typedef struct gplog_pack_table {
    uint64_t time_ns; /* of the row before */
    gplog_pack_slot_t slots[GPLOG_PACK_SLOTS];
} gplog_pack_table_t;

/* Room that packing takes at most, for so many bytes of rows. */
static inline size_t gplog_pack_bound(size_t bytes)
{
    return sizeof(gplog_pack_t) + 2 * bytes;
}

/* Rows lie one after another; `to` has the room. Adds them up in *sum, which was begun, and what
 * the collector saw in *seen, on the way: so they are fetched once. Returns: bytes. */
size_t gplog_pack(gplog_pack_table_t *t, const gpurt_row_t *rows, uint32_t bytes,
                  uint8_t *to, gplog_frame_t *sum, gplog_collected_t *seen);

enum {
    GPLOG_PACK_SLACK = 4 * GPLOG_PACK_WORDS + 8 /* readable behind what is unpacked */
};

/* Believes nothing: `rows` becomes `bytes` bytes of rows, each of which lies inside them.
 * Returns: false when it does not come out at that. */
bool gplog_unpack(gplog_pack_table_t *t, const uint8_t *packed, size_t size, uint8_t *rows,
                  uint32_t bytes);

#endif
