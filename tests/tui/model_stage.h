/* SPDX-License-Identifier: Apache-2.0 */
/* model_stage.h - a model that tests feed row by row: texts get numbers, a payload becomes
 * a row. */
#ifndef GPURT_TESTS_MODEL_STAGE_H
#define GPURT_TESTS_MODEL_STAGE_H

#include "check.h"
#include "model.h"
#include "program.h"

#include <stdlib.h>
#include <string.h>

#define T0 1700000000000000000ull

static gpurt_dictionary_t dictionary;
static gpurt_model_t *model;
static gpurt_modelview_t *view;
static gpurt_error_t err;
static uint32_t stage_program; /* of rows that are put: a number of program.h */

static inline uint32_t string(const char *text)
{
    gpurt_site_info_t info = {
        .kind = GPURT_DEF_STRING, .format = text, .format_bytes = (uint32_t)strlen(text)};

    info.file = info.module = text;
    return gpurt_dictionary_add(&dictionary, &info);
}

/* A process that the dictionary knows of. Returns: its number. */
static inline uint32_t process(uint32_t pid, const char *name)
{
    gpurt_box_identity_t id = {.pid = pid, .start_ticks = 1};

    strncpy(id.program, name, sizeof id.program - 1);
    return gplog_program_add(&dictionary, &id);
}

static inline void put_on(uint32_t device, uint32_t kind, uint32_t level, uint64_t time_ns,
                          const void *payload, size_t bytes)
{
    struct {
        gpurt_row_t row;
        uint32_t words[32];
    } r;

    memset(&r, 0, sizeof r);
    r.row.time_ns = time_ns;
    r.row.kind = (uint8_t)kind;
    r.row.block = device;
    r.row.program = (uint8_t)stage_program;
    r.row.mask = 1;
    r.row.form = GPURT_FORM_THREAD;
    r.row.level = (uint8_t)level;
    r.row.words = (uint16_t)(bytes / 4);
    memcpy(r.words, payload, bytes);
    gpurt_model_put(model, &r.row);
}

static inline void put(uint32_t kind, uint64_t time_ns, const void *payload, size_t bytes)
{
    put_on(0, kind, GPURT_LEVEL_DEBUG, time_ns, payload, bytes);
}

/* The number of a class of objects. */
static inline uint32_t object_class(const char *text)
{
    gpurt_site_info_t info = {.kind = GPURT_DEF_SITE,
                              .record_kind = GPURT_KIND_OBJECT,
                              .format = text,
                              .format_bytes = (uint32_t)strlen(text)};

    info.file = info.module = text;
    return gpurt_dictionary_add(&dictionary, &info);
}

/* An object as it is now, in records of 100 values. */
static inline void object_put(uint32_t device, uint32_t site, uint64_t time_ns, uint32_t id,
                              bool ended, const uint64_t *values, uint32_t count)
{
    struct {
        gpurt_row_t row;
        uint32_t words[2 + 200];
    } r;

    memset(&r, 0, sizeof r);
    for (uint32_t first = 0; first < count; first += 100) {
        uint32_t some = count - first < 100 ? count - first : 100;

        r.row = (gpurt_row_t){.time_ns = time_ns,
                              .site = site,
                              .kind = GPURT_KIND_OBJECT,
                              .form = GPURT_FORM_THREAD,
                              .block = device,
                              .program = (uint8_t)stage_program,
                              .words = (uint16_t)(2 + 2 * some)};
        r.words[0] = id;
        r.words[1] = gpurt_object_word(first, some, ended ? GPURT_OBJECT_ENDED : 0);
        for (uint32_t i = 0; i < 2 * some; i++)
            r.words[2 + i] = (uint32_t)(values[first + i / 2] >> (i % 2 * 32));
        gpurt_model_put(model, &r.row);
    }
}

static inline void look(void)
{
    gpurt_model_view(model, T0, GPURT_MODEL_REPLAY, view);
}

/* A model of its own, and an empty view, for what `check` looks at. */
static inline void in_model(void (*check)(void))
{
    stage_program = 0;
    view = calloc(1, sizeof *view);
    CHECK(view && gpurt_model_create(&dictionary, NULL, &model, &err) == GPURT_OK);
    check();
    gpurt_model_destroy(model);
    free(view);
}

/* What is printed of the view. */
static inline void text_of(void (*print)(FILE *out, const gpurt_model_objects_t *all),
                           char *to, size_t room)
{
    FILE *out = fmemopen(to, room, "w");

    CHECK(out != NULL);
    print(out, &view->objects);
    fclose(out);
}

#endif
