/* SPDX-License-Identifier: Apache-2.0 */
#include "barebox.h"

enum {
    PANICS = 128,
    DEFS = 2048
};

gpurt_status_t gpurt_barebox_open(const gpurt_opened_t *opened, gpurt_boxmap_t *map,
                                  gpurt_error_t *err)
{
    gpurt_section_plan_t section = {
        .kind = opened->info.backend == GPURT_BACKEND_CUDA ? GPURT_SECTION_CUDA
                                                           : GPURT_SECTION_CPU,
        .device = (uint32_t)opened->info.device,
        .ring_bytes = GPURT_RING_MIN_BYTES, /* one, which nobody uses */
        .def_count = DEFS,
        .panic_count = PANICS,
        .state_bytes = GPURT_BOX_PAGE,
        .name = opened->info.name};
    gpurt_box_plan_t plan = {.struct_size = sizeof plan,
                             .section_count = 1,
                             .sections = &section,
                             .shelf_bytes = GPURT_BOX_PAGE,
                             .bare = true};
    gpurt_status_t st = gpurt_boxmap_create(&plan, map, err);

    if (st != GPURT_OK)
        return st;
    st = opened->ops->box_connect(opened->self, map, 0, err);
    if (st != GPURT_OK)
        gpurt_boxmap_detach(map);
    return st;
}

void gpurt_barebox_close(const gpurt_opened_t *opened, gpurt_boxmap_t *map)
{
    opened->ops->box_disconnect(opened->self, map, 0);
    gpurt_store_release_sys_u32(&map->box->xlife, GPURT_LIFE_CLOSED); /* B4.rel */
    gpurt_boxmap_detach(map);
}
