/* SPDX-License-Identifier: Apache-2.0 */
#include "scan.h"

#include "crc32c.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CHUNK = 64 << 10,
    HEAD_FROM = 8, /* magic and size are not under the checksum: the magic is tested by
                      value, and a wrong size moves the end of what is summed */
};

static uint32_t block_sum(const gplog_block_t *head, const void *body, size_t bytes)
{
    gplog_block_t copy = *head;
    uint32_t sum;

    copy.crc = 0;
    sum = gpurt_crc32c(0, (const uint8_t *)&copy + HEAD_FROM, sizeof copy - HEAD_FROM);
    return gpurt_crc32c(sum, body, bytes);
}

size_t gplog_block_seal(void *block, uint32_t type, uint32_t flags, size_t body_bytes)
{
    size_t padded = (body_bytes + GPLOG_ALIGN - 1) & ~(size_t)(GPLOG_ALIGN - 1);
    uint8_t *body = (uint8_t *)block + sizeof(gplog_block_t);
    gplog_block_t head = {GPLOG_MAGIC,   (uint32_t)(padded + sizeof head - HEAD_FROM),
                          GPLOG_TAG,     (uint16_t)type,
                          GPLOG_VERSION, 0,
                          flags};

    memset(body + body_bytes, 0, padded - body_bytes);
    head.crc = block_sum(&head, body, padded);
    memcpy(block, &head, sizeof head);
    return padded + sizeof head;
}

bool gplog_read_at(int fd, uint64_t offset, void *to, size_t bytes)
{
    uint8_t *p = to;

    while (bytes > 0) {
        ssize_t got = pread(fd, p, bytes, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return true;
}

void gplog_walk_fini(gplog_walk_t *walk)
{
    free(walk->body);
    walk->body = NULL;
    walk->room = 0;
}

static bool body_room(gplog_walk_t *walk, size_t bytes)
{
    uint8_t *body;

    if (bytes <= walk->room)
        return true;
    body = realloc(walk->body, bytes);
    if (!body)
        return false;
    walk->body = body;
    walk->room = bytes;
    return true;
}

/* The rows behind a FRAME block belong to it, if the file is long enough. */
static bool frame_end(const gplog_walk_t *walk, gplog_piece_t *piece)
{
    gplog_frame_t frame;

    if (piece->type != GPLOG_FRAME)
        return true;
    if (piece->body_bytes < sizeof frame)
        return false;
    memcpy(&frame, piece->body, sizeof frame);
    if (frame.packed_bytes > walk->size - piece->end)
        return false;
    piece->end += frame.packed_bytes;
    return true;
}

int gplog_block_at(gplog_walk_t *walk, uint64_t offset, gplog_piece_t *piece)
{
    gplog_block_t head;
    uint64_t bytes;

    if (offset > walk->size || walk->size - offset < sizeof head ||
        !gplog_read_at(walk->fd, offset, &head, sizeof head) || head.magic != GPLOG_MAGIC ||
        head.tag != GPLOG_TAG || head.size < sizeof head - HEAD_FROM)
        return 0;
    bytes = head.size - (sizeof head - HEAD_FROM);
    if (bytes > GPLOG_BLOCK_MAX || bytes % GPLOG_ALIGN != 0 ||
        bytes > walk->size - offset - sizeof head)
        return 0;
    if (!body_room(walk, (size_t)bytes + 1))
        return GPURT_E_NOMEM;
    if (!gplog_read_at(walk->fd, offset + sizeof head, walk->body, (size_t)bytes) ||
        head.crc != block_sum(&head, walk->body, (size_t)bytes))
        return 0;
    piece->offset = offset;
    piece->end = offset + sizeof head + bytes;
    piece->type = head.type;
    piece->flags = head.flags;
    piece->body = walk->body;
    piece->body_bytes = (uint32_t)bytes;
    return frame_end(walk, piece) ? 1 : 0;
}

/* The next offset from `from` on at which the bytes of a block's magic and tag stand. */
static uint64_t magic_find(const gplog_walk_t *walk, uint64_t from)
{
    static const uint32_t magic = GPLOG_MAGIC, tag = GPLOG_TAG;
    uint8_t chunk[CHUNK];

    while (from < walk->size && walk->size - from >= sizeof(gplog_block_t)) {
        size_t bytes = walk->size - from < CHUNK ? (size_t)(walk->size - from) : CHUNK;
        const uint8_t *p = chunk, *end = chunk + bytes;

        if (!gplog_read_at(walk->fd, from, chunk, bytes))
            break;
        while ((p = memmem(p, (size_t)(end - p), &magic, 4)) != NULL && end - p >= 12) {
            if (memcmp(p + 8, &tag, 4) == 0)
                return from + (uint64_t)(p - chunk);
            p++;
        }
        from += bytes > 11 ? bytes - 11 : bytes; /* a pattern across the seam */
    }
    return walk->size;
}

int gplog_walk_next(gplog_walk_t *walk, gplog_piece_t *piece)
{
    const uint64_t start = walk->at;
    uint64_t at = start, from = walk->retry;
    int found = at < walk->size ? gplog_block_at(walk, at, piece) : 0;

    piece->skipped = 0;
    while (found == 0 && start < walk->size) {
        at = magic_find(walk, from);
        if (at >= walk->size) {
            piece->skipped = walk->size - start;
            break; /* the walk stays here: the tail may still be growing */
        }
        found = gplog_block_at(walk, at, piece);
        from = at + 4;
    }
    if (found != 1)
        return found;
    /* A block inside the rows of the frame before: that frame was cut, and reading it will
     * say so. */
    piece->skipped = at > start ? at - start : 0;
    walk->at = piece->end;
    walk->retry = at + sizeof(gplog_block_t) + piece->body_bytes;
    return 1;
}

uint64_t gplog_blob_id(const void *bytes, size_t size)
{
    return (uint64_t)size << 32 | gpurt_crc32c(0, bytes, size);
}
