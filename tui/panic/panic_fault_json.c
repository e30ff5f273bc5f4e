/* SPDX-License-Identifier: Apache-2.0 */
/* The object "fault" of docs/PANIC_JSON.md. */
#include "fault_row.h"
#include "panic_fault.h"

#include <string.h>

enum {
    NAME = 256,
    PATH = 4096
};

static void put_triple(gpurt_json_t *j, const char *key, const uint32_t v[3])
{
    gpurt_json_triple(j, key, v[0], v[1], v[2]);
}

static void put_frame(gpurt_json_t *j, const char *key, const line_frame_t *frame,
                      const char *symbol, bool inlined)
{
    char name[NAME], path[PATH] = "";

    code_name(symbol, name, sizeof name);
    if (frame)
        fault_file(frame, path, sizeof path);
    gpurt_json_object(j, key);
    gpurt_json_text(j, "function", name);
    gpurt_json_text(j, "symbol", symbol);
    gpurt_json_text(j, "file", path);
    gpurt_json_number(j, "line", frame ? frame->line : 0);
    gpurt_json_bool(j, "inlined", inlined);
    gpurt_json_object_end(j);
}

/* The function that frame i stands in. */
static const char *symbol_of(const code_place_t *p, uint32_t i)
{
    return i < p->frame_count && p->frames[i].function[0] ? p->frames[i].function
                                                          : p->function;
}

static void put_frames(gpurt_json_t *j, const panic_dump_t *dump, const fault_t *f)
{
    gpurt_json_array(j, "frames");
    put_frame(j, NULL, f->place.frame_count ? &f->place.frames[0] : NULL,
              symbol_of(&f->place, 0), f->place.frame_count > 1);
    for (uint32_t i = 1; i < f->place.frame_count; i++)
        put_frame(j, NULL, &f->place.frames[i], symbol_of(&f->place, i),
                  i + 1 < f->place.frame_count);
    for (uint32_t i = 0; i < f->call_count; i++) {
        code_place_t place;

        if (code_find(dump->core, f->calls[i], &place))
            put_frame(j, NULL, place.frame_count ? &place.frames[0] : NULL, place.function,
                      false);
    }
    gpurt_json_array_end(j);
}

static void put_instruction(gpurt_json_t *j, const fault_t *f)
{
    static const char *const kinds[] = {"other", "load", "store", "atomic", "trap", "call"};
    bool named = f->op.kind < sizeof kinds / sizeof kinds[0];

    if (!f->has_op) {
        gpurt_json_null(j, "instruction");
        return;
    }
    gpurt_json_object(j, "instruction");
    gpurt_json_text(j, "kind", kinds[named ? f->op.kind : SASS_OTHER]);
    gpurt_json_text(j, "memory", sass_space_name(f->op.space));
    gpurt_json_number(j, "bytes", f->op.size);
    if (f->has_address)
        gpurt_json_hex(j, "address", f->address);
    else
        gpurt_json_null(j, "address");
    gpurt_json_bool(j, "ran_on", f->moved);
    gpurt_json_object_end(j);
}

static void put_which(gpurt_json_t *j, const fault_t *f)
{
    static const char *const clues[] = {[CULPRIT_UNKNOWN] = "unknown",
                                        [CULPRIT_ALONE] = "alone",
                                        [CULPRIT_GUARD] = "predicate",
                                        [CULPRIT_MISALIGNED] = "misaligned",
                                        [CULPRIT_BEYOND] = "beyond-shared",
                                        [CULPRIT_NULL] = "null",
                                        [CULPRIT_IMPOSSIBLE] = "no-address",
                                        [CULPRIT_EQUAL] = "same-address",
                                        [CULPRIT_SAME] = "same-page",
                                        [CULPRIT_UNMAPPED] = "not-in-dump",
                                        [CULPRIT_FAR] = "far"};
    const culprit_t *c = &f->culprit;
    char words[256];

    if (!f->narrowed) {
        gpurt_json_null(j, "which");
        return;
    }
    culprit_words(c, words, sizeof words);
    gpurt_json_object(j, "which");
    gpurt_json_text(j, "clue", clues[c->clue]);
    gpurt_json_bool(j, "sure", c->sure);
    gpurt_json_number(j, "may_be", c->lanes ? c->lanes : c->ran);
    gpurt_json_text(j, "text", words);
    gpurt_json_array(j, "addresses");
    for (uint32_t m = c->known; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);

        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "lane", lane);
        gpurt_json_hex(j, "address", c->addresses[lane]);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
}

