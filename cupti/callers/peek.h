/* SPDX-License-Identifier: Apache-2.0 */
/* peek.h - this process's own memory, where nobody promises that it is there: the kernel copies it,
 * and says so where there is none. What is copied may be torn. Its reader takes any bytes for
 * possible.
 *
 * A look is bounded: it reads windows of 1 KiB, and PEEK_WINDOWS of them at most. Nothing is
 * allocated, no lock is taken. */
#ifndef GPURT_CUPTI_PEEK_H
#define GPURT_CUPTI_PEEK_H

#include <gpurt/base.h>

enum {
    PEEK_WINDOW = 1024, /* a power of two, a part of each page */
    PEEK_KEPT = 2,
    PEEK_WINDOWS = 512,
    PEEK_MANY = 64
};

/* Owner: the caller, on its stack. */
typedef struct peek {
    uint64_t at[PEEK_KEPT]; /* 0: empty */
    uint32_t next, left;    /* left: windows that may still be read */
    uint8_t bytes[PEEK_KEPT][PEEK_WINDOW];
} peek_t;

/* Whether the kernel copies at all; errno says why not. Context: once, before any look. */
bool peek_works(void);

void peek_begin(peek_t *p);

/* Returns: false: not all of it is there, or the look has read enough. */
bool peek_bytes(peek_t *p, uint64_t at, void *to, size_t bytes);
bool peek_u64(peek_t *p, uint64_t at, uint64_t *to);
bool peek_u32(peek_t *p, uint64_t at, uint32_t *to);

/* `bytes` behind each of up to PEEK_MANY addresses, one behind another, by one call. Returns: how many
 * addresses, from the first on, were there. */
uint32_t peek_many(const uint64_t *at, uint32_t count, void *to, size_t bytes);

#endif
