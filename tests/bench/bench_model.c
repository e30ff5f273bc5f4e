/* SPDX-License-Identifier: Apache-2.0 */
/* What a model costs whoever feeds it: a row of the scene, beside copying it, and a view of
 * it all for a screen, beside copying that. CPU time of the one thread. */
#include "check.h"
#include "model.h"
#include "rows.h"
#include "scene.h"

#include <string.h>

enum {
    ROWS = 200000,
    REPEATS = 21
};

/* Rows one after another, as a drain hands them on. */
static uint8_t *rows_make(gpurt_dictionary_t *d, size_t *bytes, uint64_t *messages)
{
    uint8_t *rows = malloc((size_t)ROWS * gpurt_row_bytes(64)), *to = rows;
    static scene_row_t row;
    scene_t scene;

    CHECK_MSG(rows, "memory");
    scene_begin(&scene, d, 1, 1000);
    for (int i = 0; i < ROWS; i++) {
        scene_next(&scene, &row);
        memcpy(to, &row, gpurt_row_bytes(row.row.words));
        to += gpurt_row_bytes(row.row.words);
        *messages += gpurt_row_messages(&row.row);
    }
    *bytes = (size_t)(to - rows);
    return rows;
}

/* Feeds a new model. Returns: it. */
static gpurt_model_t *feed(const gpurt_dictionary_t *d, const gplog_file_t *about,
                           const uint8_t *rows, size_t bytes, double *cpu_ns)
{
    gpurt_error_t err;
    gpurt_model_t *m;
    double begin;

    CHECK_MSG(gpurt_model_create(d, about, &m, &err) == GPURT_OK, "%s", err.text);
    begin = rows_cpu_ns();
    for (const uint8_t *p = rows; p < rows + bytes;) {
        const gpurt_row_t *row = (const gpurt_row_t *)p;

        gpurt_model_put(m, row);
        p += gpurt_row_bytes(row->words);
    }
    *cpu_ns = rows_cpu_ns() - begin;
    return m;
}

static double copy_ns(void *to, const void *from, size_t bytes)
{
    double begin = rows_cpu_ns();

    memcpy(to, from, bytes);
    __asm__ __volatile__("" : : "r"(to) : "memory");
    return rows_cpu_ns() - begin;
}

int main(void)
{
    gpurt_modelview_t *view = calloc(1, sizeof *view), *other = calloc(1, sizeof *other);
    double puts[REPEATS], views[REPEATS], copies[REPEATS], view_copies[REPEATS];
    gpurt_dictionary_t d = {0};
    uint64_t messages = 0;
    gplog_file_t about;
    size_t bytes;
    uint8_t *rows = rows_make(&d, &bytes, &messages), *copy = malloc(bytes);

    CHECK(view && other && copy);
    scene_about(&about);
    for (int i = -1; i < REPEATS; i++) { /* the first one warms up */
        int at = i < 0 ? 0 : i;
        gpurt_model_t *m = feed(&d, &about, rows, bytes, &puts[at]);
        double begin;

        memset(view, 0, sizeof *view);
        begin = rows_cpu_ns();
        gpurt_model_view(m, gpurt_model_last_ns(m), GPURT_MODEL_LIVE, view);
        views[at] = rows_cpu_ns() - begin;
        CHECK_MSG(view->numbers.messages == messages, "messages");
        copies[at] = copy_ns(copy, rows, bytes);
        view_copies[at] = copy_ns(other, view, sizeof *view);
        gpurt_model_destroy(m);
    }
    rows_head();
    rows_add("model", "put", rows_median(puts, REPEATS) / ROWS, "ns/row", "memcpy",
             rows_median(copies, REPEATS) / ROWS);
    rows_add("model", "put.p99", rows_percentile(puts, REPEATS, 99) / ROWS, "ns/row", NULL,
             0);
    rows_add("model", "view_from_nothing", rows_median(views, REPEATS) / 1e3, "us",
             "memcpy", rows_median(view_copies, REPEATS) / 1e3);
    rows_add("model", "view_from_nothing.p99", rows_percentile(views, REPEATS, 99) / 1e3,
             "us", NULL, 0);
    free(rows);
    free(copy);
    free(view);
    free(other);
    gpurt_dictionary_fini(&d);
    return 0;
}
