/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "peek.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* A copy of that size is taken whole or not at all: it lies in one page. */
static bool window_read(uint64_t at, void *to, size_t bytes)
{
    const struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)at, bytes};

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

bool peek_works(void)
{
    const uint64_t here = 0x6770757274;
    uint64_t copy = 0;

    return window_read((uint64_t)(uintptr_t)&here, &copy, sizeof copy) && copy == here;
}

void peek_begin(peek_t *p)
{
    memset(p->at, 0, sizeof p->at);
    p->next = 0;
    p->left = PEEK_WINDOWS;
}

/* Returns: NULL: there is none. */
static const uint8_t *window_of(peek_t *p, uint64_t at)
{
    uint32_t slot = p->next;

    for (uint32_t i = 0; i < PEEK_KEPT; i++)
        if (at && p->at[i] == at)
            return p->bytes[i];
    if (p->left == 0 || at == 0) /* no program has its first page */
        return NULL;
    p->left--;
    p->at[slot] = 0;
    if (!window_read(at, p->bytes[slot], PEEK_WINDOW))
        return NULL;
    p->at[slot] = at;
    p->next = (slot + 1) % PEEK_KEPT;
    return p->bytes[slot];
}

bool peek_bytes(peek_t *p, uint64_t at, void *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const uint64_t window = (at + done) & ~(uint64_t)(PEEK_WINDOW - 1);
        const size_t skip = (size_t)(at + done - window);
        const size_t rest = bytes - done, room = PEEK_WINDOW - skip;
        const size_t part = rest < room ? rest : room;
        const uint8_t *from = at + bytes < at ? NULL : window_of(p, window);

        if (!from)
            return false;
        memcpy((uint8_t *)to + done, from + skip, part);
        done += part;
    }
    return true;
}

bool peek_u64(peek_t *p, uint64_t at, uint64_t *to)
{
    return peek_bytes(p, at, to, sizeof *to);
}

bool peek_u32(peek_t *p, uint64_t at, uint32_t *to)
{
    return peek_bytes(p, at, to, sizeof *to);
}

uint32_t peek_many(const uint64_t *at, uint32_t count, void *to, size_t bytes)
{
    const uint32_t most = count < PEEK_MANY ? count : (uint32_t)PEEK_MANY;
    const struct iovec local = {to, most * bytes};
    struct iovec remote[PEEK_MANY];
    ssize_t copied;

    for (uint32_t i = 0; i < most; i++)
        remote[i] = (struct iovec){(void *)(uintptr_t)at[i], bytes};
    copied = most ? process_vm_readv(getpid(), &local, 1, remote, most, 0) : 0;
    return copied > 0 ? (uint32_t)((size_t)copied / bytes) : 0;
}
