/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"

#include "crc32c.h"
#include "deftrail.h"
#include "framesum.h"
#include "logfile.h"
#include "program.h"
#include "rowpack.h"
#include "scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    FRAME_ROWS = 32768,
    FRAME_BYTES = 2 << 20,
    BLOB_LEVEL =
        6, /* core dumps shrink to a tenth; a higher level takes seconds for a hundredth */
    HEAD_BYTES = sizeof(gplog_block_t) + sizeof(gplog_frame_t)
};

/* Owner: whoever opened it. One thread adds definitions and notes them, one writes; where
 * they are two, the trail is all they share. */
struct gpurt_writer {
    logfile_t file;
    uint32_t frame_rows, frame_bytes;
    gpurt_dictionary_t dictionary; /* who adds */
    deftrail_t trail;
    size_t defined; /* bytes of trail.known that the file has */
    uint8_t *raw;   /* rows of the frame at hand */
    uint32_t raw_used, rows;
    uint8_t *packed; /* those rows as differences */
    gplog_pack_table_t *table;
    uint8_t *out; /* HEAD_BYTES, then the compressed rows */
    size_t out_room;
    size_t out_used; /* of a frame that is prepared, 0 none */
    ZSTD_CCtx *zstd;
    gpurt_writer_figures_t sum;        /* but for bytes, which the file counts */
    gplog_collected_t collected, made; /* made: of the frame that is prepared */
    uint8_t
        *renumbered; /* rows of a box that numbers its sections otherwise; NULL: none yet */
};

/* ---- beside the rows ------------------------------------------------------------------ */

gpurt_status_t gpurt_writer_note(gpurt_writer_t *w, gpurt_error_t *err)
{
    return deftrail_note(&w->trail, &w->dictionary, err);
}

static gpurt_status_t dictionary_flush(gpurt_writer_t *w, gpurt_error_t *err)
{
    gpurt_status_t st;

    if (w->defined == w->trail.known.used)
        return GPURT_OK;
    st = logfile_block(&w->file, GPLOG_DICT, w->trail.known.bytes + w->defined,
                       w->trail.known.used - w->defined, err);
    if (st == GPURT_OK)
        w->defined = w->trail.known.used;
    return st;
}

/* All definitions once more and the frames since the last index. */
static gpurt_status_t index_flush(gpurt_writer_t *w, gpurt_error_t *err)
{
    uint64_t at = w->file.offset;
    gpurt_status_t st = logfile_block(
        &w->file, GPLOG_DICT, w->trail.known.bytes ? w->trail.known.bytes : (uint8_t *)"",
        w->trail.known.used, err);

    if (st != GPURT_OK)
        return st;
    w->defined = w->trail.known.used;
    return logfile_index(&w->file, at, err);
}

static gpurt_status_t blob_put(gpurt_writer_t *w, gplog_blob_t *head, const void *bytes,
                               gpurt_error_t *err)
{
    size_t room = ZSTD_compressBound((size_t)head->raw_bytes), packed;
    uint8_t *body = malloc(sizeof *head + room);
    gpurt_status_t st;

    if (!body)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: a blob");
    packed = ZSTD_compress(body + sizeof *head, room, bytes, (size_t)head->raw_bytes,
                           BLOB_LEVEL);
    if (ZSTD_isError(packed) || packed + sizeof *head > GPLOG_BLOCK_MAX - GPLOG_ALIGN) {
        free(body);
        return gpurt_fail(err, GPURT_E_UNSUPPORTED, GPURT_FROM_GPURT, 0,
                          "log: %llu bytes are too many for a block",
                          (unsigned long long)head->raw_bytes);
    }
    head->packed_bytes = (uint32_t)packed;
    memcpy(body, head, sizeof *head);
    st = logfile_block(&w->file, GPLOG_BLOB, body, sizeof *head + packed, err);
    free(body);
    return st;
}

gpurt_status_t gpurt_writer_blob(gpurt_writer_t *w, uint32_t kind, const void *bytes,
                                 size_t size, uint64_t *id, gpurt_error_t *err)
{
    gplog_blob_t head = {.raw_bytes = size, .kind = kind};
    gpurt_status_t st;

    *id = 0;
    if (size > GPLOG_BLOB_RAW_MAX)
        return gpurt_fail(err, GPURT_E_UNSUPPORTED, GPURT_FROM_GPURT, 0,
                          "log: a blob of %zu bytes is too large", size);
    head.id = gplog_blob_id(bytes, size);
    st = blob_put(w, &head, bytes, err);
    if (st == GPURT_OK)
        *id = head.id;
    return st;
}

