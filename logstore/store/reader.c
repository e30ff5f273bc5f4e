/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include "crc32c.h"
#include "framesum.h"
#include "rowpack.h"
#include "scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* Owner: whoever opened it. Single-threaded. */
struct gpurt_log {
    gplog_walk_t walk; /* holds the descriptor */
    gplog_index_entry_t *entries;
    uint64_t *numbers; /* of the frames; NO_NUMBER: not known, the index does not say */
    uint64_t entry_count, entry_room;
    gplog_judge_t judge;
    uint64_t tail_bytes; /* at the end, no whole block yet */
    uint8_t *raw, *packed;
    uint8_t *differences; /* out of `packed`, where the frame is not of plain rows */
    gplog_pack_table_t table;
    size_t packed_room;
    ZSTD_DCtx *zstd;
    gpurt_dictionary_t dictionary;
    gplog_pulse_t pulse;
    gpurt_log_summary_t sum;
};

/* In memory the highest bit of an offset marks a frame that was found damaged, so that
 * it is counted once. */
#define FRAME_BAD (1ull << 63)
#define NO_NUMBER UINT64_MAX

/* ---- entries ------------------------------------------------------------------------- */

static bool entries_grow(gpurt_log_t *log)
{
    uint64_t room = log->entry_room ? log->entry_room * 2 : 256;
    void *entries, *numbers;

    if (log->entry_count < log->entry_room)
        return true;
    entries = realloc(log->entries, room * sizeof *log->entries);
    log->entries = entries ? entries : log->entries;
    numbers = realloc(log->numbers, room * sizeof *log->numbers);
    log->numbers = numbers ? numbers : log->numbers;
    log->entry_room = entries && numbers ? room : log->entry_room;
    return entries && numbers;
}

static gpurt_status_t entry_push(gpurt_log_t *log, const gplog_index_entry_t *e,
                                 uint64_t number)
{
    gpurt_log_summary_t *s = &log->sum;

    if (!entries_grow(log))
        return GPURT_E_NOMEM;
    log->numbers[log->entry_count] = number;
    log->entries[log->entry_count++] = *e;
    if (s->frames++ == 0 || e->first_ns < s->first_ns)
        s->first_ns = e->first_ns;
    if (e->last_ns > s->last_ns)
        s->last_ns = e->last_ns;
    s->messages += e->messages;
    s->lost += e->lost;
    s->panics += e->panics;
    return GPURT_OK;
}

static gpurt_status_t frame_push(gpurt_log_t *log, const gplog_piece_t *piece)
{
    gplog_index_entry_t e;
    gplog_frame_t f;

    memcpy(&f, piece->body, sizeof f);
    e = gplog_frame_entry(&f, piece->offset);
    return entry_push(log, &e, f.number);
}

typedef struct numbered {
    uint64_t number;
    gplog_index_entry_t entry;
} numbered_t;

static int numbered_compare(const void *a, const void *b)
{
    const uint64_t x = ((const numbered_t *)a)->number, y = ((const numbered_t *)b)->number;

    return x < y ? -1 : x > y;
}

/* Where frames lie out of place. */
static gpurt_status_t entries_sort(gpurt_log_t *log)
{
    numbered_t *list = malloc((log->entry_count + 1) * sizeof *list);

    if (!list)
        return GPURT_E_NOMEM;
    for (uint64_t i = 0; i < log->entry_count; i++)
        list[i] = (numbered_t){log->numbers[i], log->entries[i]};
    qsort(list, log->entry_count, sizeof *list, numbered_compare);
    for (uint64_t i = 0; i < log->entry_count; i++) {
        log->numbers[i] = list[i].number;
        log->entries[i] = list[i].entry;
    }
    free(list);
    return GPURT_OK;
}

bool gpurt_log_counts(const gpurt_log_t *log, uint64_t number, uint64_t offset)
{
    uint64_t low = 0, high = log->entry_count;

    while (low < high) {
        uint64_t mid = low + (high - low) / 2;

        if (log->numbers[mid] < number)
            low = mid + 1;
        else
            high = mid;
    }
    return low < log->entry_count && log->numbers[low] == number &&
           (log->entries[low].offset & ~FRAME_BAD) == offset;
}

/* ---- blocks -------------------------------------------------------------------------- */

