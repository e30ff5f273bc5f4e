/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "threadwait.h"

#include "hosttime.h"
#include "process.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of each open device. Fixed while a call is inside. */
static struct {
    gpurt_threadpage_t *page; /* NULL: nobody looks on */
    uint32_t section;         /* of the device */
} links[GPURT_MAX_DEVICES];

/* A child of fork has its parent's thread-local memory, and another number. */
uint32_t gpurt_threadwait_self(void)
{
    static GPURT_TLS struct {
        uint32_t generation, number;
    } self;
    uint32_t generation = gpurt_process_generation();

    if (self.generation != generation) {
        self.generation = generation;
        self.number = (uint32_t)syscall(SYS_gettid);
    }
    return self.number;
}

uint32_t gpurt_threadwait_begin(const gpurt_opened_t *opened,
                                const gpurt_threadwait_at_t *at, uint32_t reason,
                                bool limited, uint64_t began_ns)
{
    gpurt_threadpage_t *page = links[opened->index].page;
    uint64_t since = gpurt_real_ns() - (gpurt_steady_ns() - began_ns);
    gpurt_threadwait_t w = {.since = {(uint32_t)since, (uint32_t)(since >> 32)},
                            .thread = gpurt_threadwait_self(),
                            .key = gpurt_waitable_key(at->waitable),
                            .section = (uint8_t)links[opened->index].section,
                            .kind = (uint8_t)at->kind,
                            .reason = (uint8_t)reason,
                            .limited = limited};

    if (!page)
        return 0;
    if (prctl(PR_GET_NAME, w.name) != 0)
        w.name[0] = '\0';
    snprintf(w.object, sizeof w.object, "%s", at->name);
    return gpurt_threadpage_begin(page, &w);
}

void gpurt_threadwait_end(const gpurt_opened_t *opened, uint32_t told)
{
    if (told)
        gpurt_threadpage_end(links[opened->index].page, told);
}

void gpurt_threadwait_use(const gpurt_opened_t *opened, uint32_t place,
                          const gpurt_threadwait_at_t *at, uint32_t role, uint32_t thread)
{
    gpurt_threadpage_t *page = links[opened->index].page;
    gpurt_threaduser_t user = {.key = gpurt_waitable_key(at->waitable),
                               .thread = thread,
                               .section = links[opened->index].section,
                               .role = role,
                               .since_ns = gpurt_real_ns()};

    if (page)
        gpurt_threadpage_use(page, place, &user);
}

void gpurt_threadwait_unuse(const gpurt_opened_t *opened, uint32_t place)
{
    const gpurt_threaduser_t nobody = {0};

    if (links[opened->index].page)
        gpurt_threadpage_use(links[opened->index].page, place, &nobody);
}

void gpurt_threadwait_connect(const gpurt_opened_t *opened, const gpurt_boxmap_t *map,
                              uint32_t device, uint32_t host)
{
    links[opened->index].page = gpurt_boxmap_threads(map, host);
    links[opened->index].section = device;
}

void gpurt_threadwait_disconnect(const gpurt_opened_t *opened)
{
    links[opened->index].page = NULL;
}

void gpurt_threadwait_forked(uint32_t index)
{
    links[index].page = NULL;
}
