/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_source.h"

#include "framesum.h"
#include "panic_hang.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- opening ------------------------------------------------------------------------- */
static gpurt_status_t open_log(const char *path, panic_source_t *out, gpurt_error_t *err)
{
    gpurt_log_summary_t sum;
    gpurt_status_t st = gpurt_log_open_walked(path, &out->log, err);

    if (st != GPURT_OK)
        return st;
    gpurt_log_summary(out->log, &sum);
    out->about = sum.about;
    return GPURT_OK;
}

static gpurt_status_t open_box(const char *name, gpurt_boxmap_t map, panic_source_t *out,
                               gpurt_error_t *err)
{
    gpurt_status_t st;

    memset(out, 0, sizeof *out);
    out->name = name;
    out->map = map;
    st = panic_box_prepare(out, err);
    if (st != GPURT_OK)
        panic_source_close(out);
    return st;
}

/* found: how the search for them ended. */
static gpurt_status_t open_boxes(const char *name, gpurt_status_t found,
                                 gpurt_boxes_t *boxes, panic_source_t *out, uint32_t *count,
                                 gpurt_error_t *err)
{
    gpurt_status_t st = boxes->refused ? err->status : found;

    while (boxes->count) {
        gpurt_status_t one = open_box(name, gpurt_boxes_take(boxes, 0), &out[*count], err);

        if (one == GPURT_OK)
            ++*count;
        else
            st = one;
    }
    return st;
}

static gpurt_status_t open_core(const char *path, panic_source_t *out, uint32_t *count,
                                gpurt_error_t *err)
{
    static gpurt_boxes_t boxes; /* large; empty between calls */
    gpurt_status_t st = gpurt_boxes_of_core(path, &boxes, err);

    return open_boxes(path, st, &boxes, out, count, err);
}

static gpurt_status_t open_file(const char *path, panic_source_t *out, gpurt_error_t *err)
{
    gpurt_boxmap_t map;
    gpurt_status_t st = gpurt_boxmap_attach_file(path, false, &map, err);

    return st == GPURT_OK ? open_box(path, map, out, err) : st;
}

static gpurt_status_t open_one(gpurt_status_t opened, uint32_t *count)
{
    *count = opened == GPURT_OK;
    return opened;
}

/* The first bytes say what a file is. */
gpurt_status_t panic_source_open(const char *path, panic_source_t out[PANIC_SOURCES],
                                 uint32_t *count, gpurt_error_t *err)
{
    static const uint64_t box_magic = GPURT_BOX_MAGIC;
    unsigned char head[24] = {0};
    struct stat info;
    ssize_t got;
    int fd;

    *count = 0;
    memset(out, 0, sizeof *out);
    out->name = path;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno, "%s", path);
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "%s is not a file: name a log, a box or a core dump", path);
    }
    got = read(fd, head, sizeof head);
    close(fd);
    if (gpucore_looks_like(head, got > 0 ? (size_t)got : 0))
        return open_one(panic_dump_source(path, out, err), count);
    if (got >= 8 && memcmp(head, &box_magic, sizeof box_magic) == 0)
        return open_one(open_file(path, out, err), count);
    if (got >= 4 && memcmp(head, "\177ELF", 4) == 0)
        return open_core(path, out, count, err);
    return open_one(open_log(path, out, err), count);
}

gpurt_status_t panic_source_open_pid(uint32_t pid, const char *name,
                                     panic_source_t out[PANIC_SOURCES], uint32_t *count,
                                     gpurt_error_t *err)
{
    static gpurt_boxes_t boxes;
    gpurt_status_t st = gpurt_boxes_of_pid(pid, false, &boxes, err);

    *count = 0;
    return open_boxes(name, st, &boxes, out, count, err);
}

void panic_source_close(panic_source_t *source)
{
    if (source->log)
        gpurt_log_close(source->log);
    else if (source->map.box)
        gpurt_boxmap_detach(&source->map);
    panic_dump_close(&source->dump);
    gpurt_dictionary_fini(&source->sites);
    memset(source, 0, sizeof *source);
}

const gpurt_dictionary_t *panic_source_sites(const panic_source_t *source)
{
    return source->log ? gpurt_log_dictionary(source->log) : &source->sites;
}

gpurt_row_t *panic_row_copy(const gpurt_row_t *row)
{
    size_t bytes = gpurt_row_bytes(row->words);
    gpurt_row_t *copy = malloc(bytes);

    return copy ? memcpy(copy, row, bytes) : NULL;
}

/* ---- panics -------------------------------------------------------------------------- */
typedef struct filter {
    panic_row_fn *take;
    void *context;
} filter_t;

static bool take_panic(void *context, const gpurt_row_t *row)
{
    filter_t *f = context;

    return gpurt_row_is_panic(row) ? f->take(f->context, row) : true;
}

