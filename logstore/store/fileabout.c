/* SPDX-License-Identifier: Apache-2.0 */
#include "fileabout.h"

#include <gpurt/impl/activity.h>
#include <string.h>

#define ANY UINT32_MAX

/* A process that runs on the same device again has the same section. */
static bool is_same(const gplog_section_t *a, const gplog_section_t *b)
{
    return a->kind == b->kind && a->device == b->device && a->sm_count == b->sm_count &&
           a->warp_slots == b->warp_slots &&
           memcmp(a->uuid, b->uuid, sizeof a->uuid) == 0 &&
           strncmp(a->name, b->name, sizeof a->name) == 0;
}

static uint32_t count_of(const gplog_file_t *about)
{
    return about->section_count < GPURT_BOX_SECTIONS ? about->section_count
                                                     : GPURT_BOX_SECTIONS;
}

/* Returns: its number, GPURT_BOX_SECTIONS: it is not there. */
static uint32_t find(const gplog_file_t *all, const gplog_section_t *section)
{
    uint32_t count = count_of(all);

    for (uint32_t i = 0; i < count; i++)
        if (is_same(&all->sections[i], section))
            return i;
    return GPURT_BOX_SECTIONS;
}

void gplog_about_join(gplog_file_t *all, const gplog_file_t *about)
{
    gplog_file_t joined = *about;
    uint32_t count = count_of(all);

    memcpy(joined.sections, all->sections, count * sizeof joined.sections[0]);
    memset(joined.sections + count, 0,
           (GPURT_BOX_SECTIONS - count) * sizeof joined.sections[0]);
    joined.section_count = count;
    for (uint32_t i = 0; i < count_of(about); i++)
        if (joined.section_count < GPURT_BOX_SECTIONS &&
            find(&joined, &about->sections[i]) == GPURT_BOX_SECTIONS)
            joined.sections[joined.section_count++] = about->sections[i];
    *all = joined;
}

void gplog_about_numbers(const gplog_file_t *all, const gplog_file_t *about,
                         uint32_t program, gplog_numbers_t *out)
{
    out->program = (uint8_t)program;
    out->same = program == 0;
    for (uint32_t i = 0; i < GPURT_BOX_SECTIONS; i++) {
        uint32_t number =
            i < count_of(about) ? find(all, &about->sections[i]) : GPURT_BOX_SECTIONS;

        out->section[i] = (uint8_t)(number < GPURT_BOX_SECTIONS ? number : i);
        out->same &= out->section[i] == i;
    }
}

const char *gplog_back_end(uint32_t kind)
{
    return kind == GPURT_SECTION_CUDA   ? "cuda"
           : kind == GPURT_SECTION_CPU  ? "cpu"
           : kind == GPURT_SECTION_HOST ? "host"
                                        : "unknown";
}

static bool has(const gplog_file_t *about, uint32_t kind, uint32_t device)
{
    for (uint32_t i = 0; i < count_of(about); i++)
        if (about->sections[i].kind == kind &&
            (device == ANY || about->sections[i].device == device))
            return true;
    return false;
}

bool gplog_about_is_mixed(const gplog_file_t *about)
{
    return has(about, GPURT_SECTION_CPU, ANY) && has(about, GPURT_SECTION_CUDA, ANY);
}

uint32_t gplog_about_kind(const gplog_file_t *about, const gpurt_row_t *row)
{
    bool cpu, cuda;

    if (!gpurt_kind_is_activity(row->kind))
        return row->section < count_of(about) ? about->sections[row->section].kind
                                              : GPURT_SECTION_NONE;
    if (row->kind != GPURT_KIND_LAUNCH)
        return GPURT_SECTION_CUDA;
    cpu = has(about, GPURT_SECTION_CPU, row->block);
    cuda = has(about, GPURT_SECTION_CUDA, row->block);
    return cpu == cuda ? GPURT_SECTION_NONE : cpu ? GPURT_SECTION_CPU : GPURT_SECTION_CUDA;
}

void gplog_rows_number(const gplog_numbers_t *n, uint8_t *rows, uint32_t bytes)
{
    for (uint32_t at = 0; at < bytes;) {
        gpurt_row_t *row = (gpurt_row_t *)(rows + at);

        if (row->section < GPURT_BOX_SECTIONS)
            row->section = n->section[row->section];
        row->program = n->program;
        at += gpurt_row_bytes(row->words);
    }
}
