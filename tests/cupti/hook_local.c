/* SPDX-License-Identifier: Apache-2.0 */
/* A library for itself: RTLD_DEFAULT finds what it has for nobody but it. */
#include <dlfcn.h>
#include <stddef.h>

int cuda_of_its_own(void);
int cuda_of_its_own(void)
{
    return 1;
}

int hook_local_finds(void);
int hook_local_finds(void)
{
    return dlsym(RTLD_DEFAULT, "cuda_of_its_own") != NULL;
}