static gpurt_status_t box_panics(panic_source_t *source, filter_t *filter,
                                 gpurt_error_t *err)
{
    gpurt_status_t st = panic_box_each(source, take_panic, filter, err);

    return st == GPURT_OK ? panic_hang_each(source, filter->take, filter->context, err)
                          : st;
}

/* Panics of which the log knows only that they were. */
static uint64_t left_out_of(const gpurt_row_t *row)
{
    uint32_t reason = row->words ? gpurt_row_words(row)[0] : 0;

    return reason == GPURT_LOSS_PANIC || reason == GPURT_LOSS_SLOTS ? gpurt_row_lost(row)
                                                                    : 0;
}

/* As far as frames were read. */
static void damage_note(panic_source_t *source)
{
    gpurt_log_summary_t sum;

    gpurt_log_summary(source->log, &sum);
    source->torn_frames = sum.torn_frames;
    if (!gpurt_log_damage_text(&sum, source->damage))
        source->damage[0] = '\0';
}

gpurt_status_t panic_source_panics(panic_source_t *source, panic_row_fn *take,
                                   void *context, gpurt_error_t *err)
{
    filter_t filter = {take, context};
    bool more = true;

    if (source->dump.core)
        return panic_dump_each(source, take, context, err);
    if (!source->log)
        return box_panics(source, &filter, err);
    for (uint64_t i = 0; i < gpurt_log_frames(source->log) && more; i++) {
        const gpurt_row_t *row;
        gpurt_log_rows_t rows;
        uint32_t at = 0;

        if (gpurt_log_entry(source->log, i)->panics == 0 &&
            gpurt_log_entry(source->log, i)->lost == 0) {
            gpurt_log_check(source->log, i, NULL); /* damage is told wherever it is */
            continue;
        }
        if (gpurt_log_read(source->log, i, &rows, NULL) != GPURT_OK)
            continue;
        while (more && (row = gpurt_log_row(&rows, at, &at)) != NULL) {
            source->left_out += left_out_of(row);
            more = take_panic(&filter, row);
        }
    }
    damage_note(source);
    return GPURT_OK;
}

/* ---- what came before ---------------------------------------------------------------- */
void panic_near_fini(panic_near_t *near)
{
    for (uint32_t i = 0; i < near->count; i++)
        free(near->rows[i]);
    free(near->rows);
    free(near->order);
    memset(near, 0, sizeof *near);
}

static bool near_init(panic_near_t *near, uint32_t room)
{
    near->rows = calloc(room, sizeof *near->rows);
    near->order = calloc(room, sizeof *near->order);
    near->count = 0;
    near->room = room;
    return near->rows && near->order;
}

static bool near_full(const panic_near_t *near, uint64_t older_ns)
{
    return near->count == near->room && near->rows[0]->time_ns > older_ns;
}

static bool earlier(const panic_near_t *near, uint32_t i, const gpurt_row_t *row,
                    uint64_t order)
{
    uint64_t time = near->rows[i]->time_ns;

    return time < row->time_ns || (time == row->time_ns && near->order[i] < order);
}

/* Keeps the newest `room` rows, oldest first. */
static bool near_offer(panic_near_t *near, const gpurt_row_t *row, uint64_t order)
{
    uint32_t at = near->count;
    gpurt_row_t *copy;

    if (near->count == near->room && !earlier(near, 0, row, order))
        return true;
    copy = panic_row_copy(row);
    if (!copy)
        return false;
    while (at > 0 && !earlier(near, at - 1, row, order))
        at--;
    if (near->count == near->room) {
        free(near->rows[0]);
        at--;
        memmove(near->rows, near->rows + 1, at * sizeof *near->rows);
        memmove(near->order, near->order + 1, at * sizeof *near->order);
    } else {
        memmove(near->rows + at + 1, near->rows + at,
                (near->count - at) * sizeof *near->rows);
        memmove(near->order + at + 1, near->order + at,
                (near->count - at) * sizeof *near->order);
        near->count++;
    }
    near->rows[at] = copy;
    near->order[at] = order;
    return true;
}

typedef struct search {
    const gpurt_row_t *panic;
    uint32_t rank; /* of its block */
    bool rank_known;
    uint64_t order;
    panic_near_t *near; /* PANIC_NEAR of them */
} search_t;

static bool is_itself(const gpurt_row_t *panic, const gpurt_row_t *row)
{
    return row->words == panic->words &&
           memcmp(row, panic, sizeof *row + 4u * panic->words) == 0;
}

/* A slot runs one warp at a time, but other blocks' before. */
static bool same_warp(const search_t *s, const gpurt_row_t *row)
{
    if (row->slot != s->panic->slot)
        return false;
    if (row->kind == GPURT_KIND_LOSS)
        return true; /* of the ring */
    return row->warp == s->panic->warp && (!s->rank_known || row->block == s->rank);
}

