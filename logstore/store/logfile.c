/* SPDX-License-Identifier: Apache-2.0 */
#include "logfile.h"

#include "fileabout.h"
#include "framesum.h"
#include "outfile.h"
#include "plural.h"
#include "pulse.h"
#include "scan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- bytes to the file --------------------------------------------------------------- */

/* Notes whether another process has cut the file: the next write makes it as long as before. */
static void cut_look(logfile_t *f)
{
    struct stat info;

    f->cut = f->cut || (fstat(f->fd, &info) == 0 && (uint64_t)info.st_size < f->offset);
}

/* All or nothing: what a full disk took of it is cut off again. */
static gpurt_status_t append(logfile_t *f, const void *data, size_t bytes,
                             gpurt_error_t *err)
{
    const uint8_t *p = data;
    size_t done = 0;

    cut_look(f);
    while (done < bytes) {
        ssize_t put = pwrite(f->fd, p + done, bytes - done, (off_t)(f->offset + done));

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            int code = put < 0 ? errno : ENOSPC;

            if (ftruncate(f->fd, (off_t)f->offset) != 0)
                code = errno;
            return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, code,
                              "log: writing %zu bytes; free some space", bytes);
        }
        done += (size_t)put;
    }
    f->offset += bytes;
    f->bytes += bytes;
    return GPURT_OK;
}

gpurt_status_t logfile_block(logfile_t *f, uint32_t type, const void *body, size_t bytes,
                             gpurt_error_t *err)
{
    uint8_t *block = malloc(sizeof(gplog_block_t) + bytes + GPLOG_ALIGN);
    uint32_t flags = type == GPLOG_FILE && f->held ? GPLOG_HELD
                     : type == GPLOG_END           ? GPLOG_WHOLE
                                                   : 0;
    gpurt_status_t st;

    if (!block)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: a block");
    memcpy(block + sizeof(gplog_block_t), body, bytes);
    st = append(f, block, gplog_block_seal(block, type, flags, bytes), err);
    free(block);
    return st;
}

static void entry_add(logfile_t *f, const gplog_frame_t *frame, uint64_t offset)
{
    f->entries[f->entry_count++] = gplog_frame_entry(frame, offset);
}

gpurt_status_t logfile_frame(logfile_t *f, const void *block, size_t bytes,
                             gpurt_error_t *err)
{
    const gplog_frame_t *frame =
        (const gplog_frame_t *)((const uint8_t *)block + sizeof(gplog_block_t));
    uint64_t offset = f->offset;
    gpurt_status_t st = append(f, block, bytes, err);

    if (st != GPURT_OK)
        return st;
    entry_add(f, frame, offset);
    gplog_end_add(&f->total, frame);
    return GPURT_OK;
}

gpurt_status_t logfile_about(logfile_t *f, const gplog_file_t *about, gpurt_error_t *err)
{
    uint64_t at = f->offset;
    gpurt_status_t st;

    gplog_about_join(&f->about, about);
    st = logfile_block(f, GPLOG_FILE, &f->about, sizeof f->about, err);
    if (st == GPURT_OK)
        f->about_at = at;
    return st;
}

gpurt_status_t logfile_index(logfile_t *f, uint64_t dict_at, gpurt_error_t *err)
{
    size_t bytes = sizeof(gplog_index_t) + f->entry_count * sizeof *f->entries;
    gplog_index_t *body = malloc(bytes);
    uint64_t at = f->offset;
    gpurt_status_t st;

    if (!body)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: index");
    body->previous = f->total.index;
    body->dict = dict_at;
    body->file = f->about_at;
    body->count = f->entry_count;
    memcpy(body + 1, f->entries, f->entry_count * sizeof *f->entries);
    st = logfile_block(f, GPLOG_INDEX, body, bytes, err);
    if (st == GPURT_OK) {
        f->total.index = at;
        f->entry_count = 0;
    }
    free(body);
    return st;
}

