/* SPDX-License-Identifier: Apache-2.0 */
/* Another library that CUDA_INJECTION64_PATH may name. */
#include <stdio.h>

int InitializeInjection(void);

int InitializeInjection(void)
{
    puts("the other profiler");
    return 1;
}