static void about_take(gpurt_log_t *log, const gplog_piece_t *piece)
{
    gplog_file_t *f = &log->sum.about;

    if (piece->body_bytes < sizeof *f)
        return;
    memcpy(f, piece->body, sizeof *f);
    f->identity.host[GPURT_BOX_NAME - 1] = '\0';
    f->identity.program[GPURT_BOX_NAME - 1] = '\0';
    if (f->section_count > GPURT_BOX_SECTIONS)
        f->section_count = GPURT_BOX_SECTIONS;
    for (uint32_t i = 0; i < GPURT_BOX_SECTIONS; i++)
        f->sections[i].name[GPURT_BOX_NAME - 1] = '\0';
    gplog_pulse_note(&log->pulse, f, (piece->flags & GPLOG_HELD) != 0);
    log->sum.runs++;
}

/* Walks on from where the last walk ended. */
static gpurt_status_t blocks_take(gpurt_log_t *log)
{
    gplog_piece_t piece;
    gpurt_status_t st = GPURT_OK;
    bool kept;
    int found = 0;

    while (st == GPURT_OK && (found = gplog_walk_next(&log->walk, &piece)) == 1) {
        if (!gplog_judge_block(&log->judge, &piece, &kept))
            return GPURT_E_NOMEM;
        log->sum.closed = piece.type == GPLOG_END;
        if (piece.type == GPLOG_FILE)
            about_take(log, &piece);
        else if (piece.type == GPLOG_DICT)
            gpurt_dictionary_load(&log->dictionary, piece.body, piece.body_bytes);
        else if (piece.type == GPLOG_FRAME && kept)
            st = frame_push(log, &piece);
    }
    if (found == 0)
        log->tail_bytes = piece.skipped;
    return found < 0 ? found : st;
}

/* ---- by the index -------------------------------------------------------------------- */

/* Frames are listed backwards, an index at a time; they are put in order at the end. */
static bool index_take(gpurt_log_t *log, uint64_t offset, uint64_t *previous,
                       uint64_t *dict, uint64_t *file)
{
    gplog_index_t head;
    gplog_piece_t piece;
    const uint8_t *p;

    if (gplog_block_at(&log->walk, offset, &piece) != 1 || piece.type != GPLOG_INDEX ||
        piece.body_bytes < sizeof head)
        return false;
    memcpy(&head, piece.body, sizeof head);
    if (head.count > (piece.body_bytes - sizeof head) / sizeof(gplog_index_entry_t) ||
        head.previous >= offset || head.dict >= offset || head.file >= offset)
        return false;
    p = piece.body + sizeof head + head.count * sizeof(gplog_index_entry_t);
    for (uint64_t i = 0; i < head.count; i++) {
        gplog_index_entry_t e;

        p -= sizeof e;
        memcpy(&e, p, sizeof e);
        if (e.offset >= offset || (e.offset & FRAME_BAD) ||
            entry_push(log, &e, NO_NUMBER) != GPURT_OK)
            return false;
    }
    *previous = head.previous;
    *dict = head.dict;
    *file = head.file;
    return true;
}

static void entries_reverse(gpurt_log_t *log)
{
    for (uint64_t i = 0, j = log->entry_count; i + 1 < j; i++) {
        gplog_index_entry_t e = log->entries[i];

        log->entries[i] = log->entries[--j];
        log->entries[j] = e;
    }
}

static void start_over(gpurt_log_t *log)
{
    uint64_t bytes = log->sum.bytes;

    gpurt_dictionary_fini(&log->dictionary);
    gplog_pulse_fini(&log->pulse);
    gplog_judge_fini(&log->judge);
    memset(&log->judge, 0, sizeof log->judge);
    memset(&log->sum, 0, sizeof log->sum);
    log->sum.bytes = bytes;
    log->entry_count = 0;
    log->walk.at = log->walk.retry = 0;
}

/* What the END says of the whole file must be what the index adds up to, and each frame then has
 * the number of its place. Of one of before neither is known. */
