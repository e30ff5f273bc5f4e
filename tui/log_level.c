/* SPDX-License-Identifier: Apache-2.0 */
#include "log_level.h"

#include "levelset.h"
#include "render.h"

#include <stdio.h>
#include <string.h>

/* What lies in a box may come from anybody: nothing of it reaches a terminal unescaped. */
static gpurt_status_t print_levels(const gpurt_boxmap_t *map, gpurt_error_t *err)
{
    char words[GPURT_LEVELSET_TEXT], room[GPURT_LEVELSET_TEXT * 4];
    gpurt_levelset_t set;
    gpurt_text_t text;

    if (!gpurt_levelset_read(map, &set))
        return gpurt_fail(err, GPURT_E_NOT_READY, GPURT_FROM_GPURT, 0,
                          "its levels are being changed all the time");
    gpurt_text_init(&text, room, sizeof room);
    gpurt_render_plain(&text, words, gpurt_levelset_print(&set, words, sizeof words));
    puts(room);
    return GPURT_OK;
}

gpurt_status_t log_level(uint32_t pid, const char *rules, gpurt_error_t *err)
{
    gpurt_levelset_t set;
    gpurt_boxmap_t map;
    gpurt_status_t st = rules ? gpurt_levelset_parse(rules, &set, err) : GPURT_OK;

    if (st == GPURT_OK)
        st = gpurt_boxmap_attach_pid(pid, rules != NULL, &map, err);
    if (st != GPURT_OK)
        return st;
    if (rules)
        gpurt_levelset_write(&map, &set);
    else
        st = print_levels(&map, err);
    gpurt_boxmap_detach(&map);
    return st;
}
