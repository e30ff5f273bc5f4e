/* SPDX-License-Identifier: Apache-2.0 */
/* What a model costs a drain: a row of the scene, and a view of it all for a screen. */
#include "check.h"
#include "model.h"
#include "scene.h"

#include <string.h>
#include <time.h>

enum {
    ROWS = 200000,
    REPEATS = 21
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

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

int main(void)
{
    gpurt_modelview_t *view = calloc(1, sizeof *view);
    double puts[REPEATS], views[REPEATS];
    gpurt_dictionary_t d = {0};
    uint64_t messages = 0;
    gplog_file_t about;
    gpurt_error_t err;
    size_t bytes;
    uint8_t *rows = rows_make(&d, &bytes, &messages);

    scene_about(&about);
    for (int i = -1; i < REPEATS; i++) { /* the first one warms up */
        gpurt_model_t *m;
        double begin;

        CHECK_MSG(gpurt_model_create(&d, &about, &m, &err) == GPURT_OK, "%s", err.text);
        begin = now();
        for (const uint8_t *p = rows; p < rows + bytes;) {
            const gpurt_row_t *row = (const gpurt_row_t *)p;

            gpurt_model_put(m, row);
            p += gpurt_row_bytes(row->words);
        }
        puts[i < 0 ? 0 : i] = now() - begin;
        memset(view, 0, sizeof *view);
        begin = now();
        gpurt_model_view(m, gpurt_model_last_ns(m), GPURT_MODEL_LIVE, view);
        views[i < 0 ? 0 : i] = now() - begin;
        CHECK_MSG(view->numbers.messages == messages, "messages");
        gpurt_model_destroy(m);
    }
    qsort(puts, REPEATS, sizeof puts[0], compare);
    qsort(views, REPEATS, sizeof views[0], compare);
    printf("bench_model case=put ns_row p50=%.1f p99=%.1f\n",
           puts[REPEATS / 2] / ROWS * 1e9, puts[REPEATS - 1] / ROWS * 1e9);
    printf("bench_model case=view_from_nothing us p50=%.0f p99=%.0f\n",
           views[REPEATS / 2] * 1e6, views[REPEATS - 1] * 1e6);
    free(rows);
    free(view);
    gpurt_dictionary_fini(&d);
    return 0;
}
