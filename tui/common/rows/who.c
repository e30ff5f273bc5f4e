/* SPDX-License-Identifier: Apache-2.0 */
#include "who.h"

#include <string.h>

void who_text(const gplog_program_t *p, gpurt_text_t *out)
{
    if (p->name[0]) {
        gpurt_render_plain(out, p->name, strlen(p->name));
        gpurt_text_printf(out, "[%u]", p->pid);
    } else if (p->pid)
        gpurt_text_printf(out, "process %u", p->pid);
    else
        gpurt_text_printf(out, "process ?");
}

void who_json_pid(gpurt_json_t *j, uint32_t pid)
{
    gpurt_json_known(j, "pid", pid != 0, pid);
}

void who_json(gpurt_json_t *j, const gplog_program_t *p)
{
    who_json_pid(j, p->pid);
    gpurt_json_text(j, "program", p->name);
}

void who_json_list(gpurt_json_t *j, const char *key, const gpurt_dictionary_t *d,
                   const gplog_file_t *about, const who_count_t *counts)
{
    uint32_t count = gplog_program_count(d);
    gplog_program_t p;

    gpurt_json_array(j, key);
    for (uint32_t i = 0; i < (count ? count : 1); i++) {
        if (!gplog_program_known(d, about, i, &p))
            continue;
        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "number", i);
        who_json_pid(j, p.pid);
        gpurt_json_text(j, "name", p.name);
        if (counts) {
            gpurt_json_number(j, "records", counts[i].records);
            gpurt_json_number(j, "panics", counts[i].panics);
        }
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}
