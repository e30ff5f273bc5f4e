/* SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <stdio.h>
#include <string.h>

enum {
    U32_U32 = GPURT_TYPE_U32 | GPURT_TYPE_U32 << 4,
    SITE_STRING = 8,
    SITE_PANIC = 9
};

static const struct {
    const char *format, *file;
    uint32_t line, level, weight;
} sites[SCENE_SITES] = {
    {"token %u of request %u", "serve/decode.cu", 88, GPURT_LEVEL_INFO, 500},
    {"request %u admitted, queue %u", "serve/admit.cu", 41, GPURT_LEVEL_INFO, 60},
    {"page %u moved to tier %u", "serve/kv.cu", 140, GPURT_LEVEL_DEBUG, 220},
    {"tile %u, %u cycles", "kernels/attention/flash_fwd.cu", 512, GPURT_LEVEL_TRACE, 150},
    {"tok_out full for %u ms, sender %u parked", "serve/channel.cu", 188, GPURT_LEVEL_WARN,
     12},
    {"worker %u over budget: task %u", "serve/sched.cu", 402, GPURT_LEVEL_WARN, 8},
    {"refill of class %u took %u us", "serve/alloc.cu", 97, GPURT_LEVEL_ERROR, 3},
    {"lane value %u of %u", "serve/sample.cu", 162, GPURT_LEVEL_INFO, 20},
    {"session %s", "serve/session.cu", 30, GPURT_LEVEL_WARN, 4},
    {"bounds: idx=%u len=%u", "serve/kv.cu", 233, GPURT_LEVEL_PANIC, 0},
};

const char *scene_format(uint32_t i)
{
    return sites[i].format;
}

const char *scene_file(uint32_t i)
{
    return sites[i].file;
}

uint32_t scene_line(uint32_t i)
{
    return sites[i].line;
}

uint32_t scene_level(uint32_t i)
{
    return sites[i].level;
}

void scene_about(gplog_file_t *about)
{
    memset(about, 0, sizeof *about);
    about->created_ns = SCENE_START_NS;
    about->gpurt_version = GPURT_VERSION;
    about->section_count = 2;
    about->identity.pid = 41231;
    snprintf(about->identity.program, sizeof about->identity.program, "llm_serve");
    snprintf(about->identity.host, sizeof about->identity.host, "node7");
    about->sections[0].kind = GPURT_SECTION_CUDA;
    about->sections[0].sm_count = SCENE_SMS;
    about->sections[0].warp_slots = SCENE_SLOTS;
    snprintf(about->sections[0].name, sizeof about->sections[0].name, "H200");
    about->sections[1].kind = GPURT_SECTION_HOST;
    about->sections[1].sm_count = about->sections[1].warp_slots = 1;
    snprintf(about->sections[1].name, sizeof about->sections[1].name, "host");
}

static uint32_t define(gpurt_dictionary_t *d, uint32_t kind, uint32_t i, const char *text)
{
    gpurt_site_info_t info = {.kind = (uint16_t)kind, .format = text};

    info.format_bytes = (uint32_t)strlen(text);
    info.file = info.module = "";
    if (kind == GPURT_DEF_SITE) {
        info.line = sites[i].line;
        info.level = (uint8_t)sites[i].level;
        info.record_kind = GPURT_KIND_LOG;
        info.arg_count = i == SITE_STRING ? 1 : 2;
        info.types = i == SITE_STRING ? GPURT_TYPE_STRING : U32_U32;
        info.file = sites[i].file;
        info.file_bytes = (uint32_t)strlen(info.file);
    }
    return gpurt_dictionary_add(d, &info);
}

void scene_begin(scene_t *s, gpurt_dictionary_t *d, uint64_t seed, uint64_t step_ns)
{
    memset(s, 0, sizeof *s);
    s->state = seed * 0x9e3779b97f4a7c15ull + 1;
    s->time_ns = SCENE_START_NS;
    s->step_ns = step_ns;
    for (uint32_t i = 0; i < SCENE_SITES; i++)
        s->ids[i] = define(d, GPURT_DEF_SITE, i, sites[i].format);
    s->text_id = define(d, GPURT_DEF_STRING, 0, SCENE_ESCAPE);
}

static uint32_t random32(scene_t *s)
{
    s->state = s->state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(s->state >> 32);
}

static uint32_t pick_site(scene_t *s)
{
    uint32_t sum = 0, at;

    for (uint32_t i = 0; i < SCENE_SITES; i++)
        sum += sites[i].weight;
    at = random32(s) % sum;
    for (uint32_t i = 0;; i++) {
        if (at < sites[i].weight)
            return i;
        at -= sites[i].weight;
    }
}

static void row_loss(scene_t *s, scene_row_t *out)
{
    out->row.kind = GPURT_KIND_LOSS;
    out->row.level = GPURT_LEVEL_LOST;
    out->row.form = GPURT_FORM_BLOCK;
    out->row.site = 0;
    out->row.words = 4;
    out->words[0] = GPURT_LOSS_FULL;
    out->words[1] = 1 + random32(s) % 500;
    out->words[2] = 0;
    out->words[3] = out->row.sm * SCENE_SLOTS + out->row.slot;
}

static void row_panic(scene_t *s, scene_row_t *out)
{
    uint32_t *w = out->words;

    out->row.kind = GPURT_KIND_PANIC;
    out->row.level = GPURT_LEVEL_PANIC;
    out->row.form = GPURT_FORM_WARP_PART;
    out->row.site = s->ids[SITE_PANIC];
    out->row.mask = 0xffffu;
    w[0] = 65536 + random32(s) % 9999;
    w[1] = 65536;
    memset(w + 2, 0, 32);
    w[2] = out->row.block;
    w[5] = out->row.warp * 32 + 17;
    w[8] = 17;
    w[9] = 1u << 17 | 1u << 3; /* failed */
    w[10] = random32(s);
    w[11] = 1;
    w[12] = 70003;
    w[13] = 0;
    w[14] = w[0];
    w[15] = 0;
    out->row.words = 16;
}

