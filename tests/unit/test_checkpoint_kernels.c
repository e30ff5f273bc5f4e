/* SPDX-License-Identifier: Apache-2.0 */
#include "test_checkpoint.h"

#include <gpurt/alloc.h>
#include <gpurt/device.h>

/* One lane, so that the list is the same each time: objects of many sizes, every third one
 * freed, and some beyond what a chunk holds. */
GPURT_KERNEL(list_make, struct list_args, p)
{
    struct node *last = NULL;

    if (gpurt_global_id() != 0)
        return;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t words = i % 500 == 7 ? 20000 : i * 7 % 300;
        struct node *n = (struct node *)gpurt_heap_alloc(
            &p->heap, (uint32_t)sizeof(struct node) + 4 * words);

        if (!n)
            gpurt_trap();
        if (i % 3 == 2) {
            gpurt_heap_free(&p->heap, n);
            continue;
        }
        n->next = last;
        n->value = i * 2654435761u;
        n->words = words;
        for (uint32_t k = 0; k < words; k++)
            n->more[k] = i ^ k;
        last = n;
    }
    *p->head = last;
}

GPURT_DEV struct node *moved(struct node *n, int64_t by)
{
    return n ? (struct node *)((char *)n + by) : n;
}

GPURT_KERNEL(list_move, struct list_args, p)
{
    if (gpurt_global_id() != 0)
        return;
    *p->head = moved(*p->head, p->moved);
    for (struct node *n = *p->head; n; n = n->next)
        n->next = moved(n->next, p->moved);
}

GPURT_KERNEL(list_sum, struct list_args, p)
{
    uint64_t sum = 0;

    if (gpurt_global_id() != 0)
        return;
    for (const struct node *n = *p->head; n; n = n->next) {
        sum = sum * 31 + n->value;
        for (uint32_t k = 0; k < n->words; k++)
            sum += n->more[k];
    }
    *p->sum = sum;
}