/* Its end says that it is whole. One that lacks records, which was told, has none: it is not closed. */
gpurt_status_t logfile_end(logfile_t *f, gpurt_error_t *err)
{
    if (f->torn)
        return GPURT_OK;
    return logfile_block(f, GPLOG_END, &f->total, sizeof f->total, err);
}

/* ---- what is in it ------------------------------------------------------------------- */

/* A torn frame was cut off when the file was opened. */
bool logfile_holds(const logfile_t *f, const gpurt_box_intent_t *place)
{
    gplog_walk_t walk = {.fd = f->fd, .size = f->offset};
    gplog_piece_t piece;
    gplog_block_t head;
    bool held;

    if (place->device != f->device || place->inode != f->inode)
        return false;
    held = gplog_block_at(&walk, place->offset, &piece) == 1 && piece.type == GPLOG_FRAME &&
           gplog_read_at(f->fd, place->offset, &head, sizeof head) &&
           head.crc == place->check;
    gplog_walk_fini(&walk);
    return held;
}

/* Takes in one block of an earlier run. Frames behind its last index go into our next
 * one. */
static void resume_piece(logfile_t *f, const gplog_piece_t *piece,
                         gpurt_dictionary_t *known)
{
    const gplog_frame_t *frame = (const gplog_frame_t *)piece->body;

    f->offset = piece->end;
    switch (piece->type) {
    case GPLOG_FILE:
        if (piece->body_bytes >= sizeof f->about)
            memcpy(&f->about, piece->body, sizeof f->about);
        break;
    case GPLOG_DICT:
        gpurt_dictionary_load(known, piece->body, piece->body_bytes);
        break;
    case GPLOG_INDEX:
        f->entry_count = 0;
        break;
    case GPLOG_FRAME:
        if (f->entry_count == GPLOG_INDEX_EVERY)
            f->entry_count =
                0; /* an index is missing: readers count frames and will scan */
        entry_add(f, frame, piece->offset);
        break;
    default:
        break;
    }
}

/* Finds the end of the last sound block and cuts what is torn behind it: bytes after a torn
 * zstd frame would be taken for a part of it. */
static gpurt_status_t resume(logfile_t *f, uint64_t size, gpurt_dictionary_t *known,
                             gpurt_error_t *err)
{
    gplog_walk_t walk = {.fd = f->fd, .size = size};
    gplog_piece_t piece;
    bool kept;
    int found;

    while ((found = gplog_walk_next(&walk, &piece)) == 1) {
        if (!gplog_judge_block(&f->judge, &piece, &kept))
            found = GPURT_E_NOMEM;
        if (found < 0)
            break;
        resume_piece(f, &piece, known);
    }
    gplog_walk_fini(&walk);
    f->total = f->judge.total;
    f->total.frames = f->judge.sequence.next;
    if (found < 0)
        return gpurt_fail(err, found, GPURT_FROM_ERRNO, ENOMEM,
                          "log: reading what is there");
    if (f->offset == 0 && size != 0)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is not a gpurt log, so nothing is appended to it; choose "
                          "another file",
                          f->path ? f->path : "the file");
    if (f->offset < size && ftruncate(f->fd, (off_t)f->offset) != 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno,
                          "log: cutting a torn tail");
    return GPURT_OK;
}

/* ---- open and close ------------------------------------------------------------------ */

void logfile_init(logfile_t *f)
{
    memset(f, 0, sizeof *f);
    f->fd = -1;
}

/* As of /dev/stdout, when that is a file. */
static bool is_stream(const logfile_t *f, const struct stat *info)
{
    struct stat other;

    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fd != f->fd && fstat(fd, &other) == 0 && other.st_dev == info->st_dev &&
            other.st_ino == info->st_ino)
            return true;
    return false;
}

