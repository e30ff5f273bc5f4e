/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf.h - protocol buffers, as far as writing them goes: varints, texts, messages in
 * messages. A message that finds no room is cut, and says so (full). */
#ifndef GPURT_TUI_PROTOBUF_H
#define GPURT_TUI_PROTOBUF_H

#include <gpurt/base.h>
#include <string.h>

/* Owner: the caller, with the memory. */
typedef struct protobuf {
    uint8_t *at;
    size_t room, used;
    bool full;
} protobuf_t;

static inline void protobuf_bytes(protobuf_t *p, const void *bytes, size_t count)
{
    if (count > p->room - p->used) {
        p->full = true;
        return;
    }
    memcpy(p->at + p->used, bytes, count);
    p->used += count;
}

static inline void protobuf_varint(protobuf_t *p, uint64_t value)
{
    uint8_t bytes[10];
    size_t count = 0;

    do {
        bytes[count++] = (uint8_t)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
        value >>= 7;
    } while (value);
    protobuf_bytes(p, bytes, count);
}

static inline void protobuf_u64(protobuf_t *p, uint32_t field, uint64_t value)
{
    protobuf_varint(p, (uint64_t)field << 3);
    protobuf_varint(p, value);
}

static inline void protobuf_fixed64(protobuf_t *p, uint32_t field, uint64_t value)
{
    protobuf_varint(p, (uint64_t)field << 3 | 1);
    protobuf_bytes(p, &value, sizeof value); /* little endian, as this machine */
}

static inline void protobuf_double(protobuf_t *p, uint32_t field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    protobuf_fixed64(p, field, bits);
}

static inline void protobuf_text(protobuf_t *p, uint32_t field, const char *text,
                                 size_t bytes)
{
    protobuf_varint(p, (uint64_t)field << 3 | 2);
    protobuf_varint(p, bytes);
    protobuf_bytes(p, text, bytes);
}

/* Returns: where the message's bytes begin, for end. */
static inline size_t protobuf_begin(protobuf_t *p, uint32_t field)
{
    protobuf_varint(p, (uint64_t)field << 3 | 2);
    protobuf_bytes(p, "", 1); /* its length: one byte, until end knows better */
    return p->used;
}

static inline void protobuf_end(protobuf_t *p, size_t begin)
{
    size_t bytes = p->used - begin;
    size_t more = bytes < 1u << 7 ? 0 : bytes < 1u << 14 ? 1 : 2; /* below 2 MiB */

    if (p->full || more > p->room - p->used) {
        p->full = true;
        return;
    }
    memmove(p->at + begin + more, p->at + begin, bytes);
    p->used = begin - 1;
    protobuf_varint(p, bytes);
    p->used += bytes;
}

#endif