/* ---- frames -------------------------------------------------------------------------- */

static void figures_add(gpurt_writer_figures_t *s, const gplog_frame_t *f)
{
    if (s->frames++ == 0 || f->first_ns < s->first_ns)
        s->first_ns = f->first_ns;
    if (f->last_ns > s->last_ns)
        s->last_ns = f->last_ns;
    s->rows += f->rows;
    s->messages += f->messages;
    s->lost += f->lost;
    s->panics += f->panics;
}

/* What the next frame needs before it in the file. */
static gpurt_status_t forerunners_flush(gpurt_writer_t *w, gpurt_error_t *err)
{
    gpurt_status_t st = deftrail_take(&w->trail, err);

    if (st == GPURT_OK && w->file.entry_count == GPLOG_INDEX_EVERY)
        st = index_flush(w, err);
    return st == GPURT_OK ? dictionary_flush(w, err) : st;
}

static gpurt_status_t frame_make(gpurt_writer_t *w, const void *rows, uint32_t bytes,
                                 gpurt_error_t *err)
{
    gplog_frame_t *frame = (gplog_frame_t *)(w->out + sizeof(gplog_block_t));
    size_t less, packed;
    bool pays; /* long rows that have nothing in common do not */

    w->out_used = 0;
    gplog_frame_begin(frame);
    memset(&w->made, 0, sizeof w->made);
    less = gplog_pack(w->table, rows, bytes, w->packed, frame, &w->made);
    pays = less < bytes;
    packed = ZSTD_compress2(w->zstd, w->out + HEAD_BYTES, w->out_room - HEAD_BYTES,
                            pays ? w->packed : rows, pays ? less : bytes);
    if (ZSTD_isError(packed))
        return gpurt_fail(err, GPURT_E_INTERNAL, GPURT_FROM_GPURT, 0, "log: zstd says %s",
                          ZSTD_getErrorName(packed));
    frame->number = w->file.total.frames;
    frame->encoding = pays ? GPLOG_PACKED : GPLOG_ROWS;
    frame->packed_bytes = (uint32_t)packed;
    frame->packed_crc = gpurt_crc32c(0, w->out + HEAD_BYTES, packed);
    gplog_block_seal(w->out, GPLOG_FRAME, 0, sizeof *frame);
    w->out_used = HEAD_BYTES + packed;
    return GPURT_OK;
}

static gpurt_status_t frame_commit(gpurt_writer_t *w, gpurt_error_t *err)
{
    const gplog_frame_t *frame = (const gplog_frame_t *)(w->out + sizeof(gplog_block_t));
    gpurt_status_t st = logfile_frame(&w->file, w->out, w->out_used, err);

    w->out_used = 0;
    if (st != GPURT_OK)
        return st;
    figures_add(&w->sum, frame);
    gplog_collected_join(&w->collected, &w->made);
    return GPURT_OK;
}

static gpurt_status_t rows_flush(gpurt_writer_t *w, gpurt_error_t *err)
{
    gpurt_status_t st;

    if (w->rows == 0)
        return GPURT_OK;
    st = forerunners_flush(w, err);
    if (st == GPURT_OK)
        st = frame_make(w, w->raw, w->raw_used, err);
    if (st == GPURT_OK)
        st = frame_commit(w, err);
    if (st == GPURT_OK)
        w->rows = w->raw_used = 0;
    return st;
}

gpurt_status_t gpurt_writer_commit(gpurt_writer_t *w, gpurt_error_t *err)
{
    gpurt_status_t st = frame_commit(w, err);

    w->file.torn |= st != GPURT_OK;
    return st;
}

gpurt_status_t gpurt_writer_flush(gpurt_writer_t *w, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_writer_note(w, err);

    return st == GPURT_OK ? rows_flush(w, err) : st;
}