static void put_registers(gpurt_json_t *j, const panic_dump_t *dump, const fault_t *f)
{
    const gpucore_warp_t *w = f->warp == GPUCORE_NONE ? NULL : &dump->core->warps[f->warp];
    uint32_t words[GPUCORE_REGISTERS_MAX];
    uint32_t count = w ? gpucore_registers(dump->core, w, &f->lane, words) : 0;

    gpurt_json_array(j, "registers");
    for (uint32_t i = 0; i < count; i++)
        gpurt_json_printf(j, NULL, "0x%08x", words[i]);
    gpurt_json_array_end(j);
    gpurt_json_number(j, "predicates", w ? gpucore_predicates(dump->core, w, &f->lane) : 0);
}

static void put_launch(gpurt_json_t *j, const panic_dump_t *dump, const fault_t *f)
{
    const gpucore_grid_t *g = fault_grid(dump->core, f);

    if (!g) {
        gpurt_json_null(j, "launch");
        return;
    }
    gpurt_json_object(j, "launch");
    gpurt_json_number(j, "registers", g->registers);
    put_triple(j, "grid", g->grid);
    put_triple(j, "block", g->block);
    put_triple(j, "cluster", g->cluster);
    gpurt_json_object_end(j);
}

static void put_doing(gpurt_json_t *j, const gpucore_t *core, const fault_group_t *g)
{
    uint32_t first, last;

    gpurt_json_text_known(j, "doing", standing_id(g->doing.kind));
    if (standing_lines(core, &g->place, &g->doing, &first, &last)) {
        gpurt_json_array(j, "loop");
        gpurt_json_number(j, NULL, first);
        gpurt_json_number(j, NULL, last);
        gpurt_json_array_end(j);
    } else {
        gpurt_json_null(j, "loop");
    }
    gpurt_json_bool(j, "suspect", g->suspect);
}

static void put_others(gpurt_json_t *j, const fault_book_t *book)
{
    gpurt_json_array(j, "others");
    for (uint32_t i = 0; i < book->other_count; i++) {
        const fault_group_t *g = &book->others[i];
        uint32_t n = g->place.frame_count;

        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "warps", g->warp_count);
        gpurt_json_number(j, "blocks", g->block_count);
        gpurt_json_number(j, "lanes", g->lane_count);
        put_frame(j, "at", n ? &g->place.frames[n - 1] : NULL, g->place.function, false);
        put_doing(j, book->core, g);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

static void put_dump(gpurt_json_t *j, const gpucore_t *core)
{
    const gpucore_about_t *a = &core->about;

    gpurt_json_object(j, "dump");
    gpurt_json_printf(j, "driver", "%u.%u", a->driver_major, a->driver_minor);
    gpurt_json_printf(j, "cuda", "%u.%u", a->cuda_major, a->cuda_minor);
    gpurt_json_number(j, "flags", a->flags);
    gpurt_json_number(j, "bytes", core->file.size);
    gpurt_json_bool(j, "cut", a->cut);
    gpurt_json_object_end(j);
}

void panic_fault_json(gpurt_json_t *j, const char *key, const panic_dump_t *dump,
                      const fault_t *f)
{
    static const uint32_t none[3];
    const gpucore_block_t *b = fault_block(dump->core, f);
    char name[NAME];

    gpurt_json_object(j, key);
    gpurt_json_text(j, "kind", f->kind->id);
    gpurt_json_text(j, "title", f->kind->title);
    gpurt_json_text(j, "meaning", f->kind->meaning);
    gpurt_json_text(j, "remedy", f->kind->remedy);
    gpurt_json_number(j, "exception", f->exception);
    gpurt_json_bool(j, "exact", f->exact);
    gpurt_json_hex(j, "pc", f->pc);
    code_name(f->kernel, name, sizeof name);
    gpurt_json_text(j, "kernel", name);
    gpurt_json_text(j, "kernel_symbol", f->kernel);
    gpurt_json_number(j, "offset", f->place.offset);
    put_frames(j, dump, f);
    put_instruction(j, f);
    put_which(j, f);
    gpurt_json_number(j, "lanes", f->lane_count);
    gpurt_json_number(j, "warps", f->warp_count);
    gpurt_json_number(j, "blocks", f->block_count);
    put_triple(j, "cluster", b ? b->cluster : none);
    gpurt_json_bool(j, "warp_ended", !b);
    put_launch(j, dump, f);
    put_registers(j, dump, f);
    put_others(j, &dump->book);
    put_dump(j, dump->core);
    gpurt_json_object_end(j);
}
