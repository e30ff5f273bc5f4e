/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a log file from any place, forwards and backwards, filtered, against all of its
 * rows in a sorted array. */
#include "check.h"
#include "linefile.h"
#include "logwindow.h"
#include "model.h"
#include "scene.h"
#include "writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ROWS = 30000,
    TRIES = 24
};

/* All lines as the file's programs have them. */
static gpurt_model_line_t *all;
static uint32_t all_count;

static int by_place(const void *a, const void *b)
{
    const gpurt_model_line_t *x = a, *y = b;

    return x->time_ns != y->time_ns ? (x->time_ns < y->time_ns ? -1 : 1)
                                    : (x->number > y->number) - (x->number < y->number);
}

static void log_write(const char *path)
{
    gpurt_writer_options_t options = {.struct_size = sizeof options, .frame_rows = 500};
    static scene_row_t row;
    gplog_file_t about;
    gpurt_writer_t *w;
    gpurt_error_t err;
    scene_t scene;

    scene_about(&about);
    options.about = &about;
    CHECK_MSG(gpurt_writer_open(path, &options, &w, &err) == GPURT_OK, "%s", err.text);
    scene_begin(&scene, gpurt_writer_dictionary(w), 5, 100000);
    for (int i = 0; i < ROWS; i++) {
        scene_next(&scene, &row);
        row.row.time_ns += 10000000000u;
        if (i % 1000 < 300) /* out of order, and many of one moment */
            row.row.time_ns -= row.row.time_ns % 4000000u + (i % 7 ? 0 : 9000000u);
        if (i % 5000 < 1200) /* whole frames, too */
            row.row.time_ns -= 250000000u;
        CHECK_MSG(gpurt_writer_put(w, &row.row, &err) == GPURT_OK, "%s", err.text);
    }
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
}

static void all_read(const char *path)
{
    gpurt_log_rows_t rows;
    const gpurt_row_t *row;
    gpurt_error_t err;
    gpurt_log_t *log;

    CHECK_MSG(gpurt_log_open(path, &log, &err) == GPURT_OK, "%s", err.text);
    CHECK(gpurt_log_frames(log) > 50);
    all = calloc(2 * ROWS, sizeof *all);
    for (uint64_t i = 0; i < gpurt_log_frames(log); i++) {
        uint32_t at = 0, start = 0;

        CHECK(gpurt_log_read(log, i, &rows, &err) == GPURT_OK);
        for (; (row = gpurt_log_row(&rows, at, &at)) != NULL; start = at)
            gpurt_model_line_of(gpurt_log_dictionary(log), row, 41231, i << 32 | start,
                                &all[all_count++]);
    }
    gpurt_log_close(log);
    qsort(all, all_count, sizeof *all, by_place);
}

static bool wanted(const linefile_want_t *want, const gpurt_model_line_t *l)
{
    if (want->panics && l->kind != GPURT_KIND_PANIC)
        return false;
    if (want->slot_only &&
        (l->kind == GPURT_KIND_PANIC || l->sm != want->sm || l->slot != want->slot))
        return false;
    return filter_line(&want->filter, NULL, l, NULL) == FILTER_YES;
}

static void check_same(const linefile_list_t *got, const linefile_want_t *want,
                       uint32_t from, uint32_t to, uint32_t most, bool newest)
{
    uint32_t fit = 0, at = 0;

    for (uint32_t i = from; i < to; i++)
        fit += wanted(want, &all[i]);
    CHECK_MSG(got->count == (fit < most ? fit : most) && got->more == (fit > most),
              "%u lines of %u, at most %u", got->count, fit, most);
    if (newest)
        for (uint32_t skip = fit - got->count; skip > 0; from++)
            skip -= wanted(want, &all[from]);
    for (uint32_t i = from; at < got->count; i++)
        if (wanted(want, &all[i])) {
            const gpurt_model_line_t *l = &got->lines[at++];

            CHECK_MSG(l->number == all[i].number && l->time_ns == all[i].time_ns &&
                          strcmp(l->text, all[i].text) == 0,
                      "line %u of %u: %s, not %s", at, got->count, l->text, all[i].text);
        }
}