/* The rows stay as they are: a frame that fails is made again. */
static gpurt_status_t rows_renumber(gpurt_writer_t *w, const gplog_numbers_t *numbers,
                                    const gpurt_row_t **rows, uint32_t bytes,
                                    gpurt_error_t *err)
{
    if (!numbers || numbers->same)
        return GPURT_OK;
    if (!w->renumbered)
        w->renumbered = malloc(GPLOG_RAW_MAX);
    if (!w->renumbered)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: buffers");
    memcpy(w->renumbered, *rows, bytes);
    gplog_rows_number(numbers, w->renumbered, bytes);
    *rows = (const gpurt_row_t *)w->renumbered;
    return GPURT_OK;
}

gpurt_status_t gpurt_writer_prepare(gpurt_writer_t *w, const gplog_numbers_t *numbers,
                                    const gpurt_row_t *rows, uint32_t bytes,
                                    gpurt_box_intent_t *place, gpurt_error_t *err)
{
    gpurt_status_t st = rows_flush(w, err);

    if (st == GPURT_OK)
        st = forerunners_flush(w, err);
    if (st == GPURT_OK)
        st = rows_renumber(w, numbers, &rows, bytes, err);
    if (st == GPURT_OK)
        st = frame_make(w, rows, bytes, err);
    w->file.torn |= st != GPURT_OK;
    if (st != GPURT_OK)
        return st;
    place->device = w->file.device;
    place->inode = w->file.inode;
    place->offset = w->file.offset;
    place->check = ((const gplog_block_t *)w->out)->crc;
    return GPURT_OK;
}

bool gpurt_writer_holds(gpurt_writer_t *w, const gpurt_box_intent_t *place)
{
    return logfile_holds(&w->file, place);
}

gpurt_status_t gpurt_writer_put_of(gpurt_writer_t *w, const gplog_numbers_t *numbers,
                                   const gpurt_row_t *row, gpurt_error_t *err)
{
    uint32_t bytes = gpurt_row_bytes(row->words);

    if (row->words > GPLOG_ROW_WORDS)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "log: a row of %u words", row->words);
    if (w->rows >= w->frame_rows || w->raw_used + bytes > w->frame_bytes) {
        gpurt_status_t st = gpurt_writer_flush(w, err);

        if (st != GPURT_OK)
            return st;
    }
    memcpy(w->raw + w->raw_used, row, sizeof *row + 4u * row->words);
    if (row->words % 2)
        memset(w->raw + w->raw_used + sizeof *row + 4u * row->words, 0, 4);
    if (numbers)
        gplog_rows_number(numbers, w->raw + w->raw_used, bytes);
    w->raw_used += bytes;
    w->rows++;
    return GPURT_OK;
}

gpurt_status_t gpurt_writer_put(gpurt_writer_t *w, const gpurt_row_t *row,
                                gpurt_error_t *err)
{
    return gpurt_writer_put_of(w, NULL, row, err);
}

uint32_t gpurt_writer_define(gpurt_writer_t *w, const gpurt_site_info_t *info)
{
    return gpurt_dictionary_add(&w->dictionary, info);
}

gpurt_dictionary_t *gpurt_writer_dictionary(gpurt_writer_t *w)
{
    return &w->dictionary;
}

uint32_t gpurt_writer_pending(const gpurt_writer_t *w)
{
    return w->rows;
}

void gpurt_writer_figures(const gpurt_writer_t *w, gpurt_writer_figures_t *out)
{
    *out = w->sum;
    out->bytes = w->file.bytes;
}

const gplog_collected_t *gpurt_writer_collected(const gpurt_writer_t *w)
{
    return &w->collected;
}

/* ---- open and close ------------------------------------------------------------------ */

/* The file's definitions are in the dictionary: none of them is new. */
static gpurt_status_t trail_resume(gpurt_writer_t *w, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_writer_note(w, err);

    if (st == GPURT_OK)
        st = deftrail_take(&w->trail, err);
    if (st == GPURT_OK)
        w->defined = w->trail.known.used;
    return st;
}

static gpurt_status_t buffers_make(gpurt_writer_t *w, int level, gpurt_error_t *err)
{
    w->out_room = HEAD_BYTES + ZSTD_compressBound(GPLOG_RAW_MAX);
    w->raw = malloc(w->frame_bytes);
    w->packed = malloc(gplog_pack_bound(GPLOG_RAW_MAX));
    w->table = malloc(sizeof *w->table);
    w->out = malloc(w->out_room);
    w->zstd = ZSTD_createCCtx();
    if (!w->raw || !w->packed || !w->table || !w->out || !w->zstd)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: buffers");
    ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, level);
    /* Rows repeat what stands shortly before them: a table that fits the first cache finds it
     * as well as one four times as large, and a tenth faster. */
    if (level == 1)
        ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_hashLog, 12);
    return GPURT_OK;
}

