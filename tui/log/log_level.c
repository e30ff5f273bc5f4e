/* SPDX-License-Identifier: Apache-2.0 */
#include "log_level.h"

#include "boxes.h"
#include "levelset.h"
#include "render.h"

#include <stdio.h>
#include <string.h>

typedef struct levels_text {
    char words[GPURT_LEVELSET_TEXT];
    uint32_t bytes;
} levels_text_t;

static gpurt_status_t levels_read(const gpurt_boxmap_t *map, levels_text_t *out,
                                  gpurt_error_t *err)
{
    gpurt_levelset_t set;

    if (!gpurt_levelset_read(map, &set))
        return gpurt_fail(err, GPURT_E_NOT_READY, GPURT_FROM_GPURT, 0,
                          "its levels are being changed all the time");
    out->bytes = (uint32_t)gpurt_levelset_print(&set, out->words, sizeof out->words);
    return GPURT_OK;
}

/* What lies in a box may come from anybody: nothing of it reaches a terminal unescaped. */
static void words_print(const char *words, size_t bytes)
{
    char room[GPURT_LEVELSET_TEXT * 4];
    gpurt_text_t text;

    gpurt_text_init(&text, room, sizeof room);
    gpurt_render_plain(&text, words, bytes);
    fputs(room, stdout);
}

/* The device that a box is for. */
static void device_print(const gpurt_boxmap_t *map)
{
    const gpurt_box_section_t *s = &map->sections[0];

    printf("device %u (%s, ", s->device,
           s->kind == GPURT_SECTION_CUDA  ? "cuda"
           : s->kind == GPURT_SECTION_CPU ? "cpu"
                                          : "host");
    words_print(s->name, strnlen(s->name, sizeof s->name));
    fputs("): ", stdout);
}

/* One line where they agree, else one for each device. */
static gpurt_status_t print_levels(const gpurt_boxes_t *boxes, gpurt_error_t *err)
{
    static levels_text_t text[GPURT_BOXES_MAX];
    uint32_t same = 1;

    for (uint32_t i = 0; i < boxes->count; i++) {
        gpurt_status_t st = levels_read(&boxes->map[i], &text[i], err);

        if (st != GPURT_OK)
            return st;
        same += i > 0 && text[i].bytes == text[0].bytes &&
                memcmp(text[i].words, text[0].words, text[0].bytes) == 0;
    }
    for (uint32_t i = 0; i < (same == boxes->count ? 1 : boxes->count); i++) {
        if (same != boxes->count)
            device_print(&boxes->map[i]);
        words_print(text[i].words, text[i].bytes);
        putchar('\n');
    }
    return GPURT_OK;
}

gpurt_status_t log_level(uint32_t pid, const char *rules, gpurt_error_t *err)
{
    static gpurt_boxes_t boxes;
    gpurt_levelset_t set;
    gpurt_status_t st = rules ? gpurt_levelset_parse(rules, &set, err) : GPURT_OK;
    gpurt_status_t refused;

    if (st == GPURT_OK)
        st = gpurt_boxes_of_pid(pid, rules != NULL, &boxes, err);
    if (st != GPURT_OK)
        return st;
    refused = boxes.refused ? err->status : GPURT_OK;
    if (rules)
        for (uint32_t i = 0; i < boxes.count; i++)
            gpurt_levelset_write(&boxes.map[i], &set);
    else
        st = print_levels(&boxes, err);
    gpurt_boxes_detach(&boxes);
    return st == GPURT_OK ? refused : st;
}
