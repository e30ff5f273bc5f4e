/* SPDX-License-Identifier: Apache-2.0 */
#include "logunit.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gpurt_log_unit_t *first; /* under lock */
static uint32_t xadded;         /* written by: whoever loads code, under lock */

void gpurt_log_unit_add(gpurt_log_unit_t *unit)
{
    pthread_mutex_lock(&lock);
    unit->next = first;
    first = unit;
    gpurt_store_relaxed_sys_u32(&xadded, xadded + 1); /* relaxed: a hint to look */
    pthread_mutex_unlock(&lock);
}

void gpurt_log_unit_remove(gpurt_log_unit_t *unit)
{
    gpurt_log_unit_t **at;

    pthread_mutex_lock(&lock);
    for (at = &first; *at && *at != unit; at = &(*at)->next)
        ;
    if (*at)
        *at = unit->next;
    pthread_mutex_unlock(&lock);
}

uint32_t gpurt_log_unit_count(void)
{
    return gpurt_load_relaxed_sys_u32(&xadded); /* relaxed: a hint to look */
}

void gpurt_log_unit_each(bool (*visit)(void *context, const gpurt_log_unit_t *unit),
                         void *context)
{
    pthread_mutex_lock(&lock);
    for (const gpurt_log_unit_t *unit = first; unit; unit = unit->next)
        if (!visit(context, unit))
            break;
    pthread_mutex_unlock(&lock);
}