/* A block stays on its SM. Without its rank the warp's own are all that is known of it. */
static bool same_block(const search_t *s, const gpurt_row_t *row)
{
    return s->rank_known ? row->kind != GPURT_KIND_LOSS && row->block == s->rank
                         : same_warp(s, row);
}

static bool take_near(void *context, const gpurt_row_t *row)
{
    search_t *s = context;
    const gpurt_row_t *p = s->panic;

    s->order++;
    if (row->program != p->program || row->section != p->section || row->sm != p->sm ||
        row->time_ns > p->time_ns || is_itself(p, row))
        return true;
    return near_offer(&s->near[PANIC_OF_SM], row, s->order) &&
           (!same_block(s, row) || near_offer(&s->near[PANIC_OF_BLOCK], row, s->order)) &&
           (!same_warp(s, row) || near_offer(&s->near[PANIC_OF_WARP], row, s->order));
}

/* From the newest frame that may matter backwards, until both lists are full and no frame
 * left reaches into them. */
static gpurt_status_t search_log(panic_source_t *source, search_t *s, gpurt_error_t *err)
{
    uint64_t frames = gpurt_log_frames(source->log), newest = 0;
    uint64_t *reach = calloc(frames ? frames : 1, sizeof *reach);
    gpurt_status_t st = GPURT_OK;

    if (!reach)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: frames");
    for (uint64_t i = 0; i < frames; i++) {
        uint64_t last = gpurt_log_entry(source->log, i)->last_ns;

        reach[i] = newest = last > newest ? last : newest; /* of all frames up to here */
    }
    for (uint64_t i = frames; i-- > 0 && st == GPURT_OK;) {
        const gplog_index_entry_t *e = gpurt_log_entry(source->log, i);
        const gpurt_row_t *row;
        gpurt_log_rows_t rows;
        uint32_t at = 0;

        bool full = true;

        for (int k = 0; k < PANIC_NEAR; k++)
            full = full && near_full(&s->near[k], reach[i]);
        if (full)
            break;
        if (e->first_ns > s->panic->time_ns || !gplog_entry_has(e, s->panic->section) ||
            gpurt_log_read(source->log, i, &rows, NULL) != GPURT_OK)
            continue;
        s->order = i << 32;
        while (st == GPURT_OK && (row = gpurt_log_row(&rows, at, &at)) != NULL)
            if (!take_near(s, row))
                st = gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: rows");
    }
    free(reach);
    return st;
}

/* The rank of a block that is not in the first row of its grid is not told: it is that
 * of the slot's last record. */
static void keep_last_block(panic_near_t *warp)
{
    uint32_t rank = 0, kept = 0;
    bool found = false;

    for (uint32_t i = warp->count; i-- > 0 && !found;)
        if (!gpurt_row_is_panic(warp->rows[i]) && warp->rows[i]->kind != GPURT_KIND_LOSS) {
            rank = warp->rows[i]->block;
            found = true;
        }
    for (uint32_t i = 0; i < warp->count; i++) {
        if (warp->rows[i]->block == rank || warp->rows[i]->kind == GPURT_KIND_LOSS)
            warp->rows[kept++] = warp->rows[i];
        else
            free(warp->rows[i]);
    }
    warp->count = kept;
}

gpurt_status_t panic_source_near(panic_source_t *source, const gpurt_row_t *panic,
                                 uint32_t room, panic_near_t near[PANIC_NEAR],
                                 gpurt_error_t *err)
{
    search_t search = {.panic = panic, .near = near, .rank = panic->block};
    uint32_t at = 0; /* of the block among its words */
    gpurt_site_info_t site;
    gpurt_status_t st = GPURT_OK;

    memset(near, 0, PANIC_NEAR * sizeof *near);
    for (int i = 0; i < PANIC_NEAR && st == GPURT_OK; i++)
        if (!near_init(&near[i], room))
            st = gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "panic: rows");
    if (gpurt_dictionary_get(panic_source_sites(source), panic->site, &site))
        at = gpurt_types_words(site.types);
    search.rank_known = panic->kind == GPURT_KIND_FAULT ||
                        (at + 2u < panic->words && gpurt_row_words(panic)[at + 1] == 0 &&
                         gpurt_row_words(panic)[at + 2] == 0);
    if (st == GPURT_OK && !source->dump.core) /* a dump knows of no records */
        st = source->log ? search_log(source, &search, err)
                         : panic_box_each(source, take_near, &search, err);
    if (st != GPURT_OK) {
        for (int i = 0; i < PANIC_NEAR; i++)
            panic_near_fini(&near[i]);
        return st;
    }
    if (!search.rank_known) {
        keep_last_block(&near[PANIC_OF_WARP]);
        keep_last_block(&near[PANIC_OF_BLOCK]);
    }
    return GPURT_OK;
}
