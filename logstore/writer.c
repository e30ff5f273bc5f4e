/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"

#include "crc32c.h"
#include "deftrail.h"
#include "framesum.h"
#include "program.h"
#include "pulse.h"
#include "rowpack.h"
#include "scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
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
    int fd;
    bool held; /* a lock tells readers that we live */
    uint64_t device, inode;
    uint64_t offset; /* end of the file's sound part: where the next block goes */
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
    uint64_t number;            /* of the next frame */
    uint64_t file_at, index_at; /* blocks of this run */
    gplog_index_entry_t *entries;
    uint32_t entry_count;
    gpurt_writer_figures_t sum;
    gplog_collected_t collected, made; /* made: of the frame that is prepared */
    gplog_file_t about;                /* all that the file names */
    uint8_t
        *renumbered; /* rows of a box that numbers its sections otherwise; NULL: none yet */
};

/* ---- bytes to the file --------------------------------------------------------------- */

/* All or nothing: what a full disk took of it is cut off again. */
static gpurt_status_t append(gpurt_writer_t *w, const void *data, size_t bytes,
                             gpurt_error_t *err)
{
    const uint8_t *p = data;
    size_t done = 0;

    while (done < bytes) {
        ssize_t put = pwrite(w->fd, p + done, bytes - done, (off_t)(w->offset + done));

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            int code = put < 0 ? errno : ENOSPC;

            if (ftruncate(w->fd, (off_t)w->offset) != 0)
                code = errno;
            return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, code,
                              "log: writing %zu bytes; free some space", bytes);
        }
        done += (size_t)put;
    }
    w->offset += bytes;
    w->sum.bytes += bytes;
    return GPURT_OK;
}

/* A block with a copy of body. */
static gpurt_status_t append_block(gpurt_writer_t *w, uint32_t type, const void *body,
                                   size_t bytes, gpurt_error_t *err)
{
    uint8_t *block = malloc(sizeof(gplog_block_t) + bytes + GPLOG_ALIGN);
    uint32_t flags = type == GPLOG_FILE && w->held ? GPLOG_HELD : 0;
    gpurt_status_t st;

    if (!block)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: a block");
    memcpy(block + sizeof(gplog_block_t), body, bytes);
    st = append(w, block, gplog_block_seal(block, type, flags, bytes), err);
    free(block);
    return st;
}

gpurt_status_t gpurt_writer_note(gpurt_writer_t *w, gpurt_error_t *err)
{
    return deftrail_note(&w->trail, &w->dictionary, err);
}

static gpurt_status_t dictionary_flush(gpurt_writer_t *w, gpurt_error_t *err)
{
    gpurt_status_t st;

    if (w->defined == w->trail.known.used)
        return GPURT_OK;
    st = append_block(w, GPLOG_DICT, w->trail.known.bytes + w->defined,
                      w->trail.known.used - w->defined, err);
    if (st == GPURT_OK)
        w->defined = w->trail.known.used;
    return st;
}

/* All definitions once more and the frames since the last index. */
static gpurt_status_t index_flush(gpurt_writer_t *w, gpurt_error_t *err)
{
    size_t bytes = sizeof(gplog_index_t) + w->entry_count * sizeof *w->entries;
    gplog_index_t *body = malloc(bytes);
    uint64_t dict_at = w->offset, at;
    gpurt_status_t st;

    if (!body)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: index");
    st = append_block(w, GPLOG_DICT,
                      w->trail.known.bytes ? w->trail.known.bytes : (uint8_t *)"",
                      w->trail.known.used, err);
    if (st == GPURT_OK) {
        w->defined = w->trail.known.used;
        at = w->offset;
        body->previous = w->index_at;
        body->dict = dict_at;
        body->file = w->file_at;
        body->count = w->entry_count;
        memcpy(body + 1, w->entries, w->entry_count * sizeof *w->entries);
        st = append_block(w, GPLOG_INDEX, body, bytes, err);
        if (st == GPURT_OK) {
            w->index_at = at;
            w->entry_count = 0;
        }
    }
    free(body);
    return st;
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
    st = append_block(w, GPLOG_BLOB, body, sizeof *head + packed, err);
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

static void entry_add(gpurt_writer_t *w, const gplog_frame_t *f, uint64_t offset)
{
    w->entries[w->entry_count++] = gplog_frame_entry(f, offset);
}

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

    if (st == GPURT_OK && w->entry_count == GPLOG_INDEX_EVERY)
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
    frame->number = w->number;
    frame->encoding = pays ? GPLOG_PACKED : GPLOG_ROWS;
    frame->packed_bytes = (uint32_t)packed;
    frame->packed_crc = gpurt_crc32c(0, w->out + HEAD_BYTES, packed);
    gplog_block_seal(w->out, GPLOG_FRAME, 0, sizeof *frame);
    w->out_used = HEAD_BYTES + packed;
    return GPURT_OK;
}

