/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "tasktell.h"

#include "life.h"

/* Of each open device. Fixed while a call is inside. */
static struct {
    const gpurt_boxmap_t *map;
    gpurt_taskpage_t *page; /* NULL: nobody looks on */
    uint32_t section;       /* of the device */
} links[GPURT_MAX_DEVICES];

gpurt_taskpage_t *gpurt_tasktell_page(const gpurt_t *rt)
{
    return links[gpurt_life_index(rt)].page;
}

uint32_t gpurt_tasktell_section(const gpurt_t *rt)
{
    return links[gpurt_life_index(rt)].section;
}

uint64_t gpurt_tasktell_real(const gpurt_t *rt, uint64_t time48, uint64_t now_ns)
{
    uint32_t i = gpurt_life_index(rt);
    gpurt_clock_fit_t fit;
    uint64_t real;

    if (!gpurt_boxmap_clock(links[i].map, links[i].section, &fit))
        return now_ns;
    real = gpurt_clock_real(&fit, time48, now_ns);
    return real < now_ns ? real : now_ns;
}

void gpurt_tasktell_connect(const gpurt_opened_t *opened, const gpurt_boxmap_t *map,
                            uint32_t device, uint32_t host)
{
    links[opened->index].map = map;
    links[opened->index].page = gpurt_boxmap_tasks(map, host);
    links[opened->index].section = device;
}

void gpurt_tasktell_disconnect(const gpurt_opened_t *opened)
{
    links[opened->index].page = NULL;
}

void gpurt_tasktell_forked(uint32_t index)
{
    links[index].page = NULL;
}