gpurt_status_t logfile_open(logfile_t *f, const char *path, gpurt_dictionary_t *known,
                            gpurt_error_t *err)
{
    struct stat info;

    if (strcmp(path, "-") == 0)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "a log needs a file, so it cannot go to standard output (-); "
                          "./- is a file of that name");
    f->entries = malloc(GPLOG_INDEX_EVERY * sizeof *f->entries);
    if (!f->entries)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: buffers");
    f->fd = gpurt_outfile_make(path, GPURT_OUTFILE_LOG, GPURT_OUTFILE_OWN, &f->made, err);
    if (f->fd < 0)
        return GPURT_E_OS;
    if (fstat(f->fd, &info) != 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "%s", path);
    f->device = (uint64_t)info.st_dev;
    f->inode = (uint64_t)info.st_ino;
    f->path = info.st_nlink ? strdup(path) : NULL; /* a memfd never had a name */
    if (!S_ISREG(info.st_mode))
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is not a regular file; a log needs one", path);
    if (is_stream(f, &info))
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is where standard output or error goes, which would be "
                          "written over the log; choose another file",
                          path);
    if (flock(f->fd, LOCK_EX | LOCK_NB) != 0)
        return gpurt_fail(err, GPURT_E_BUSY, GPURT_FROM_GPURT, 0,
                          "%s is being written by another process; choose another file",
                          path);
    /* until then another one may have filled it, or removed it */
    if (fstat(f->fd, &info) != 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "%s", path);
    if (f->path && info.st_nlink == 0)
        return gpurt_fail(err, GPURT_E_BUSY, GPURT_FROM_GPURT, 0,
                          "%s was just removed by another process; try again", path);
    f->ours = true;
    f->held = gplog_pulse_hold(f->fd);
    if (known)
        return resume(f, (uint64_t)info.st_size, known, err);
    if (info.st_size != 0)
        return gpurt_fail(
            err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
            "%s is not empty; choose another file, or append (gpurt-record -a)", path);
    return GPURT_OK;
}

void logfile_fini(logfile_t *f)
{
    if (f->fd >= 0)
        close(f->fd);
    gplog_judge_fini(&f->judge);
    free(f->entries);
    free(f->path);
}

/* Before fini: while the lock is held nobody else begins to write it. */
void logfile_undo(logfile_t *f)
{
    if (f->fd < 0 || !f->ours)
        return;
    if (f->made && f->path)
        gpurt_outfile_remove(f->path, f->fd);
    else if (f->bytes && ftruncate(f->fd, (off_t)(f->offset - f->bytes)) == 0)
        f->offset -= f->bytes;
}

/* ---- its name ------------------------------------------------------------------------ */

static gpurt_status_t moved(const logfile_t *f, uint64_t records, gpurt_error_t *err)
{
    char link[32], now[PATH_MAX];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/self/fd/%d", f->fd);
    length = readlink(link, now, sizeof now - 1);
    now[length > 0 ? length : 0] = '\0';
    return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_GPURT, 0,
                      "%.100s was moved while it was recorded: %llu record%s %s %.120s",
                      f->path, (unsigned long long)records, gpurt_plural(records, "s"),
                      records == 1 ? "is in" : "are in",
                      now[0] ? now : "a file of another name");
}

gpurt_status_t logfile_stands(logfile_t *f, uint64_t records, gpurt_error_t *err)
{
    struct stat ours, named;

    if (!f->path || fstat(f->fd, &ours) != 0)
        return GPURT_OK;
    cut_look(f);
    if (ours.st_nlink == 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_GPURT, 0,
                          "%.200s was deleted while it was recorded: %llu record%s gone "
                          "with it; record again",
                          f->path, (unsigned long long)records,
                          records == 1 ? " is" : "s are");
    if (f->cut)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_GPURT, 0,
                          "%.200s was cut while it was recorded: not all of %llu record%s "
                          "are in it; record again",
                          f->path, (unsigned long long)records, gpurt_plural(records, "s"));
    if (stat(f->path, &named) == 0 && named.st_dev == ours.st_dev &&
        named.st_ino == ours.st_ino)
        return GPURT_OK;
    return moved(f, records, err);
}
