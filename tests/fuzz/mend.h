/* SPDX-License-Identifier: Apache-2.0 */
/* mend.h - gives blocks of a damaged log their checksums back, so that a fuzzer reaches what
 * lies behind them. */
#ifndef GPURT_TESTS_FUZZ_MEND_H
#define GPURT_TESTS_FUZZ_MEND_H

#include "crc32c.h"
#include "format.h"

#include <string.h>

/* Mends the checksums of blocks and of the rows behind a FRAME. */
static inline void fuzz_mend(uint8_t *data, size_t size)
{
    gplog_block_t b;
    gplog_frame_t f;

    for (size_t at = 0; at + sizeof b <= size;) {
        size_t body;

        memcpy(&b, data + at, sizeof b);
        if (b.magic != GPLOG_MAGIC || b.tag != GPLOG_TAG || b.size < 16 ||
            (uint64_t)b.size + 8 > size - at) {
            at++;
            continue;
        }
        body = b.size - 16;
        if (b.type == GPLOG_FRAME && body >= sizeof f) {
            memcpy(&f, data + at + sizeof b, sizeof f);
            if (f.packed_bytes <= size - at - sizeof b - body) {
                f.packed_crc = gpurt_crc32c(0, data + at + sizeof b + body, f.packed_bytes);
                memcpy(data + at + sizeof b, &f, sizeof f);
            }
        }
        b.crc = 0;
        b.crc = gpurt_crc32c(gpurt_crc32c(0, (uint8_t *)&b + 8, 16), data + at + sizeof b,
                             body);
        memcpy(data + at, &b, sizeof b);
        at += sizeof b + body;
    }
}

#endif
