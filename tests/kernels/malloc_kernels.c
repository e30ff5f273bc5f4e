/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels as somebody wrote them for the malloc of CUDA, and host code beside them. */
#define GPURT_REPLACE_MALLOC
#include "malloc_kernels.h"

#include <gpurt/device.h>
#include <gpurt/malloc.h>

struct node {
    struct node *next;
    uint32_t value;
};

GPURT_KERNEL(malloc_build, struct malloc_args, p)
{
    struct node *head = NULL;

    for (uint32_t i = 0; i < p->length; i++) {
        struct node *n = (struct node *)malloc(sizeof *n);

        if (!n)
            break;
        n->value = gpurt_global_id() * 1000 + i;
        n->next = head;
        head = n;
    }
    p->heads[gpurt_global_id()] = head;
}

/* Each lane takes the list of another block apart. */
GPURT_KERNEL(malloc_drop, struct malloc_args, p)
{
    uint32_t lanes = gpurt_grid_dim_x() * gpurt_block_dim_x();
    uint32_t other = (gpurt_global_id() + gpurt_block_dim_x()) % lanes, i = p->length;
    struct node *n = (struct node *)p->heads[other];

    while (n) {
        struct node *next = n->next;

        if (n->value != other * 1000 + --i)
            gpurt_red_add_relaxed_dev_u32(p->xwrong, 1);
        free(n);
        n = next;
    }
    if (i != 0)
        gpurt_red_add_relaxed_dev_u32(p->xwrong, 1);
}

#if !GPURT_ON_CUDA
uint32_t malloc_on_host(uint32_t length)
{
    uint32_t wrong = 0, *all = (uint32_t *)malloc(length * sizeof *all);

    for (uint32_t i = 0; i < length; i++)
        all[i] = i;
    for (uint32_t i = 0; i < length; i++)
        wrong += all[i] != i;
    free(all);
    free(NULL);
    return wrong;
}

void malloc_free_on_host(void *object)
{
    free(object);
}
#endif
