/* SPDX-License-Identifier: Apache-2.0 */
/* stuck - a warp operation that one lane never reaches. A GPU hangs without a word; the CPU back
 * end says who waits for whom, and the program goes on. */
#include "stuck.h"

#include <gpurt/gpurt.h>

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    gpurt_options_t options = {.struct_size = sizeof options, .backend = GPURT_BACKEND_CPU};
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    uint32_t votes[32];
    struct stuck_args args = {votes};
    static char report[16384];
    gpurt_error_t err;
    gpurt_status_t st;
    gpurt_t *rt;

    setenv("GPURT_BACKEND", "cpu", 1); /* never on a GPU, where it would hang */
    if (gpurt_open(&options, &rt, &err) != GPURT_OK ||
        gpurt_launch(rt, &launch, stuck, &args, &err) != GPURT_OK) {
        fprintf(stderr, "stuck: %s\n", err.text);
        return 1;
    }
    st = gpurt_sync(rt, &err);
    gpurt_report(rt, report, sizeof report);
    printf("%s: %s\n\n%s", gpurt_status_name(st), gpurt_status_text(st), report);
    gpurt_close(rt, NULL);
    return st != GPURT_E_DEADLOCK; /* the report is what this example is for */
}
