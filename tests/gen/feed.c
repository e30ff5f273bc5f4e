/* SPDX-License-Identifier: Apache-2.0 */
#include "feed.h"

#include "hosttime.h"

#include <string.h>

enum {
    FEED_HEAD = GPURT_RECORD_HEAD_WORDS
};

void feed_define(const gpurt_boxmap_t *map, uint32_t section)
{
    static const char format[] = "message %u of ring %u", file[] = "feed/kernel.c";

    for (uint32_t i = 0; i < FEED_SITES; i++) {
        gpurt_def_t *def = gpurt_boxmap_def(map, section, i);

        def->slots = 1;
        def->level = (uint8_t)(GPURT_LEVEL_INFO + i % 3);
        def->arg_count = 2;
        def->line = 100 + i;
        def->kind = GPURT_KIND_LOG;
        def->types = GPURT_TYPE_U32 | GPURT_TYPE_U32 << 4;
        def->format_bytes = sizeof format - 1;
        def->file_bytes = sizeof file - 1;
        memcpy(gpurt_def_text(def), format, sizeof format - 1);
        memcpy(gpurt_def_text(def) + sizeof format - 1, file, sizeof file - 1);
        gpurt_store_release_sys_u32(&def->xstate, GPURT_DEF_SITE); /* B3.rel */
    }
}

/* Stores words[0..count) as one record; missing words are zero. */
static void put(const gpurt_ring_port_t *port, uint32_t position, uint32_t salt,
                const uint32_t *words, uint32_t count)
{
    uint32_t groups = gpurt_record_groups(count - GPURT_RECORD_HEAD_WORDS);

    for (uint32_t i = 0; i < groups; i++) {
        gpurt_group_t g;

        g.tag = i ? gpurt_tag_rest(position + i, salt, i)
                  : gpurt_tag_first(position, salt, groups);
        for (uint32_t w = 0; w < GPURT_GROUP_WORDS; w++)
            g.word[w] = 3 * i + w < count ? words[3 * i + w] : 0;
        gpurt_group_store(gpurt_ring_at(port, position + i), g);
    }
}

static void head(uint32_t *words, uint32_t site, uint32_t form, uint32_t block,
                 uint64_t time)
{
    words[0] = gpurt_record_what(site, GPURT_KIND_LOG, form, block);
    words[1] = (uint32_t)time;
    words[2] = (uint32_t)(time >> 32) & 0xffffu;
    words[3] = block;
}

bool feed_uniform(const gpurt_ring_port_t *port, uint32_t site, uint32_t block, uint32_t a,
                  uint32_t b, uint64_t time_ns)
{
    uint32_t words[FEED_HEAD + 2], position;

    if (!gpurt_ring_take(port, 2, 1, time_ns, &position))
        return false;
    head(words, site, GPURT_FORM_WARP, block, time_ns);
    words[4] = a;
    words[5] = b;
    put(port, position, block * 31u, words, FEED_HEAD + 2);
    return true;
}

bool feed_warp(const gpurt_ring_port_t *port, uint32_t site, uint32_t block, uint32_t warp,
               uint32_t a, uint32_t b, uint64_t time_ns)
{
    uint32_t words[FEED_HEAD + 2], position;

    if (!gpurt_ring_take(port, 2, 1, time_ns, &position))
        return false;
    head(words, site, GPURT_FORM_WARP, block, time_ns);
    words[0] = gpurt_record_what(site, GPURT_KIND_LOG, GPURT_FORM_WARP, warp);
    words[4] = a;
    words[5] = b;
    put(port, position, block * 31u, words, FEED_HEAD + 2);
    return true;
}

bool feed_lanes(const gpurt_ring_port_t *port, uint32_t site, uint32_t block, uint32_t a,
                uint32_t b, uint64_t time_ns)
{
    uint32_t words[FEED_HEAD + 64], position;

    if (!gpurt_ring_take(port, gpurt_record_groups(64), 32, time_ns, &position))
        return false;
    head(words, site, GPURT_FORM_LANES, block, time_ns);
    for (uint32_t lane = 0; lane < 32; lane++) {
        words[FEED_HEAD + lane] = a + lane;
        words[FEED_HEAD + 32 + lane] = b;
    }
    put(port, position, block * 31u, words, FEED_HEAD + 64);
    return true;
}

void feed_panic(const gpurt_boxmap_t *map, uint32_t section, uint32_t index, uint32_t site)
{
    gpurt_panic_t *p = gpurt_boxmap_panic(map, section, index);

    p->site = site;
    p->sm = 7;
    p->warp_slot = 3;
    p->block.x = 40 + index;
    p->thread.x = 65;
    p->warp = 2;
    p->lane = 1;
    p->mask = 0xffu;
    p->failed = 1u << 1;
    p->time_ns = gpurt_real_ns();
    p->args[0] = 70211;
    p->args[1] = 65536;
    gpurt_add_relaxed_sys_u32(&map->box->sections[section].xpanics, 1);
    gpurt_store_release_sys_u32(&p->xstate, GPURT_PANIC_WRITTEN); /* B6.rel */
}

bool feed_words(const gpurt_ring_port_t *port, const uint32_t *words, uint32_t count)
{
    uint64_t time_ns = words[1] | (uint64_t)words[2] << 32;
    uint32_t position;

    if (!gpurt_ring_take(port, gpurt_record_groups(count - FEED_HEAD), 1, time_ns,
                         &position))
        return false;
    put(port, position, words[3], words, count);
    return true;
}
