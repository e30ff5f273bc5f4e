/* SPDX-License-Identifier: Apache-2.0 */
/* Findings for people, and as JSON. Names of devices and the environment are not ours:
 * nothing of them reaches a terminal as it is. */
#include "doctor.h"
#include "json.h"
#include "plural.h"
#include "render.h"

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
    gpurt_json_t j;

    gpurt_json_file(&j, out);
    j.spaced = true;
    gpurt_json_object(&j, NULL);
    gpurt_json_text(&j, "schema", "gpurt-doctor");
    gpurt_json_number(&j, "version", 1);
    gpurt_json_number(&j, "problems", doctor_count(report, DOCTOR_PROBLEM));
    gpurt_json_number(&j, "notes", doctor_count(report, DOCTOR_NOTE));
    gpurt_json_array(&j, "findings");
    for (uint32_t i = 0; i < report->count; i++) {
        const doctor_finding_t *f = &report->list[i];

        gpurt_json_line(&j, "  ");
        gpurt_json_object(&j, NULL);
        gpurt_json_text(&j, "topic", f->topic);
        gpurt_json_text(&j, "state", names[f->state]);
        gpurt_json_text(&j, "found", f->found);
        gpurt_json_text_known(&j, "remedy", f->remedy[0] ? f->remedy : NULL);
        gpurt_json_object_end(&j);
    }
    gpurt_json_newline(&j);
    gpurt_json_array_end(&j);
    gpurt_json_object_end(&j);
    gpurt_json_newline(&j);
}