gpurt_status_t gpurt_writer_commit(gpurt_writer_t *w, gpurt_error_t *err)
{
    const gplog_frame_t *frame = (const gplog_frame_t *)(w->out + sizeof(gplog_block_t));
    uint64_t offset = w->offset;
    gpurt_status_t st = append(w, w->out, w->out_used, err);

    w->out_used = 0;
    if (st != GPURT_OK)
        return st;
    entry_add(w, frame, offset);
    figures_add(&w->sum, frame);
    gplog_collected_join(&w->collected, &w->made);
    w->number++;
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
        st = gpurt_writer_commit(w, err);
    if (st == GPURT_OK)
        w->rows = w->raw_used = 0;
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
    if (st != GPURT_OK)
        return st;
    place->device = w->device;
    place->inode = w->inode;
    place->offset = w->offset;
    place->check = ((const gplog_block_t *)w->out)->crc;
    return GPURT_OK;
}

/* A torn frame was cut off when the file was opened. */
bool gpurt_writer_holds(gpurt_writer_t *w, const gpurt_box_intent_t *place)
{
    gplog_walk_t walk = {.fd = w->fd, .size = w->offset};
    gplog_piece_t piece;
    gplog_block_t head;
    bool held;

    if (place->device != w->device || place->inode != w->inode)
        return false;
    held = gplog_block_at(&walk, place->offset, &piece) == 1 && piece.type == GPLOG_FRAME &&
           gplog_read_at(w->fd, place->offset, &head, sizeof head) &&
           head.crc == place->check;
    gplog_walk_fini(&walk);
    return held;
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
}

const gplog_collected_t *gpurt_writer_collected(const gpurt_writer_t *w)
{
    return &w->collected;
}

/* ---- open and close ------------------------------------------------------------------ */

/* Takes in one block of an earlier run. Frames behind its last index go into our next
 * one. */
static void resume_piece(gpurt_writer_t *w, const gplog_piece_t *piece)
{
    const gplog_frame_t *frame = (const gplog_frame_t *)piece->body;

    w->offset = piece->end;
    switch (piece->type) {
    case GPLOG_FILE:
        if (piece->body_bytes >= sizeof w->about)
            memcpy(&w->about, piece->body, sizeof w->about);
        break;
    case GPLOG_DICT:
        gpurt_dictionary_load(&w->dictionary, piece->body, piece->body_bytes);
        break;
    case GPLOG_INDEX:
        w->index_at = piece->offset;
        w->entry_count = 0;
        break;
    case GPLOG_FRAME:
        w->number = frame->number + 1;
        if (w->entry_count == GPLOG_INDEX_EVERY)
            w->entry_count =
                0; /* an index is missing: readers count frames and will scan */
        entry_add(w, frame, piece->offset);
        break;
    default:
        break;
    }
}

/* Finds the end of the last sound block and cuts what is torn behind it: bytes after a torn
 * zstd frame would be taken for a part of it. */
static gpurt_status_t resume(gpurt_writer_t *w, uint64_t size, gpurt_error_t *err)
{
    gplog_walk_t walk = {.fd = w->fd, .size = size};
    gplog_piece_t piece;
    gpurt_status_t st;
    int found;

    while ((found = gplog_walk_next(&walk, &piece)) == 1)
        resume_piece(w, &piece);
    gplog_walk_fini(&walk);
    if (found < 0)
        return gpurt_fail(err, found, GPURT_FROM_ERRNO, ENOMEM,
                          "log: reading what is there");
    if (w->offset == 0 && size != 0)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "not a gpurt log: will not append to it");
    st = gpurt_writer_note(w, err);
    if (st == GPURT_OK)
        st = deftrail_take(&w->trail, err);
    if (st != GPURT_OK)
        return st;
    w->defined = w->trail.known.used;
    if (w->offset < size && ftruncate(w->fd, (off_t)w->offset) != 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno,
                          "log: cutting a torn tail");
    return GPURT_OK;
}