static void writer_free(gpurt_writer_t *w)
{
    if (!w)
        return;
    logfile_fini(&w->file);
    ZSTD_freeCCtx(w->zstd);
    gpurt_dictionary_fini(&w->dictionary);
    deftrail_fini(&w->trail);
    free(w->raw);
    free(w->packed);
    free(w->renumbered);
    free(w->table);
    free(w->out);
    free(w);
}

void gpurt_writer_drop(gpurt_writer_t *w)
{
    if (w)
        logfile_undo(&w->file);
    writer_free(w);
}

/* A log of before numbers were given is of the process that its FILE names. */
static void programs_add(gpurt_writer_t *w, const gplog_file_t *about)
{
    const gpurt_box_identity_t *before = &w->file.about.identity;

    if (before->pid && gplog_program_count(&w->dictionary) == 0)
        gplog_program_add(&w->dictionary, before);
    if (about->identity.pid)
        gplog_program_add(&w->dictionary, &about->identity);
}

gpurt_status_t gpurt_writer_about(gpurt_writer_t *w, const gplog_file_t *about,
                                  gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_writer_flush(w, err);

    if (st != GPURT_OK)
        return st;
    programs_add(w, about);
    return logfile_about(&w->file, about, err);
}

void gpurt_writer_numbers(gpurt_writer_t *w, const gplog_file_t *about,
                          gplog_numbers_t *out)
{
    uint32_t program =
        about->identity.pid ? gplog_program_add(&w->dictionary, &about->identity) : 0;

    gplog_about_numbers(&w->file.about, about, program, out);
}

gpurt_status_t gpurt_writer_open(const char *path, const gpurt_writer_options_t *options,
                                 gpurt_writer_t **out, gpurt_error_t *err)
{
    static const gplog_file_t unknown;
    gpurt_writer_options_t o = options ? *options : (gpurt_writer_options_t){0};
    gpurt_writer_t *w = calloc(1, sizeof *w);
    gpurt_status_t st;

    *out = NULL;
    if (!w)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: %s", path);
    logfile_init(&w->file);
    deftrail_init(&w->trail);
    w->frame_rows = o.frame_rows ? o.frame_rows : FRAME_ROWS;
    w->frame_bytes = o.frame_bytes ? o.frame_bytes : FRAME_BYTES;
    if (w->frame_bytes > GPLOG_RAW_MAX)
        w->frame_bytes = GPLOG_RAW_MAX;
    if (w->frame_bytes < gpurt_row_bytes(GPLOG_ROW_WORDS))
        w->frame_bytes = gpurt_row_bytes(GPLOG_ROW_WORDS);
    st = buffers_make(w, o.level ? o.level : 1, err);
    if (st == GPURT_OK)
        st = logfile_open(&w->file, path, o.append ? &w->dictionary : NULL, err);
    if (st == GPURT_OK && o.append)
        st = trail_resume(w, err);
    if (st == GPURT_OK)
        st = gpurt_writer_about(w, o.about ? o.about : &unknown, err);
    if (st != GPURT_OK) {
        gpurt_writer_drop(w); /* a piece of a beginning, which the next run would refuse */
        return st;
    }
    *out = w;
    return GPURT_OK;
}

gpurt_status_t gpurt_writer_stands(gpurt_writer_t *w, gpurt_error_t *err)
{
    gpurt_writer_figures_t sum;

    gpurt_writer_figures(w, &sum);
    return logfile_stands(&w->file, sum.messages, err);
}

gpurt_status_t gpurt_writer_close(gpurt_writer_t *w, gpurt_error_t *err)
{
    gpurt_status_t st;

    if (!w)
        return GPURT_OK;
    st = gpurt_writer_flush(w, err);
    if (st == GPURT_OK)
        st = deftrail_take(&w->trail, err);
    if (st == GPURT_OK)
        st = index_flush(w, err);
    if (st == GPURT_OK)
        st = logfile_end(&w->file, err);
    writer_free(w);
    return st;
}
