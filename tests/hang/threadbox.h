/* SPDX-License-Identifier: Apache-2.0 */
/* threadbox.h - a box with one lane and threads of the host, for tests: who waits in it, at what. */
#ifndef GPURT_TESTS_THREADBOX_H
#define GPURT_TESTS_THREADBOX_H

#include "check.h"
#include "waitgraph.h"

#include <sys/syscall.h>
#include <unistd.h>

enum {
    DEVICE = 0, /* sections */
    HOST = 1
};
#define AGE_NS 3000000000ull /* of each wait */

static inline void box_make(gpurt_boxmap_t *map, uint32_t host_bytes)
{
    gpurt_section_plan_t sections[2] = {{.kind = GPURT_SECTION_CPU},
                                        {.kind = GPURT_SECTION_HOST,
                                         .state_bytes = host_bytes,
                                         .ring_bytes = GPURT_RING_MIN_BYTES,
                                         .def_count = 16,
                                         .panic_count = 1}};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 2, .sections = sections};

    CHECK(gpurt_boxmap_create(&plan, map, NULL) == GPURT_OK);
}

static const gpurt_waitable_t orders, answers; /* their addresses name them */

/* Number 1 or 2 of the device's objects, with the lane that holds it. */
static inline void object_put(const gpurt_boxmap_t *map, uint32_t number,
                              const gpurt_waitable_t *object, uint32_t role)
{
    uint32_t count;
    gpurt_state_head_t *head = gpurt_boxmap_state(map, DEVICE, &count);
    gpurt_waitable_entry_t *e = gpurt_state_entries(head, 1) + number - 1;
    gpurt_state_owner_t owner = {.place = 1};

    CHECK(head && number <= count);
    e->index = GPURT_WAITABLE_SINGLE;
    e->key = gpurt_waitable_key(object);
    gpurt_group_store(&e->xowners[gpurt_state_owner_at(role, 0)],
                      gpurt_state_owner_pack(&owner));
    gpurt_store_release_sys_u32(&e->xstate, GPURT_WAITABLE_CHANNEL + 1); /* W1.rel */
}

/* Its name is the definition of that number. */
static inline void object_name(const gpurt_boxmap_t *map, uint32_t number, const char *name)
{
    gpurt_def_t *def = gpurt_boxmap_def(map, DEVICE, number - 1);
    gpurt_state_head_t *head;
    uint32_t count;

    def->slots = 1;
    def->format_bytes = (uint16_t)strlen(name);
    memcpy(gpurt_def_text(def), name, strlen(name));
    gpurt_store_release_sys_u32(&def->xstate, GPURT_DEF_STRING); /* B3.rel */
    head = gpurt_boxmap_state(map, DEVICE, &count);
    gpurt_state_entries(head, 1)[number - 1].name = (uint16_t)number;
}

static inline void lane_waits(const gpurt_boxmap_t *map, uint32_t number, uint32_t reason,
                              uint64_t now_ns)
{
    uint32_t count;
    gpurt_state_wait_t w = {
        .object = number, .reason = reason, .time48 = (now_ns - AGE_NS) & GPURT_TIME_MASK};

    gpurt_group_store(gpurt_state_waits(gpurt_boxmap_state(map, DEVICE, &count)),
                      gpurt_state_wait_pack(&w));
}

static inline uint32_t self_number(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

/* The calling thread. */
static inline uint32_t thread_waits(gpurt_threadpage_t *to, const gpurt_waitable_t *object,
                                    uint32_t reason, bool limited, uint64_t now_ns)
{
    uint64_t since = now_ns - AGE_NS;
    gpurt_threadwait_t w = {.since = {(uint32_t)since, (uint32_t)(since >> 32)},
                            .thread = self_number(),
                            .key = gpurt_waitable_key(object),
                            .section = DEVICE,
                            .kind = GPURT_WAITABLE_CHANNEL,
                            .reason = (uint8_t)reason,
                            .limited = limited,
                            .name = "clerk",
                            .object = "orders"};

    return gpurt_threadpage_begin(to, &w);
}

#endif
