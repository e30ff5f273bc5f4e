/* SPDX-License-Identifier: Apache-2.0 */
#include "lives_text.h"

#include "exittext.h"
#include "panic_read.h"
#include "plural.h"

#include <inttypes.h>
#include <sys/wait.h>

void lives_print(FILE *out, const gpurt_life_t *lives, uint32_t count)
{
    char time[PANIC_TIME], text[48];

    for (uint32_t i = 0; i < count; i++) {
        const gpurt_life_t *l = &lives[i];

        fprintf(out, "life %u: process %u, from %s", l->number, l->pid,
                panic_time(l->begin_ns, 3, time));
        if (l->end_ns) {
            gpurt_exit_text(l->wait_status, text, sizeof text);
            fprintf(out, ", %s after %.3f s", text,
                    (double)(l->end_ns - l->begin_ns) / 1e9);
        } else {
            fputs(", its end was not told", out);
        }
        fprintf(out, ", %llu panic%s\n", (unsigned long long)l->panics,
                gpurt_plural(l->panics, "s"));
    }
}

static void put_end(FILE *out, int wait_status)
{
    if (WIFSIGNALED(wait_status))
        fprintf(out, ",\"status\":null,\"signal\":%d", WTERMSIG(wait_status));
    else
        fprintf(out, ",\"status\":%d,\"signal\":null", WEXITSTATUS(wait_status));
}

void lives_json(FILE *out, const gpurt_life_t *lives, uint32_t count)
{
    fputc('[', out);
    for (uint32_t i = 0; i < count; i++) {
        const gpurt_life_t *l = &lives[i];

        fprintf(out, "%s{\"life\":%u,\"pid\":%u,\"begin_ns\":%" PRIu64 ",\"end_ns\":",
                i ? "," : "", l->number, l->pid, l->begin_ns);
        if (l->end_ns) {
            fprintf(out, "%" PRIu64, l->end_ns);
            put_end(out, l->wait_status);
        } else {
            fputs("null,\"status\":null,\"signal\":null", out);
        }
        fprintf(out, ",\"panics\":%" PRIu64 "}", l->panics);
    }
    fputc(']', out);
}
