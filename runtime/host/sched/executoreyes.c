/* SPDX-License-Identifier: Apache-2.0 */
/* What all views of an executor read by. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "executoreyes.h"

#include <gpurt/impl/window.h>

/* The race detector is right that nothing orders what kernels write before a look. */
GPURT_WINDOW_READS static void words_copy(uint32_t *to, const uint32_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i];
}

bool gpurt_eyes_fetch(gpurt_viewer_t *v, const gpurt_executor_own_t *e, void *to,
                      const void *from, size_t bytes)
{
    if (!e->on_cpu)
        return gpurt_viewer_fetch(v, to, from, bytes);
    words_copy((uint32_t *)to, (const uint32_t *)from, bytes / 4);
    return true;
}
