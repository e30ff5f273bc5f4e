/* SPDX-License-Identifier: Apache-2.0 */
#include "lives_text.h"

#include "exittext.h"
#include "panic_read.h"
#include "plural.h"

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

void lives_json(gpurt_json_t *j, const char *key, const gpurt_life_t *lives, uint32_t count)
{
    gpurt_json_array(j, key);
    for (uint32_t i = 0; i < count; i++) {
        const gpurt_life_t *l = &lives[i];
        const bool killed = WIFSIGNALED(l->wait_status);

        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "life", l->number);
        gpurt_json_number(j, "pid", l->pid);
        gpurt_json_number(j, "begin_ns", l->begin_ns);
        gpurt_json_known(j, "end_ns", l->end_ns != 0, l->end_ns);
        gpurt_json_known(j, "status", l->end_ns && !killed,
                         (uint64_t)WEXITSTATUS(l->wait_status));
        gpurt_json_known(j, "signal", l->end_ns && killed,
                         (uint64_t)WTERMSIG(l->wait_status));
        gpurt_json_number(j, "panics", l->panics);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}
