/* SPDX-License-Identifier: Apache-2.0 */
/* Findings for people, and as JSON. Names of devices and the environment are not ours:
 * nothing of them reaches a terminal as it is. */
#include "doctor.h"
#include "plural.h"
#include "render.h"
#include "text.h"

#include <string.h>

enum {
    ROOM = 4 * DOCTOR_TEXT
};

static const char *const names[] = {"ok", "note", "problem"};

static void plain_line(FILE *out, const char *before, const char *text)
{
    char room[ROOM];
    gpurt_text_t line;

    gpurt_text_init(&line, room, sizeof room);
    gpurt_render_plain(&line, text, strlen(text));
    fprintf(out, "%s%s\n", before, room);
}

void doctor_print_text(const doctor_report_t *report, bool colour, FILE *out)
{
    static const char *const colours[] = {"\033[32m", "\033[33m", "\033[1;31m"};
    uint32_t problems = doctor_count(report, DOCTOR_PROBLEM);
    uint32_t notes = doctor_count(report, DOCTOR_NOTE);

    for (uint32_t i = 0; i < report->count; i++) {
        const doctor_finding_t *f = &report->list[i];

        fprintf(out, "%s%-7s%s  %-10s  ", colour ? colours[f->state] : "", names[f->state],
                colour ? "\033[0m" : "", f->topic);
        plain_line(out, "", f->found);
        if (f->remedy[0])
            plain_line(out, "                     -> ", f->remedy);
    }
    fprintf(out, "%u problem%s, %u note%s\n", problems, gpurt_plural(problems, "s"), notes,
            gpurt_plural(notes, "s"));
}

void doctor_print_json(const doctor_report_t *report, FILE *out)
{
    fprintf(out,
            "{\"schema\": \"gpurt-doctor\", \"version\": 1, \"problems\": %u, "
            "\"notes\": %u, \"findings\": [",
            doctor_count(report, DOCTOR_PROBLEM), doctor_count(report, DOCTOR_NOTE));
    for (uint32_t i = 0; i < report->count; i++) {
        const doctor_finding_t *f = &report->list[i];

        fprintf(out,
                "%s\n  {\"topic\": \"%s\", \"state\": \"%s\", \"found\": ", i ? "," : "",
                f->topic, names[f->state]);
        text_put_json(out, f->found, strlen(f->found));
        fputs(", \"remedy\": ", out);
        if (f->remedy[0])
            text_put_json(out, f->remedy, strlen(f->remedy));
        else
            fputs("null", out);
        fputc('}', out);
    }
    fputs("\n]}\n", out);
}
