/* SPDX-License-Identifier: Apache-2.0 */
#include "who.h"

#include "text.h"

#include <inttypes.h>
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

void who_json_pid(uint32_t pid, FILE *out)
{
    if (pid)
        fprintf(out, ",\"pid\":%u", pid);
    else
        fputs(",\"pid\":null", out);
}

void who_json(const gplog_program_t *p, FILE *out)
{
    who_json_pid(p->pid, out);
    fputs(",\"program\":", out);
    text_put_json(out, p->name, strlen(p->name));
}

void who_json_list(const gpurt_dictionary_t *d, const gplog_file_t *about,
                   const who_count_t *counts, FILE *out)
{
    uint32_t count = gplog_program_count(d);
    const char *between = "[";
    gplog_program_t p;

    for (uint32_t i = 0; i < (count ? count : 1); i++) {
        if (!gplog_program_known(d, about, i, &p))
            continue;
        fprintf(out, "%s{\"number\":%u", between, i);
        who_json_pid(p.pid, out);
        fputs(",\"name\":", out);
        text_put_json(out, p.name, strlen(p.name));
        if (counts)
            fprintf(out, ",\"records\":%" PRIu64 ",\"panics\":%" PRIu64, counts[i].records,
                    counts[i].panics);
        fputc('}', out);
        between = ",";
    }
    fputs(between[0] == '[' ? "[]" : "]", out);
}
