/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h - the blocks of a log file, one by one: building them, and walking a file of which
 * no byte is trusted. A walk steps over damage and finds the next whole block. */
#ifndef GPURT_LOG_SCAN_H
#define GPURT_LOG_SCAN_H

#include <gpurt/status.h>

#include "format.h"

/* Fills the head of a block whose body_bytes lie right behind it; pads them with zeros
 * to 8. Returns: bytes of the whole block. The memory must have room for the padding. */
size_t gplog_block_seal(void *block, uint32_t type, uint32_t flags, size_t body_bytes);

/* What names a blob. */
uint64_t gplog_blob_id(const void *bytes, size_t size);

/* One block found. */
typedef struct gplog_piece {
    uint64_t offset, end; /* of the block; end behind the rows of a FRAME */
    uint64_t skipped;     /* damaged bytes before it */
    uint32_t type, flags, body_bytes;
    const uint8_t *body; /* 8-aligned; valid until the next step */
} gplog_piece_t;

/* Owner: the caller. */
typedef struct gplog_walk {
    int fd;
    uint64_t size;  /* of the file, as far as the walk may look */
    uint64_t at;    /* next block */
    uint64_t retry; /* end of the last block's head: damage is searched from here */
    uint8_t *body;
    size_t room;
} gplog_walk_t;

/* Begins at offset. A zeroed walk with fd and size set begins at 0. */
void gplog_walk_fini(gplog_walk_t *walk);

/* Returns: 1 and a block, 0 at the end of the file (piece->skipped: bytes up to it that
 * are no whole block), or a status below 0. After 0 it may be called again with a larger
 * size. */
int gplog_walk_next(gplog_walk_t *walk, gplog_piece_t *piece);

/* Reads the block at an offset that something in the file claims. Returns: as above, but 0
 * when no sound block is there. */
int gplog_block_at(gplog_walk_t *walk, uint64_t offset, gplog_piece_t *piece);

/* Reads exactly so many bytes. false: beyond the end, or an error of the disk. */
bool gplog_read_at(int fd, uint64_t offset, void *to, size_t bytes);

#endif
