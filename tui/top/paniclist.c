/* SPDX-License-Identifier: Apache-2.0 */
#include "paniclist.h"

#include <string.h>

static bool same_site(const gpurt_model_panic_t *a, const gpurt_model_panic_t *b)
{
    return a->line == b->line && strncmp(a->file, b->file, sizeof a->file) == 0;
}

uint32_t paniclist_groups(const picture_t *p, uint32_t max, panic_group_t *groups)
{
    uint32_t count = 0;

    for (uint32_t i = picture_panics(p); i > 0; i--) {
        const gpurt_model_panic_t *one = &p->view->panics.list[i - 1];
        uint32_t at = 0;

        while (at < count && !same_site(groups[at].last, one))
            at++;
        if (at == max)
            continue;
        if (at == count)
            groups[count++] = (panic_group_t){.last = one, .number = i};
        groups[at].count++;
        groups[at].mixed |= one->pid != groups[at].last->pid;
    }
    return count;
}
