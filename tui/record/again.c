/* SPDX-License-Identifier: Apache-2.0 */
#include "again.h"

#include <sys/wait.h>

const char *again_reason(const again_end_t *end)
{
    if (end->asked)
        return NULL;
    if (WIFSIGNALED(end->wait_status))
        return "a signal ended it";
    if (WEXITSTATUS(end->wait_status) == AGAIN_STATUS)
        return "it asked for it";
    if (WEXITSTATUS(end->wait_status) != 0 && end->panics)
        return "its device code failed";
    return NULL;
}

bool again_is_due(again_t *a, const again_end_t *end, uint64_t *wait_ns)
{
    uint64_t window = a->window_ns ? a->window_ns : AGAIN_WINDOW_NS;

    *wait_ns = a->delay_ns ? a->delay_ns : AGAIN_DELAY_NS;
    if (!again_reason(end))
        return false;
    if (end->lived_ns > window)
        a->in_a_row = 0;
    if (a->in_a_row >= a->times)
        return false;
    for (uint64_t i = 0; i < a->in_a_row && *wait_ns < AGAIN_LIMIT_NS; i++)
        *wait_ns *= 2;
    if (*wait_ns > AGAIN_LIMIT_NS)
        *wait_ns = AGAIN_LIMIT_NS;
    a->in_a_row++;
    return true;
}