static void row_lanes(scene_t *s, scene_row_t *out)
{
    out->row.form = GPURT_FORM_LANES;
    out->row.words = 64;
    for (uint32_t lane = 0; lane < 32; lane++) {
        out->words[lane] = random32(s) % 1000;
        out->words[32 + lane] = lane;
    }
}

void scene_next(scene_t *s, scene_row_t *out)
{
    uint32_t kind = random32(s) % 20000, site = pick_site(s);

    s->time_ns += 1 + random32(s) % (uint32_t)(2 * s->step_ns);
    memset(out, 0, sizeof out->row + 16);
    out->row.time_ns = s->time_ns;
    out->row.site = s->ids[site];
    out->row.level = (uint8_t)sites[site].level;
    out->row.kind = GPURT_KIND_LOG;
    out->row.form = GPURT_FORM_WARP;
    out->row.mask = GPURT_FULL_MASK;
    /* Two busy thirds and an idle one, so that a map shows something. */
    out->row.sm = (uint16_t)(random32(s) % 8 ? random32(s) % 88 : random32(s) % 120);
    out->row.slot = (uint8_t)(random32(s) % SCENE_SLOTS);
    out->row.warp = out->row.slot % 8;
    out->row.block = random32(s) % 10000;
    out->row.words = 2;
    out->words[0] = random32(s) % 5000;
    out->words[1] = random32(s) % 64;
    if (kind < 3) {
        row_panic(s, out);
    } else if (kind < 12) {
        row_loss(s, out);
    } else if (kind < 30) {
        out->row.section = 1;
        out->row.form = GPURT_FORM_THREAD;
        out->row.sm = out->row.slot = 0;
        out->row.block = 41260;
    } else if (site == 7) {
        row_lanes(s, out);
    } else if (site == SITE_STRING) {
        out->row.words = 1;
        out->words[0] = s->text_id;
    }
    if (kind >= 12 && kind < 30 && site == SITE_STRING)
        out->words[0] = s->text_id;
}
