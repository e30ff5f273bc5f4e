/* SPDX-License-Identifier: Apache-2.0 */
#include "sitegate.h"

#include <gpurt/impl/logport.h>
#include <sys/mman.h>
#include <unistd.h>

/* The kernel says so without a fault: ENOMEM. A gate never crosses a page. */
static bool is_mapped(uintptr_t address)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    return msync((void *)(address & ~(page - 1)), 1, MS_ASYNC) == 0;
}

/* A gate that forgets may still say, in a forked child, that a thread of its parent's is about to
 * take the number. */
static bool is_of(uint32_t found, uint32_t slot, uint32_t value)
{
    return (found & ~GPURT_GATE_OFF) == slot + 1 ||
           (value == 0 && found == GPURT_GATE_CLAIMED);
}

void gpurt_sitegate_store(const gpurt_def_t *def, uint32_t slot, uint32_t value)
{
    uint32_t *gate = (uint32_t *)(uintptr_t)def->gate;

    if (!gate || !is_mapped((uintptr_t)gate))
        return;
    /* relaxed: a site may still log a few times by its old level */
    if (is_of(gpurt_load_relaxed_dev_u32(gate), slot, value))
        gpurt_store_relaxed_dev_u32(gate, value);
}

void gpurt_sitegate_forget(const gpurt_boxmap_t *map, uint32_t section)
{
    /* relaxed: no kernel runs; beyond them no page was ever touched */
    uint32_t taken = gpurt_load_relaxed_sys_u32(&map->box->sections[section].xdefs);

    for (uint32_t i = 0; i < taken && i < map->sections[section].def_count; i++) {
        const gpurt_def_t *def = gpurt_boxmap_def(map, section, i);

        if (gpurt_load_acquire_sys_u32(&def->xstate) == GPURT_DEF_SITE) /* B3.acq */
            gpurt_sitegate_store(def, i, 0);
    }
}