static gpurt_status_t file_open(gpurt_writer_t *w, const char *path, bool go_on,
                                gpurt_error_t *err)
{
    struct stat info;

    w->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (w->fd < 0 || fstat(w->fd, &info) != 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "%s", path);
    w->device = (uint64_t)info.st_dev;
    w->inode = (uint64_t)info.st_ino;
    if (!S_ISREG(info.st_mode))
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is not a regular file; a log needs one", path);
    if (flock(w->fd, LOCK_EX | LOCK_NB) != 0)
        return gpurt_fail(err, GPURT_E_BUSY, GPURT_FROM_GPURT, 0,
                          "%s is being written by another process; choose another file",
                          path);
    w->held = gplog_pulse_hold(w->fd);
    if (go_on)
        return resume(w, (uint64_t)info.st_size, err);
    if (info.st_size != 0)
        return gpurt_fail(
            err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
            "%s is not empty; choose another file, or append (gpurt-record -a)", path);
    return GPURT_OK;
}

static gpurt_status_t buffers_make(gpurt_writer_t *w, int level, gpurt_error_t *err)
{
    w->out_room = HEAD_BYTES + ZSTD_compressBound(GPLOG_RAW_MAX);
    w->raw = malloc(w->frame_bytes);
    w->packed = malloc(gplog_pack_bound(GPLOG_RAW_MAX));
    w->table = malloc(sizeof *w->table);
    w->out = malloc(w->out_room);
    w->entries = malloc(GPLOG_INDEX_EVERY * sizeof *w->entries);
    w->zstd = ZSTD_createCCtx();
    if (!w->raw || !w->packed || !w->table || !w->out || !w->entries || !w->zstd)
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
    if (w->fd >= 0)
        close(w->fd);
    ZSTD_freeCCtx(w->zstd);
    gpurt_dictionary_fini(&w->dictionary);
    deftrail_fini(&w->trail);
    free(w->entries);
    free(w->raw);
    free(w->packed);
    free(w->renumbered);
    free(w->table);
    free(w->out);
    free(w);
}

/* A log of before numbers were given is of the process that its FILE names. */
static void programs_add(gpurt_writer_t *w, const gplog_file_t *about)
{
    if (w->about.identity.pid && gplog_program_count(&w->dictionary) == 0)
        gplog_program_add(&w->dictionary, &w->about.identity);
    if (about->identity.pid)
        gplog_program_add(&w->dictionary, &about->identity);
}

gpurt_status_t gpurt_writer_about(gpurt_writer_t *w, const gplog_file_t *about,
                                  gpurt_error_t *err)
{
    uint64_t at;
    gpurt_status_t st = gpurt_writer_flush(w, err);

    if (st != GPURT_OK)
        return st;
    at = w->offset;
    programs_add(w, about);
    gplog_about_join(&w->about, about);
    st = append_block(w, GPLOG_FILE, &w->about, sizeof w->about, err);
    if (st == GPURT_OK)
        w->file_at = at;
    return st;
}

void gpurt_writer_numbers(gpurt_writer_t *w, const gplog_file_t *about,
                          gplog_numbers_t *out)
{
    uint32_t program =
        about->identity.pid ? gplog_program_add(&w->dictionary, &about->identity) : 0;

    gplog_about_numbers(&w->about, about, program, out);
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
    w->fd = -1;
    deftrail_init(&w->trail);
    w->frame_rows = o.frame_rows ? o.frame_rows : FRAME_ROWS;
    w->frame_bytes = o.frame_bytes ? o.frame_bytes : FRAME_BYTES;
    if (w->frame_bytes > GPLOG_RAW_MAX)
        w->frame_bytes = GPLOG_RAW_MAX;
    if (w->frame_bytes < gpurt_row_bytes(GPLOG_ROW_WORDS))
        w->frame_bytes = gpurt_row_bytes(GPLOG_ROW_WORDS);
    st = buffers_make(w, o.level ? o.level : 1, err);
    if (st == GPURT_OK)
        st = file_open(w, path, o.append, err);
    if (st == GPURT_OK)
        st = gpurt_writer_about(w, o.about ? o.about : &unknown, err);
    if (st != GPURT_OK) {
        writer_free(w);
        return st;
    }
    *out = w;
    return GPURT_OK;
}

gpurt_status_t gpurt_writer_sync(gpurt_writer_t *w, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_writer_flush(w, err);

    if (st == GPURT_OK && fdatasync(w->fd) != 0)
        st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "log: fdatasync");
    return st;
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
    if (st == GPURT_OK) {
        gplog_end_t end = {w->index_at,   w->number,       w->sum.messages, w->sum.lost,
                           w->sum.panics, w->sum.first_ns, w->sum.last_ns};

        st = append_block(w, GPLOG_END, &end, sizeof end, err);
    }
    writer_free(w);
    return st;
}