static bool end_fits(gpurt_log_t *log, const gplog_end_t *end, bool whole)
{
    const gpurt_log_summary_t *s = &log->sum;

    if (log->entry_count != end->frames)
        return false;
    if (!whole)
        return true;
    for (uint64_t i = 0; i < log->entry_count; i++)
        log->numbers[i] = i;
    log->judge.told = *end;
    return s->messages == end->messages && s->lost == end->lost && s->panics == end->panics;
}

/* Only a file that ends in END is opened so; any doubt and the blocks are walked
 * instead. */
static bool open_by_index(gpurt_log_t *log)
{
    const uint64_t end_bytes = sizeof(gplog_block_t) + sizeof(gplog_end_t);
    uint64_t size = log->walk.size, at, dict = 0, file = 0, d, f;
    gplog_piece_t piece;
    gplog_end_t end;
    bool whole;

    if (size < end_bytes || gplog_block_at(&log->walk, size - end_bytes, &piece) != 1 ||
        piece.type != GPLOG_END || piece.body_bytes != sizeof end)
        return false;
    memcpy(&end, piece.body, sizeof end);
    whole = (piece.flags & GPLOG_WHOLE) != 0;
    for (at = end.index; at != 0;) {
        if (!index_take(log, at, &at, &d, &f))
            return false;
        dict = dict ? dict : d;
        file = file ? file : f + 1; /* offset 0 is where the first one lies */
    }
    if (!end_fits(log, &end, whole) || dict == 0 ||
        gplog_block_at(&log->walk, dict, &piece) != 1 || piece.type != GPLOG_DICT)
        return false;
    gpurt_dictionary_load(&log->dictionary, piece.body, piece.body_bytes);
    if (gplog_block_at(&log->walk, file - 1, &piece) != 1 || piece.type != GPLOG_FILE)
        return false;
    about_take(log, &piece);
    entries_reverse(log);
    log->walk.at = log->walk.retry = size;
    log->sum.closed = log->sum.indexed = true;
    return true;
}

/* ---- open and close ------------------------------------------------------------------ */

void gpurt_log_close(gpurt_log_t *log)
{
    if (!log)
        return;
    if (log->walk.fd >= 0)
        close(log->walk.fd);
    gplog_walk_fini(&log->walk);
    gplog_pulse_fini(&log->pulse);
    gpurt_dictionary_fini(&log->dictionary);
    ZSTD_freeDCtx(log->zstd);
    gplog_judge_fini(&log->judge);
    free(log->entries);
    free(log->numbers);
    free(log->raw);
    free(log->packed);
    free(log->differences);
    free(log);
}

static gpurt_status_t log_load(gpurt_log_t *log, const char *name, bool walked,
                               gpurt_error_t *err)
{
    struct stat info;
    gpurt_status_t st;

    log->zstd = ZSTD_createDCtx();
    log->raw = malloc(GPLOG_RAW_MAX);
    log->differences = malloc(GPLOG_RAW_MAX + GPLOG_PACK_SLACK);
    if (!log->zstd || !log->raw || !log->differences)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "%s", name);
    if (fstat(log->walk.fd, &info) != 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "%s", name);
    if (!S_ISREG(info.st_mode))
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is not a regular file", name);
    log->sum.bytes = log->walk.size = (uint64_t)info.st_size;
    if (!walked && open_by_index(log))
        return GPURT_OK;
    start_over(log);
    st = blocks_take(log);
    if (st == GPURT_OK && log->judge.sum.misplaced)
        st = entries_sort(log);
    if (st != GPURT_OK)
        return gpurt_fail(err, st, GPURT_FROM_ERRNO, ENOMEM, "%s", name);
    if (log->entry_count == 0 && log->sum.runs == 0 && log->dictionary.used == 0)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is not a gpurt log", name);
    return GPURT_OK;
}

static gpurt_status_t log_open(int fd, const char *name, bool walked, gpurt_log_t **out,
                               gpurt_error_t *err)
{
    gpurt_log_t *log;
    gpurt_status_t st;

    *out = NULL;
    if (fd < 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "%s", name);
    log = calloc(1, sizeof *log);
    if (!log) {
        close(fd);
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "%s", name);
    }
    log->walk.fd = fd;
    st = log_load(log, name, walked, err);
    if (st != GPURT_OK) {
        gpurt_log_close(log);
        return st;
    }
    *out = log;
    return GPURT_OK;
}

