/* SPDX-License-Identifier: Apache-2.0 */
#include "lives.h"

#include "exittext.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum {
    BEGIN_WORDS = 2, /* number, pid */
    END_WORDS = 6    /* number, pid, text, seconds (two), what waitpid said */
};

/* ---- rows ---------------------------------------------------------------------------- */
static uint32_t site_of(gpurt_dictionary_t *d, const char *format, uint64_t types,
                        uint8_t count, uint8_t level)
{
    gpurt_site_info_t site = {.kind = GPURT_DEF_SITE,
                              .record_kind = GPURT_KIND_LIFE,
                              .level = level,
                              .arg_count = count,
                              .types = types,
                              .format = format,
                              .format_bytes = (uint32_t)strlen(format),
                              .file = "",
                              .module = "gpurt",
                              .module_bytes = 5};

    return gpurt_dictionary_add(d, &site);
}

static void row_fill(gpurt_life_row_t *r, uint64_t time_ns, uint32_t words, uint8_t level)
{
    memset(r, 0, sizeof *r);
    r->row.time_ns = time_ns;
    r->row.mask = 1;
    r->row.kind = GPURT_KIND_LIFE;
    r->row.form = GPURT_FORM_THREAD;
    r->row.section = GPURT_BOX_SECTIONS - 1; /* of no device */
    r->row.program = GPLOG_PROGRAM_OTHERS;   /* of none that is recorded */
    r->row.level = level;
    r->row.words = (uint16_t)words;
}

const gpurt_row_t *gpurt_life_begins(gpurt_dictionary_t *d, const gpurt_life_t *life,
                                     gpurt_life_row_t *r)
{
    row_fill(r, life->begin_ns, BEGIN_WORDS, GPURT_LEVEL_INFO);
    r->row.site = site_of(d, "life %u begins: process %u",
                          GPURT_TYPE_U32 | GPURT_TYPE_U32 << 4, 2, GPURT_LEVEL_INFO);
    r->words[0] = life->number;
    r->words[1] = life->pid;
    return &r->row;
}

const gpurt_row_t *gpurt_life_ends(gpurt_dictionary_t *d, const gpurt_life_t *life,
                                   gpurt_life_row_t *r)
{
    uint8_t level = life->wait_status ? GPURT_LEVEL_ERROR : GPURT_LEVEL_INFO;
    double seconds = (double)(life->end_ns - life->begin_ns) / 1e9;
    gpurt_site_info_t text = {.kind = GPURT_DEF_STRING, .file = "", .module = ""};
    char room[48];

    gpurt_exit_text(life->wait_status, room, sizeof room);
    text.format = room;
    text.format_bytes = (uint32_t)strlen(room);
    row_fill(r, life->end_ns, END_WORDS, level);
    r->row.site = site_of(d, "life %u ends: process %u, %s after %.3f s",
                          GPURT_TYPE_U32 | GPURT_TYPE_U32 << 4 | GPURT_TYPE_STRING << 8 |
                              GPURT_TYPE_F64 << 12,
                          4, level);
    r->words[0] = life->number;
    r->words[1] = life->pid;
    r->words[2] = gpurt_dictionary_add(d, &text);
    memcpy(&r->words[3], &seconds, sizeof seconds);
    r->words[5] = (uint32_t)life->wait_status;
    return &r->row;
}

/* ---- reading ------------------------------------------------------------------------- */
static bool has_lives(const gpurt_dictionary_t *d)
{
    gpurt_site_info_t info;
    uint32_t id = 0;

    while (gpurt_dictionary_next(d, &id, &info))
        if (info.kind == GPURT_DEF_SITE && info.record_kind == GPURT_KIND_LIFE)
            return true;
    return false;
}

typedef struct reading {
    gpurt_life_t *list;
    uint32_t count;
} reading_t;

/* The last one of that number and process, which has not ended. */
static gpurt_life_t *life_of(reading_t *r, const uint32_t *w, bool begins)
{
    for (uint32_t i = r->count; i > 0 && !begins; i--)
        if (r->list[i - 1].number == w[0] && r->list[i - 1].pid == w[1] &&
            r->list[i - 1].end_ns == 0)
            return &r->list[i - 1];
    if (r->count == GPURT_LIVES_MAX)
        return NULL;
    r->list[r->count] = (gpurt_life_t){.number = w[0], .pid = w[1]};
    return &r->list[r->count++];
}

static void row_take(reading_t *r, const gpurt_row_t *row)
{
    const uint32_t *w = gpurt_row_words(row);
    bool begins = row->words < END_WORDS;
    gpurt_life_t *life = row->words >= BEGIN_WORDS ? life_of(r, w, begins) : NULL;

    if (!life)
        return;
    if (begins) {
        life->begin_ns = row->time_ns;
        return;
    }
    life->end_ns = row->time_ns;
    life->wait_status = (int)w[5];
    if (life->begin_ns == 0)
        life->begin_ns = row->time_ns;
}

static void rows_each(gpurt_log_t *log, reading_t *r, bool panics)
{
    for (uint64_t i = 0; i < gpurt_log_frames(log); i++) {
        gpurt_log_rows_t rows;
        const gpurt_row_t *row;
        uint32_t at = 0;

        if ((panics && gpurt_log_entry(log, i)->panics == 0) ||
            gpurt_log_read(log, i, &rows, NULL) != GPURT_OK)
            continue;
        while ((row = gpurt_log_row(&rows, at, &at)) != NULL) {
            if (!panics && row->kind == GPURT_KIND_LIFE)
                row_take(r, row);
            for (uint32_t k = 0; panics && gpurt_row_is_panic(row) && k < r->count; k++)
                if (row->time_ns >= r->list[k].begin_ns &&
                    (r->list[k].end_ns == 0 || row->time_ns <= r->list[k].end_ns))
                    r->list[k].panics++;
        }
    }
}

gpurt_status_t gpurt_lives_read(gpurt_log_t *log, gpurt_life_t **out, uint32_t *count,
                                gpurt_error_t *err)
{
    reading_t r = {NULL, 0};

    *out = NULL;
    *count = 0;
    if (!has_lives(gpurt_log_dictionary(log)))
        return GPURT_OK;
    r.list = calloc(GPURT_LIVES_MAX, sizeof *r.list);
    if (!r.list)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "lives");
    rows_each(log, &r, false);
    rows_each(log, &r, true);
    *out = r.list;
    *count = r.count;
    return GPURT_OK;
}
