/* SPDX-License-Identifier: Apache-2.0 */
/* kettle_app - two kettles on a stove, objects of classes that no program of gpurt knows: what is
 * shown of them comes from the two declarations here. They boil; after a line on standard input
 * they end. */
#include "kettle_app.h"

#include "watch.h"

#include <gpurt/gpurt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

GPURT_KERNEL_DECLARE(kettle_boil, struct kettle_args);

/* What a look is given. */
typedef struct kettle_look {
    const kettle_t *words;
    char name[32];
} kettle_look_t;

/* ---- the classes --------------------------------------------------------------------- */

enum {
    STOVE,
    NAME,
    CAPACITY,
    LITRES,
    TEMPERATURE,
    STATE,
    BOILS,
    FAULTS,
    WAITS,
    MAP,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [STOVE] =
        GPURT_FIELD("stove", REFERENCE, .words = "stove", .flags = GPURT_FIELD_PARENT),
    [NAME] = GPURT_FIELD("name", TEXT),
    [CAPACITY] = GPURT_FIELD("capacity", LIMIT, .unit = "l"),
    [LITRES] = GPURT_FIELD("litres", GAUGE, .unit = "l", .of = "capacity"),
    [TEMPERATURE] = GPURT_FIELD("temperature", GAUGE, .unit = "C"),
    [STATE] = GPURT_FIELD("state", STATE, .words = "cold,warm,boiling"),
    [BOILS] = GPURT_FIELD("boils", COUNTER),
    [FAULTS] = GPURT_FIELD("faults", FAULT),
    [WAITS] = GPURT_FIELD("waits", HISTOGRAM, .unit = "ns", .count = KETTLE_BUCKETS),
    [MAP] = GPURT_FIELD("map", CELLS, .count = KETTLE_CELLS),
};

static bool kettle_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    const kettle_look_t *look = object;
    uint64_t *waits = values + WAITS, *map = waits + KETTLE_BUCKETS;
    kettle_t k;

    (void)due;
    if (!gpurt_viewer_fetch(v, &k, look->words, sizeof k))
        return false;
    values[STOVE] = 1;
    values[NAME] = gpurt_watch_text(v, look->name);
    values[CAPACITY] = KETTLE_LITRES;
    values[LITRES] = k.xlitres;
    values[TEMPERATURE] = k.xtemperature;
    values[STATE] = k.xstate;
    values[BOILS] = k.xboils;
    values[FAULTS] = k.xfaults;
    memcpy(waits, k.xwaits, sizeof k.xwaits);
    for (uint32_t i = 0; i < KETTLE_CELLS; i++)
        gpurt_cell_set(map, i, i * KETTLE_LITRES < k.xlitres * KETTLE_CELLS ? 254 : 1);
    return true;
}

static bool stove_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    (void)v;
    (void)due;
    values[0] = *(const uint32_t *)object;
    return true;
}

GPURT_CLASS_DECLARE(kettle, kettles, fields, kettle_look);
/* Breaks a rule: what only grows is no part of a limit. */
static const gpurt_field_t wrong_fields[] = {GPURT_FIELD("plates", LIMIT),
                                             GPURT_FIELD("lit", COUNTER, .of = "plates")};
GPURT_CLASS_DECLARE(oven, ovens, wrong_fields, stove_look);
static const gpurt_field_t stove_fields[] = {GPURT_FIELD("plates", LIMIT)};
GPURT_CLASS_DECLARE(stove, stoves, stove_fields, stove_look);

/* ---- the program --------------------------------------------------------------------- */

static gpurt_error_t err;
#define OK(call)                                           \
    do {                                                   \
        if ((call) != GPURT_OK) {                          \
            fprintf(stderr, "kettle_app: %s\n", err.text); \
            exit(1);                                       \
        }                                                  \
    } while (0)

int main(void)
{
    kettle_look_t looks[2] = {{.name = "the blue one"}, {.name = "\x1b[31mred"}};
    static const gpurt_launch_t launch = {.grid = {2, 1, 1}, .block = {32, 1, 1}};
    const uint32_t plates = 4;
    struct kettle_args args = {.rounds = 100};
    void *memory = NULL;
    gpurt_t *rt;

    OK(gpurt_open(NULL, &rt, &err));
    OK(gpurt_mem_create(rt, 2 * sizeof(kettle_t), &memory, &err));
    OK(gpurt_fill(rt, GPURT_STREAM_DEFAULT, memory, 0, 2 * sizeof(kettle_t), &err));
    OK(gpurt_sync(rt, &err));
    args.kettles = (kettle_t *)memory;
    gpurt_watch_begin(rt, &gpurt_class_stove, 1, &plates, sizeof plates);
    gpurt_watch_begin(rt, &gpurt_class_oven, 1, &plates, sizeof plates);
    for (uint32_t i = 0; i < 2; i++) {
        looks[i].words = &args.kettles[i];
        gpurt_watch_begin(rt, &gpurt_class_kettle, i + 1, &looks[i], sizeof looks[i]);
    }
    OK(gpurt_launch(rt, &launch, kettle_boil, &args, &err));
    OK(gpurt_sync(rt, &err));
    puts("boiled");
    fflush(stdout);
    (void)getchar();
    for (uint32_t i = 0; i < 2; i++)
        gpurt_watch_end(rt, &gpurt_class_kettle, i + 1);
    OK(gpurt_mem_destroy(rt, memory));
    OK(gpurt_close(rt, &err));
    return 0;
}
