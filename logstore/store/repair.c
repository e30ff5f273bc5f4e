/* SPDX-License-Identifier: Apache-2.0 */
#include "repair.h"

#include "framesum.h"
#include "outfile.h"
#include "scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Owner: gpurt_log_repair. */
typedef struct repair {
    gpurt_log_t *log;          /* reads and checks frames */
    gplog_walk_t walk, frames; /* frames: reads one anywhere */
    int to;
    const char *name; /* of what is written */
    uint64_t offset;
    gplog_end_t end;
    gplog_index_entry_t entries[GPLOG_INDEX_EVERY];
    uint32_t entry_count;
    gpurt_dictionary_t dictionary;
    uint64_t file_at, frame; /* next one of the log, by its number */
    gpurt_repair_figures_t sum;
} repair_t;

static gpurt_status_t put(repair_t *r, const void *data, size_t bytes, gpurt_error_t *err)
{
    const uint8_t *p = data;

    while (bytes > 0) {
        ssize_t done = write(r->to, p, bytes);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, done < 0 ? errno : ENOSPC,
                              "writing %s; free some space", r->name);
        p += done;
        bytes -= (size_t)done;
        r->offset += (uint64_t)done;
    }
    return GPURT_OK;
}

static gpurt_status_t put_block(repair_t *r, uint32_t type, const void *body, size_t bytes,
                                gpurt_error_t *err)
{
    uint8_t *block = malloc(sizeof(gplog_block_t) + bytes + GPLOG_ALIGN);
    gpurt_status_t st;

    if (!block)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "repair");
    if (bytes)
        memcpy(block + sizeof(gplog_block_t), body, bytes);
    st =
        put(r, block,
            gplog_block_seal(block, type, type == GPLOG_END ? GPLOG_WHOLE : 0, bytes), err);
    free(block);
    return st;
}

static gpurt_status_t put_index(repair_t *r, gpurt_error_t *err)
{
    struct {
        gplog_index_t head;
        gplog_index_entry_t entries[GPLOG_INDEX_EVERY];
    } *body = malloc(sizeof *body);
    uint64_t dict = r->offset;
    gpurt_status_t st;

    if (!body)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "repair: index");
    st = put_block(r, GPLOG_DICT, r->dictionary.bytes, r->dictionary.used, err);
    body->head.previous = r->end.index;
    body->head.dict = dict;
    body->head.file = r->file_at;
    body->head.count = r->entry_count;
    memcpy(body->entries, r->entries, r->entry_count * sizeof r->entries[0]);
    r->end.index = r->offset;
    if (st == GPURT_OK)
        st = put_block(r, GPLOG_INDEX, body,
                       sizeof body->head + r->entry_count * sizeof r->entries[0], err);
    r->entry_count = 0;
    free(body);
    return st;
}

/* The frame's own offset is the only part of its entry that moves, and its number may. */
static gpurt_status_t put_frame(repair_t *r, gpurt_error_t *err)
{
    const gplog_index_entry_t *from = gpurt_log_entry(r->log, r->frame);
    gplog_piece_t piece;
    gplog_frame_t f;
    gplog_index_entry_t *e;
    uint8_t *packed;
    gpurt_status_t st = GPURT_OK;

    if (gplog_block_at(&r->frames, from->offset, &piece) != 1)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, EIO, "repair: reading");
    memcpy(&f, piece.body, sizeof f);
    f.number = r->end.frames;
    if (r->entry_count == GPLOG_INDEX_EVERY)
        st = put_index(r, err);
    packed = malloc(f.packed_bytes ? f.packed_bytes : 1);
    if (!packed)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "repair: frame");
    e = &r->entries[r->entry_count++];
    *e = *from;
    e->offset = r->offset;
    if (st == GPURT_OK)
        st = put_block(r, GPLOG_FRAME, &f, sizeof f, err);
    if (st == GPURT_OK &&
        !gplog_read_at(r->walk.fd, piece.end - f.packed_bytes, packed, f.packed_bytes))
        st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "repair: reading");
    if (st == GPURT_OK)
        st = put(r, packed, f.packed_bytes, err);
    free(packed);
    gplog_end_add(&r->end, &f);
    return st;
}

/* In the place of each frame the next one by number: of a log whose frames lie in order, that
 * one. */
