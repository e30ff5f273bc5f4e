/* SPDX-License-Identifier: Apache-2.0 */
#include "crc32c.h"

#include <pthread.h>
#include <string.h>

typedef uint32_t (*crc_fn)(uint32_t crc, const uint8_t *p, size_t bytes);

static uint32_t crc_table[256];
static crc_fn crc_choice;
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static uint32_t crc_bytes(uint32_t crc, const uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        crc = crc_table[(crc ^ p[i]) & 0xffu] ^ crc >> 8;
    return crc;
}

#if defined(__x86_64__)
/* One stream: 8 bytes in 3 cycles, ten times as fast as the compressor beside it, so the
 * faster ways with several streams are not worth their tables. */
__attribute__((target("sse4.2"))) static uint32_t crc_sse42(uint32_t crc, const uint8_t *p,
                                                            size_t bytes)
{
    uint64_t wide = crc, word;

    for (; bytes >= 8; bytes -= 8, p += 8) {
        memcpy(&word, p, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; bytes > 0; bytes--, p++)
        crc = __builtin_ia32_crc32qi(crc, *p);
    return crc;
}
#endif

static void crc_choose(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t v = i;

        for (int bit = 0; bit < 8; bit++)
            v = v & 1u ? 0x82f63b78u ^ v >> 1 : v >> 1;
        crc_table[i] = v;
    }
    crc_choice = crc_bytes;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        crc_choice = crc_sse42;
#endif
}

uint32_t gpurt_crc32c(uint32_t seed, const void *data, size_t bytes)
{
    pthread_once(&crc_once, crc_choose);
    return ~crc_choice(~seed, data, bytes);
}
