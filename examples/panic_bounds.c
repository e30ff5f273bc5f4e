/* SPDX-License-Identifier: Apache-2.0 */
/* panic_bounds - an index out of bounds in the last of four blocks. Its lanes end there and
 * tell: a line on standard error, and GPURT_E_PANIC of the wait. The other blocks finish, the
 * next launch works.
 *
 *   gpurt-record -o panic.gplog -- panic_bounds && gpurt-panic list panic.gplog */
#include "panic_bounds.h"

#include <gpurt/gpurt.h>

#include <stdio.h>

enum {
    BLOCKS = 4,
    THREADS = 32,
    COUNT = 3 * THREADS /* one block too few */
};

int main(void)
{
    gpurt_launch_t launch = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    struct panic_bounds_args args = {NULL, COUNT, 1};
    gpurt_error_t err = {0};
    void *values = NULL;
    gpurt_t *rt;

    if (gpurt_open(NULL, &rt, &err) != GPURT_OK ||
        gpurt_mem_create(rt, COUNT * sizeof(uint32_t), &values, &err) != GPURT_OK)
        goto fail;
    args.values = (uint32_t *)values;
    for (int round = 0; round < 2; round++) {
        if (gpurt_launch(rt, &launch, panic_bounds, &args, &err) != GPURT_OK)
            goto fail;
        if (gpurt_sync(rt, &err) != GPURT_E_PANIC) {
            if (err.status == GPURT_OK)
                snprintf(err.text, sizeof err.text, "the panic was not told");
            goto fail;
        }
    }
    puts("panic_bounds: two launches ended; gpurt-panic tells what the last block did");
    gpurt_mem_destroy(rt, values);
    return gpurt_close(rt, &err) == GPURT_OK ? 0 : 1;

fail:
    fprintf(stderr, "panic_bounds: %s\n", err.text);
    return 1;
}