gpurt_status_t gpurt_log_open(const char *path, gpurt_log_t **out, gpurt_error_t *err)
{
    return log_open(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), path, false, out, err);
}

gpurt_status_t gpurt_log_open_walked(const char *path, gpurt_log_t **out,
                                     gpurt_error_t *err)
{
    return log_open(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), path, true, out, err);
}

gpurt_status_t gpurt_log_open_fd(int fd, const char *name, gpurt_log_t **out,
                                 gpurt_error_t *err)
{
    return log_open(fd, name, false, out, err);
}

bool gpurt_log_refresh(gpurt_log_t *log)
{
    uint64_t before = log->entry_count;
    struct stat info;

    /* It shrinks where a writer that takes over cuts off what the one before left torn. */
    if (fstat(log->walk.fd, &info) != 0 || (uint64_t)info.st_size == log->sum.bytes)
        return false;
    log->sum.bytes = log->walk.size = (uint64_t)info.st_size;
    return blocks_take(log) == GPURT_OK && log->entry_count > before;
}

gplog_pulse_state_t gpurt_log_pulse(const gpurt_log_t *log, uint32_t *pid)
{
    return gplog_pulse_feel(&log->pulse, log->walk.fd, pid);
}

/* ---- frames -------------------------------------------------------------------------- */

uint64_t gpurt_log_frames(const gpurt_log_t *log)
{
    return log->entry_count;
}

const gplog_index_entry_t *gpurt_log_entry(const gpurt_log_t *log, uint64_t frame)
{
    return frame < log->entry_count ? &log->entries[frame] : NULL;
}

/* Every row lies inside and says so itself. Returns: how many there are, 0 when one is
 * wrong. */
static uint32_t rows_count(const uint8_t *raw, uint32_t size)
{
    uint32_t at = 0, count = 0;

    while (at < size) {
        const gpurt_row_t *row = (const gpurt_row_t *)(raw + at);
        uint32_t bytes;

        if (size - at < sizeof *row || row->words > GPLOG_ROW_WORDS)
            return 0;
        bytes = gpurt_row_bytes(row->words);
        if (bytes > size - at)
            return 0;
        at += bytes;
        count++;
    }
    return count;
}

/* Reads the compressed rows of a frame and checks what can be checked without unpacking. */
static bool frame_fetch(gpurt_log_t *log, uint64_t frame, gplog_frame_t *f)
{
    const uint64_t number = log->numbers[frame];
    gplog_piece_t piece;

    if (gplog_block_at(&log->walk, log->entries[frame].offset, &piece) != 1 ||
        piece.type != GPLOG_FRAME)
        return false;
    memcpy(f, piece.body, sizeof *f);
    if ((number != NO_NUMBER && f->number != number) || f->encoding > GPLOG_PACKED ||
        f->raw_bytes > GPLOG_RAW_MAX || f->rows == 0 ||
        f->packed_bytes > ZSTD_COMPRESSBOUND((uint64_t)GPLOG_RAW_MAX))
        return false;
    if (f->packed_bytes > log->packed_room) {
        void *more = realloc(log->packed, f->packed_bytes);

        if (!more)
            return false;
        log->packed = more;
        log->packed_room = f->packed_bytes;
    }
    return gplog_read_at(log->walk.fd, piece.end - f->packed_bytes, log->packed,
                         f->packed_bytes) &&
           gpurt_crc32c(0, log->packed, f->packed_bytes) == f->packed_crc;
}

/* Packed rows are fewer bytes than plain ones: a writer that finds them not to be packs none. */
static bool rows_unpack(gpurt_log_t *log, const gplog_frame_t *f)
{
    bool plain = f->encoding == GPLOG_ROWS;
    size_t bytes = ZSTD_decompressDCtx(log->zstd, plain ? log->raw : log->differences,
                                       GPLOG_RAW_MAX, log->packed, f->packed_bytes);

    if (ZSTD_isError(bytes))
        return false;
    return plain
               ? bytes == f->raw_bytes
               : gplog_unpack(&log->table, log->differences, bytes, log->raw, f->raw_bytes);
}

static bool frame_unpack(gpurt_log_t *log, const gplog_frame_t *f, gpurt_log_rows_t *out)
{
    if (!rows_unpack(log, f) || rows_count(log->raw, f->raw_bytes) != f->rows)
        return false;
    out->bytes = log->raw;
    out->size = f->raw_bytes;
    out->count = f->rows;
    return true;
}