static void check_places(linefile_t *f, const linefile_want_t *want)
{
    static linefile_list_t got;
    uint64_t x = 99;

    for (int i = 0; i < TRIES; i++) {
        static const uint32_t most[] = {1, 7, 100, 1024};
        uint32_t at, count = most[i % 4];
        linefile_place_t place;

        x = x * 6364136223846793005ull + 1442695040888963407ull;
        at = i < 4 ? 0 : i < 8 ? all_count - 1 : (uint32_t)((x >> 20) % all_count);
        place = (linefile_place_t){all[at].time_ns, all[at].number};
        CHECK(linefile_before(f, want, &place, count, NULL, NULL, &got));
        check_same(&got, want, 0, at + 1, count, true);
        CHECK(linefile_after(f, want, &place, count, NULL, NULL, &got));
        check_same(&got, want, at, all_count, count, false);
    }
}

static void check_survey(linefile_t *f, const char *text)
{
    filter_t filter = {.level = 0};
    uint64_t fit = 0, panics = 0, marks = 0;

    CHECK(filter_parse(&filter, text, NULL));
    while (linefile_survey(f, &filter))
        ;
    for (uint32_t i = 0; i < all_count; i++) {
        const linefile_marks_t *m = linefile_marks(f);
        uint64_t bit = (all[i].time_ns - m->first_ns) / m->width_ns;

        fit += filter_line(&filter, NULL, &all[i], NULL) == FILTER_YES;
        if (all[i].kind != GPURT_KIND_PANIC)
            continue;
        panics++;
        CHECK(bit < LINEFILE_MARKS && (m->bits[bit / 64] >> bit % 64 & 1));
    }
    for (uint32_t i = 0; i < LINEFILE_MARKS / 64; i++)
        marks += (uint64_t)__builtin_popcountll(linefile_marks(f)->bits[i]);
    CHECK_MSG(linefile_total(f) == fit, "%s: %llu lines of %llu", text,
              (unsigned long long)linefile_total(f), (unsigned long long)fit);
    CHECK_MSG(marks > 0 && marks <= panics, "%llu marks", (unsigned long long)marks);
}

/* Every panic of the log in turn, and back. */
static void check_jumps(const char *path)
{
    gpurt_error_t err;
    logwindow_t *w;
    uint64_t at = 0;

    CHECK_MSG(logwindow_open(path, &w, &err) == GPURT_OK, "%s", err.text);
    for (int on = 1; on >= 0; on--)
        for (;;) {
            uint64_t next = 0, want = 0;

            for (uint32_t i = 0; i < all_count; i++) {
                uint64_t time = all[i].time_ns;

                if (all[i].kind == GPURT_KIND_PANIC &&
                    (on ? time > at && (!want || time < want) : time < at && time > want))
                    want = time;
            }
            logwindow_jump(w, on, at);
            while (!logwindow_jumped(w, &next))
                usleep(200);
            CHECK_MSG(next == want, "%llu, not %llu", (unsigned long long)next,
                      (unsigned long long)want);
            if (!next)
                break;
            at = next;
        }
    logwindow_close(w);
}

int main(void)
{
    static linefile_want_t any, words, level, panics, slot;
    char path[] = "/tmp/test_linefile.XXXXXX";
    gpurt_error_t err;
    linefile_t *f;

    close(mkstemp(path));
    unlink(path);
    log_write(path);
    all_read(path);
    CHECK_MSG(linefile_open(path, &f, &err) == GPURT_OK, "%s", err.text);
    filter_parse(&words.filter, "session", NULL);
    filter_parse(&level.filter, "lvl>=warn !parked", NULL);
    panics.panics = true;
    slot = (linefile_want_t){.slot_only = true, .sm = all[77].sm, .slot = all[77].slot};
    check_places(f, &any);
    check_places(f, &words);
    check_places(f, &panics);
    check_places(f, &slot);
    check_survey(f, "session");
    check_places(f, &words); /* frames without a line that fits are left out now */
    check_survey(f, "lvl>=warn !parked");
    check_places(f, &level);
    check_survey(f, "");
    linefile_close(f);
    CHECK(linefile_open("/nonexistent", &f, &err) != GPURT_OK && !f);
    check_jumps(path);
    unlink(path);
    free(all);
    return 0;
}
