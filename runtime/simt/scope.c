/* SPDX-License-Identifier: Apache-2.0 */
/* The scope checker: an atomic whose scope is narrower than the set of lanes that use the word.
 * On a GPU such an update can be lost; no CPU tool knows scopes, so nothing else sees it.
 *
 * A table of words touched in the running launches: who touched first, whether anybody else
 * did, and the narrowest scope used. A word that two blocks use with block scope (or two
 * clusters with cluster scope) is reported at the access that completes the proof. Shared
 * memory is exempt: it belongs to one block. The table is open-addressed and bounded; words that
 * find no place in it go unchecked.
 *
 * And an atomic whose name says that the word lies in shared memory, or not there, and it does not: on
 * a GPU that is an illegal address, or another word. */
#include "simt.h"

#include <gpurt/atomic.h>
#include <gpurt/impl/point.h>

#include <stdlib.h>
#include <string.h>

enum {
    SCOPE_WORDS = 1 << 16,
    SCOPE_TRIES = 32
};

typedef struct scope_word {
    const void *addr; /* NULL: free */
    const simt_launch_t *launch;
    uint32_t block, cluster; /* of the first user */
    uint32_t another;        /* a block that used it later, when other_block */
    bool other_block, other_cluster;
    uint8_t narrowest;
    uint32_t narrow_block;
} scope_word_t;

/* Owner: the device. Shared with: lanes of every worker, under xlock. */
struct simt_scope {
    uint32_t xlock; /* written by: lanes; held without switching */
    scope_word_t *words;
};

simt_scope_t *simt_scope_create(void)
{
    simt_scope_t *s = (simt_scope_t *)calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->words = (scope_word_t *)calloc(SCOPE_WORDS, sizeof *s->words);
    if (!s->words) {
        free(s);
        return NULL;
    }
    return s;
}

void simt_scope_destroy(simt_scope_t *s)
{
    if (!s)
        return;
    free(s->words);
    free(s);
}

/* A word may serve other blocks in a later launch. Main fiber, when nothing runs. */
void simt_scope_reset(simt_scope_t *s)
{
    memset(s->words, 0, SCOPE_WORDS * sizeof *s->words);
}

static scope_word_t *word_find(simt_scope_t *s, const void *addr)
{
    uint64_t h = (uint64_t)(uintptr_t)addr * 0x9e3779b97f4a7c15u >> 40;

    for (uint32_t i = 0; i < SCOPE_TRIES; i++) {
        scope_word_t *w = &s->words[(h + i) & (SCOPE_WORDS - 1)];

        if (w->addr == addr || !w->addr)
            return w;
    }
    return NULL;
}

/* Whether two users of the word prove its narrowest scope too narrow; then, who they are. */
static bool word_broken(const scope_word_t *w, simt_narrow_t *found)
{
    bool blk = w->narrowest == GPURT_SCOPE_BLK && w->other_block;
    bool clu = w->narrowest == GPURT_SCOPE_CLU && w->other_cluster;

    if (!blk && !clu)
        return false;
    *found = (simt_narrow_t){.addr = w->addr,
                             .scope = blk ? "block" : "cluster",
                             .narrow = w->narrow_block,
                             .user = w->block == w->narrow_block ? w->another : w->block};
    return true;
}

static void word_touch(scope_word_t *w, const simt_block_t *b, uint32_t scope)
{
    uint32_t cluster = b->rank / b->launch->cluster_size;

    if (w->launch != b->launch) {
        *w = (scope_word_t){.addr = w->addr,
                            .launch = b->launch,
                            .block = b->rank,
                            .cluster = cluster,
                            .narrowest = GPURT_SCOPE_SYS};
    }
    if (w->block != b->rank) {
        w->other_block = true;
        w->another = b->rank;
    }
    w->other_cluster |= w->cluster != cluster;
    if (scope < w->narrowest) {
        w->narrowest = (uint8_t)scope;
        w->narrow_block = b->rank;
    }
}

static bool in_shared_memory(const simt_lane_t *lane, const void *addr)
{
    const simt_cluster_t *c = lane->warp->block->cluster;
    const simt_block_t *b = lane->warp->block;

    if ((const char *)addr >= b->shared && (const char *)addr < b->shared + b->shared_bytes)
        return true;
    for (uint32_t i = 0; c && i < c->size; i++)
        if (c->blocks[i] && (const char *)addr >= c->blocks[i]->shared &&
            (const char *)addr < c->blocks[i]->shared + c->blocks[i]->shared_bytes)
            return true;
    return false;
}

bool simt_scope_is_astray(simt_lane_t *lane, const gpurt_point_t *p, simt_narrow_t *found)
{
    bool near = p->scope == GPURT_SCOPE_NEAR;

    if ((!near && p->scope != GPURT_SCOPE_FAR) || near == in_shared_memory(lane, p->addr))
        return false;
    *found = (simt_narrow_t){.addr = p->addr, .shared = !near, .missing = near};
    return true;
}

bool simt_scope_breaks(simt_scope_t *s, simt_lane_t *lane, const void *addr, uint32_t scope,
                       simt_narrow_t *found)
{
    scope_word_t *w;
    bool broken = false;

    if (in_shared_memory(lane, addr))
        return false;
    while (gpurt_xchg_acquire_dev_u32(&s->xlock, 1)) /* S3.acq */
        ;
    w = word_find(s, addr);
    if (w) {
        w->addr = addr;
        word_touch(w, lane->warp->block, scope);
        broken = word_broken(w, found);
    }
    gpurt_store_release_dev_u32(&s->xlock, 0); /* S3.rel */
    return broken;
}