/* What a damaged frame claimed is taken out of the sums. */
static void frame_condemn(gpurt_log_t *log, gplog_index_entry_t *e)
{
    e->offset |= FRAME_BAD;
    log->judge.sum.torn++;
    log->sum.messages -= e->messages;
    log->sum.lost -= e->lost;
    log->sum.panics -= e->panics;
}

static gpurt_status_t frame_take(gpurt_log_t *log, uint64_t frame, gpurt_log_rows_t *out,
                                 gpurt_error_t *err)
{
    gplog_index_entry_t *e;
    gplog_frame_t f;

    if (frame >= log->entry_count)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0, "log: no frame %llu",
                          (unsigned long long)frame);
    e = &log->entries[frame];
    if (!(e->offset & FRAME_BAD)) {
        if (frame_fetch(log, frame, &f) && (!out || frame_unpack(log, &f, out)))
            return GPURT_OK;
        frame_condemn(log, e);
    }
    return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                      "log: frame %llu is damaged and left out", (unsigned long long)frame);
}

gpurt_status_t gpurt_log_read(gpurt_log_t *log, uint64_t frame, gpurt_log_rows_t *out,
                              gpurt_error_t *err)
{
    memset(out, 0, sizeof *out);
    return frame_take(log, frame, out, err);
}

gpurt_status_t gpurt_log_check(gpurt_log_t *log, uint64_t frame, gpurt_error_t *err)
{
    return frame_take(log, frame, NULL, err);
}

const gpurt_row_t *gpurt_log_row(const gpurt_log_rows_t *rows, uint32_t at, uint32_t *next)
{
    const gpurt_row_t *row;

    if (at >= rows->size)
        return NULL;
    row = (const gpurt_row_t *)(rows->bytes + at);
    *next = at + gpurt_row_bytes(row->words);
    return row;
}

const gpurt_dictionary_t *gpurt_log_dictionary(const gpurt_log_t *log)
{
    return &log->dictionary;
}

void gpurt_log_summary(const gpurt_log_t *log, gpurt_log_summary_t *out)
{
    *out = log->sum;
    out->sites = log->dictionary.site_count;
    gplog_judge_damage(&log->judge, log->tail_bytes, &out->damage);
    out->torn_frames = out->damage.torn;
    out->skipped_bytes = out->damage.stray_bytes;
    out->told_messages = log->judge.told.messages;
}

/* ---- blobs --------------------------------------------------------------------------- */
static bool blob_unpack(const gplog_piece_t *piece, const gplog_blob_t *head, void **bytes,
                        size_t *size)
{
    void *raw;
    size_t got;

    if (head->raw_bytes > GPLOG_BLOB_RAW_MAX ||
        head->packed_bytes > piece->body_bytes - sizeof *head)
        return false;
    raw = malloc((size_t)head->raw_bytes + 1);
    if (!raw)
        return false;
    got = ZSTD_decompress(raw, (size_t)head->raw_bytes, piece->body + sizeof *head,
                          head->packed_bytes);
    if (ZSTD_isError(got) || got != head->raw_bytes ||
        gplog_blob_id(raw, got) != head->id) {
        free(raw);
        return false;
    }
    *bytes = raw;
    *size = got;
    return true;
}

gpurt_status_t gpurt_log_blob(gpurt_log_t *log, uint64_t id, uint32_t kind, void **bytes,
                              size_t *size, gpurt_error_t *err)
{
    gplog_walk_t walk = {.fd = log->walk.fd, .size = log->walk.size};
    gplog_piece_t piece;
    gplog_blob_t head;
    bool found = false;

    *bytes = NULL;
    while (!found && gplog_walk_next(&walk, &piece) == 1) {
        if (piece.type != GPLOG_BLOB || piece.body_bytes < sizeof head)
            continue;
        memcpy(&head, piece.body, sizeof head);
        found =
            head.id == id && head.kind == kind && blob_unpack(&piece, &head, bytes, size);
    }
    gplog_walk_fini(&walk);
    return found ? GPURT_OK
                 : gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                              "log: what the row belongs to is missing or damaged");
}
