/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel file, compiled by a C compiler, by nvcc, or by both: whichever objects are
 * linked, the program links, and the descriptor names the halves that are there.
 * Argument: cpu, cuda or both. Launches nothing. */
#include "kernel_halves.h"

#include "check.h"

#include <gpurt/gpurt.h>

GPURT_KERNEL_DECLARE(halves, struct halves_args);
GPURT_KERNEL_DECLARE(halves_second, struct halves_args);

static void check_descriptor(const gpurt_kernel_t *k, const char *name, bool cpu, bool cuda)
{
    CHECK_STR(k->name, name);
    CHECK_EQ(k->args_bytes, sizeof(struct halves_args));
    CHECK_EQ(k->args_align, _Alignof(struct halves_args));
    CHECK_EQ(k->cpu != NULL, cpu);
    CHECK_EQ(k->cuda != NULL, cuda);
    CHECK(!cuda || *k->cuda != NULL);
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "";
    bool cpu = strcmp(which, "cuda") != 0, cuda = strcmp(which, "cpu") != 0;

    CHECK(argc == 2);
    check_descriptor(&gpurt_kernel_halves, "halves", cpu, cuda);
    check_descriptor(&gpurt_kernel_halves_second, "halves_second", cpu, cuda);
    CHECK(!cuda || *gpurt_kernel_halves.cuda != *gpurt_kernel_halves_second.cuda);
    return 0;
}
