/* SPDX-License-Identifier: Apache-2.0 */
/* A replay at any position, reached from any other, shows what the rows up to there add
 * up to. */
#include "check.h"
#include "cursor.h"
#include "reader.h"
#include "scene.h"
#include "source.h"
#include "writer.h"

#include <string.h>
#include <unistd.h>

enum {
    ROWS = 150000,
    SEEKS = 40
};

static void write_log(const char *path)
{
    gpurt_writer_options_t options = {.struct_size = sizeof options, .frame_rows = 4000};
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
        CHECK_MSG(gpurt_writer_put(w, &row.row, &err) == GPURT_OK, "%s", err.text);
    }
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
}

static void expect(const char *path, uint64_t time_ns, gpurt_modelview_t *v)
{
    gpurt_log_summary_t sum;
    gpurt_cursor_t *cursor;
    const gpurt_row_t *row;
    gpurt_model_t *m;
    gpurt_error_t err;
    gpurt_log_t *log;

    memset(v, 0, sizeof *v);
    CHECK_MSG(gpurt_log_open(path, &log, &err) == GPURT_OK, "%s", err.text);
    gpurt_log_summary(log, &sum);
    gpurt_model_create(gpurt_log_dictionary(log), &sum.about, &m, &err);
    gpurt_cursor_open(log, 0, &cursor, &err);
    while ((row = gpurt_cursor_next(cursor)) != NULL && row->time_ns <= time_ns)
        gpurt_model_put(m, row);
    gpurt_model_view(m, time_ns, GPURT_MODEL_REPLAY, v);
    v->numbers.range_first_ns = sum.first_ns;
    v->numbers.range_last_ns = sum.last_ns;
    gpurt_cursor_close(cursor);
    gpurt_model_destroy(m);
    gpurt_log_close(log);
}

/* Names and counts of sites beyond site_count may be left over from a later moment. */
static void check_view(const gpurt_modelview_t *got, const gpurt_modelview_t *want,
                       int seek)
{
    CHECK_MSG(memcmp(&got->numbers, &want->numbers, sizeof got->numbers) == 0,
              "seek %d: numbers: %llu messages, not %llu", seek,
              (unsigned long long)got->numbers.messages,
              (unsigned long long)want->numbers.messages);
    CHECK_MSG(got->panics.count == want->panics.count, "seek %d: panics", seek);
    for (uint32_t i = 0; i < want->numbers.site_count; i++)
        CHECK_MSG(strcmp(got->names.sites[i].last, want->names.sites[i].last) == 0,
                  "seek %d: last message", seek);
    for (int class = 0; class < GPURT_CLASSES; class ++) {
        const gpurt_model_lines_t *a = &got->lines[class], *b = &want->lines[class];

        CHECK_MSG(a->end == b->end && a->first <= b->first, "seek %d: lines", seek);
        for (uint64_t i = a->first > b->first ? a->first : b->first; i < a->end; i++)
            CHECK_MSG(a->list[i % GPURT_MODEL_LINES].number ==
                              b->list[i % GPURT_MODEL_LINES].number &&
                          strcmp(a->list[i % GPURT_MODEL_LINES].text,
                                 b->list[i % GPURT_MODEL_LINES].text) == 0,
                      "seek %d: line %llu", seek, (unsigned long long)i);
    }
}

int main(void)
{
    gpurt_modelview_t *got = calloc(1, sizeof *got), *want = calloc(1, sizeof *want);
    char path[] = "/tmp/test_replay.XXXXXX";
    uint64_t first, span, x = 99;
    gpurt_error_t err;
    source_t *s;
    int fd = mkstemp(path);

    close(fd);
    unlink(path);
    write_log(path);
    CHECK_MSG(source_replay_open(path, false, &s, &err) == GPURT_OK, "%s", err.text);
    s->class->finish(s);
    s->class->refresh(s, got);
    first = got->numbers.range_first_ns;
    span = got->numbers.range_last_ns - first;
    expect(path, first + span, want);
    check_view(got, want, -1);
    for (int i = 0; i < SEEKS; i++) {
        uint64_t at;

        x = x * 6364136223846793005ull + 1442695040888963407ull;
        at = i == 0 ? first : first + (x >> 16) % (span + 1);
        if (i % 5 == 4) /* one on top of the other, without waiting */
            s->class->seek(s, first + span / 2);
        s->class->seek(s, at);
        s->class->finish(s);
        s->class->refresh(s, got);
        expect(path, at, want);
        check_view(got, want, i);
    }
    s->class->close(s);
    CHECK_MSG(source_replay_open("/nonexistent", false, &s, &err) != GPURT_OK && !s,
              "no file");
    unlink(path);
    free(got);
    free(want);
    return 0;
}