static gpurt_status_t frame_copy(repair_t *r, const gplog_piece_t *piece,
                                 gpurt_error_t *err)
{
    gpurt_log_rows_t rows;
    gpurt_status_t st = GPURT_OK;
    gplog_frame_t f;

    memcpy(&f, piece->body, sizeof f);
    if (!gpurt_log_counts(r->log, f.number, piece->offset)) {
        r->sum.frames_lost++;
        return GPURT_OK;
    }
    if (gpurt_log_read(r->log, r->frame, &rows, NULL) == GPURT_OK)
        st = put_frame(r, err);
    else
        r->sum.frames_lost++;
    r->frame++;
    return st;
}

static gpurt_status_t piece_copy(repair_t *r, const gplog_piece_t *piece,
                                 gpurt_error_t *err)
{
    switch (piece->type) {
    case GPLOG_FILE:
        r->file_at = r->offset;
        return put_block(r, GPLOG_FILE, piece->body, piece->body_bytes, err);
    case GPLOG_DICT:
        gpurt_dictionary_load(&r->dictionary, piece->body, piece->body_bytes);
        return put_block(r, GPLOG_DICT, piece->body, piece->body_bytes, err);
    case GPLOG_BLOB:
        return put_block(r, GPLOG_BLOB, piece->body, piece->body_bytes, err);
    case GPLOG_FRAME:
        return frame_copy(r, piece, err);
    default:
        return GPURT_OK; /* indexes are made anew */
    }
}

static gpurt_status_t pieces_copy(repair_t *r, gpurt_error_t *err)
{
    gplog_piece_t piece;
    gpurt_status_t st = GPURT_OK;
    int found = 0;

    while (st == GPURT_OK && (found = gplog_walk_next(&r->walk, &piece)) == 1) {
        r->sum.bytes_skipped += piece.skipped;
        st = piece_copy(r, &piece, err);
    }
    if (st == GPURT_OK && found < 0)
        st = gpurt_fail(err, found, GPURT_FROM_ERRNO, ENOMEM, "repair");
    if (st == GPURT_OK)
        r->sum.bytes_skipped += piece.skipped;
    if (st == GPURT_OK && r->offset == 0)
        st = gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                        "repair: nothing of the log is whole");
    if (st == GPURT_OK)
        st = put_index(r, err);
    if (st == GPURT_OK)
        st = put_block(r, GPLOG_END, &r->end, sizeof r->end, err);
    return st;
}

/* The reader is made to walk too: an index could list other frames than the walk finds. */
gpurt_status_t gpurt_log_repair(const char *from, const char *to,
                                gpurt_repair_figures_t *out, gpurt_error_t *err)
{
    repair_t *r = calloc(1, sizeof *r);
    gpurt_log_summary_t sum;
    struct stat info;
    gpurt_status_t st;

    memset(out, 0, sizeof *out);
    if (strcmp(to, "-") == 0) {
        free(r);
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "repair: a log needs a file, so it cannot go to standard output "
                          "(-); ./- is a file of that name");
    }
    if (!r)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "repair");
    r->to = r->walk.fd = -1;
    st = gpurt_log_open_walked(from, &r->log, err);
    if (st != GPURT_OK)
        goto out;
    r->walk.fd = open(from, O_RDONLY | O_CLOEXEC);
    if (r->walk.fd < 0 || fstat(r->walk.fd, &info) != 0) {
        st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "opening %s", from);
        goto out;
    }
    r->to = gpurt_outfile_open(to, GPURT_OUTFILE_NEW, info.st_mode & 0666, err);
    if (r->to < 0) {
        st = GPURT_E_OS;
        goto out;
    }
    r->name = to;
    r->walk.size = (uint64_t)info.st_size;
    r->frames = (gplog_walk_t){.fd = r->walk.fd, .size = r->walk.size};
    st = pieces_copy(r, err);
    r->sum.frames_kept = r->end.frames;
    gpurt_log_summary(r->log, &sum);
    r->sum.damage = sum.damage;
    *out = r->sum;
out:
    if (r->to >= 0 && st != GPURT_OK)
        gpurt_outfile_remove(to,
                             r->to); /* a piece, or no log at all: the next try finds it */
    if (r->to >= 0 && close(r->to) != 0 && st == GPURT_OK)
        st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "closing %s", to);
    if (r->walk.fd >= 0)
        close(r->walk.fd);
    gplog_walk_fini(&r->walk);
    gplog_walk_fini(&r->frames);
    gpurt_dictionary_fini(&r->dictionary);
    gpurt_log_close(r->log);
    free(r);
    return st;
}
