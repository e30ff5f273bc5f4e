/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "defread.h"

#include <string.h>

bool gpurt_def_read(const gpurt_boxmap_t *map, uint32_t section, uint32_t number,
                    gpurt_def_t *def, char *text)
{
    const gpurt_box_section_t *s = &map->sections[section];
    gpurt_def_t *from;
    uint32_t bytes, state;

    if (number == 0 || number > s->def_count)
        return false;
    from = gpurt_boxmap_def(map, section, number - 1);
    state = gpurt_load_acquire_sys_u32(&from->xstate); /* B3.acq */
    if (state != GPURT_DEF_SITE && state != GPURT_DEF_STRING)
        return false;
    memcpy(def, from, sizeof *def);
    def->xstate = state;
    bytes = (uint32_t)def->format_bytes + def->file_bytes + def->module_bytes;
    if (def->slots == 0 || def->slots > GPURT_DEF_MAX_SLOTS ||
        def->slots > s->def_count - (number - 1) ||
        bytes > (uint32_t)def->slots * GPURT_DEF_BYTES - sizeof *def)
        return false;
    memcpy(text, from + 1, bytes);
    return true;
}
