/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_gpucore - any bytes as a GPU core dump: opened, added up, every lane looked at. A
 * test feeds it damaged dumps (test_gpucore_damage); clang builds a fuzzer of it with
 * -fsanitize=fuzzer,address,undefined and the room's sources. */
#include "gpufault.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    WARPS_LOOKED_AT = 64
};

static void look_at_lanes(const gpucore_t *core, const gpucore_warp_t *w)
{
    uint32_t words[GPUCORE_REGISTERS_MAX];
    uint64_t calls[GPUCORE_CALLS_MAX];
    gpucore_lane_t lane;

    gpucore_uniform(core, w, words);
    for (uint32_t row = 0; row < GPUCORE_LANES; row++) {
        if (!gpucore_lane(core, w, row, &lane))
            continue;
        gpucore_registers(core, w, &lane, words);
        gpucore_predicates(core, w, &lane);
        gpucore_calls(core, w, &lane, calls);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes_t file = {data, size};
    fault_book_t book;
    gpucore_t *core;
    char text[128];

    if (gpucore_open_bytes(file, "fuzz", &core, NULL) != GPURT_OK)
        return 0;
    if (fault_book_fill(&book, core, NULL) == GPURT_OK) {
        for (uint32_t i = 0; i < book.count; i++) {
            fault_deed(&book.faults[i], text, sizeof text);
            code_name(book.faults[i].place.function, text, sizeof text);
            fault_block(core, &book.faults[i]);
            fault_grid(core, &book.faults[i]);
            fault_sm(core, &book.faults[i]);
        }
        fault_book_fini(&book);
    }
    for (uint32_t i = 0; i < core->warp_count && i < WARPS_LOOKED_AT; i++)
        look_at_lanes(core, &core->warps[i]);
    gpucore_close(core);
    return 0;
}
