/* SPDX-License-Identifier: Apache-2.0 */
/* The object "fault" of docs/PANIC_JSON.md. */
#include "fault_row.h"
#include "panic_fault.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

enum {
    NAME = 256,
    PATH = 4096
};

static void put(FILE *out, const char *name, const char *text)
{
    fprintf(out, ",\"%s\":", name);
    text_put_json(out, text, strlen(text));
}

static void put_number(FILE *out, const char *name, uint64_t v)
{
    fprintf(out, ",\"%s\":%" PRIu64, name, v);
}

static void put_bool(FILE *out, const char *name, bool v)
{
    fprintf(out, ",\"%s\":%s", name, v ? "true" : "false");
}

static void put_triple(FILE *out, const char *name, const uint32_t v[3])
{
    fprintf(out, ",\"%s\":[%u,%u,%u]", name, v[0], v[1], v[2]);
}

static void put_frame(FILE *out, const line_frame_t *frame, const char *symbol,
                      bool inlined)
{
    char name[NAME], path[PATH] = "";

    code_name(symbol, name, sizeof name);
    if (frame)
        fault_file(frame, path, sizeof path);
    fputs("{\"function\":", out);
    text_put_json(out, name, strlen(name));
    put(out, "symbol", symbol);
    put(out, "file", path);
    put_number(out, "line", frame ? frame->line : 0);
    put_bool(out, "inlined", inlined);
    fputc('}', out);
}

/* The function that frame i stands in. */
static const char *symbol_of(const code_place_t *p, uint32_t i)
{
    return i < p->frame_count && p->frames[i].function[0] ? p->frames[i].function
                                                          : p->function;
}

static void put_frames(const panic_dump_t *dump, const fault_t *f, FILE *out)
{
    fputs(",\"frames\":[", out);
    put_frame(out, f->place.frame_count ? &f->place.frames[0] : NULL,
              symbol_of(&f->place, 0), f->place.frame_count > 1);
    for (uint32_t i = 1; i < f->place.frame_count; i++) {
        fputc(',', out);
        put_frame(out, &f->place.frames[i], symbol_of(&f->place, i),
                  i + 1 < f->place.frame_count);
    }
    for (uint32_t i = 0; i < f->call_count; i++) {
        code_place_t place;

        if (!code_find(dump->core, f->calls[i], &place))
            continue;
        fputc(',', out);
        put_frame(out, place.frame_count ? &place.frames[0] : NULL, place.function, false);
    }
    fputc(']', out);
}

static void put_instruction(const fault_t *f, FILE *out)
{
    static const char *const kinds[] = {"other", "load", "store", "atomic", "trap", "call"};
    bool named = f->op.kind < sizeof kinds / sizeof kinds[0];

    fputs(",\"instruction\":", out);
    if (!f->has_op) {
        fputs("null", out);
        return;
    }
    fprintf(out, "{\"kind\":\"%s\",\"memory\":", kinds[named ? f->op.kind : SASS_OTHER]);
    text_put_json(out, sass_space_name(f->op.space), strlen(sass_space_name(f->op.space)));
    put_number(out, "bytes", f->op.size);
    fputs(",\"address\":", out);
    if (f->has_address)
        fprintf(out, "\"0x%" PRIx64 "\"", f->address);
    else
        fputs("null", out);
    put_bool(out, "ran_on", f->moved);
    fputc('}', out);
}

static void put_which(const fault_t *f, FILE *out)
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
    bool first = true;
    char words[256];

    fputs(",\"which\":", out);
    if (!f->narrowed) {
        fputs("null", out);
        return;
    }
    culprit_words(c, words, sizeof words);
    fprintf(out, "{\"clue\":\"%s\"", clues[c->clue]);
    put_bool(out, "sure", c->sure);
    put_number(out, "may_be", c->lanes ? c->lanes : c->ran);
    put(out, "text", words);
    fputs(",\"addresses\":[", out);
    for (uint32_t m = c->known; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);

        fprintf(out, "%s{\"lane\":%u,\"address\":\"0x%" PRIx64 "\"}", first ? "" : ",",
                lane, c->addresses[lane]);
        first = false;
    }
    fputs("]}", out);
}

static void put_registers(const panic_dump_t *dump, const fault_t *f, FILE *out)
{
    const gpucore_warp_t *w = f->warp == GPUCORE_NONE ? NULL : &dump->core->warps[f->warp];
    uint32_t words[GPUCORE_REGISTERS_MAX];
    uint32_t count = w ? gpucore_registers(dump->core, w, &f->lane, words) : 0;

    fputs(",\"registers\":[", out);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%s\"0x%08x\"", i ? "," : "", words[i]);
    fprintf(out, "],\"predicates\":%u",
            w ? gpucore_predicates(dump->core, w, &f->lane) : 0);
}

static void put_launch(const panic_dump_t *dump, const fault_t *f, FILE *out)
{
    const gpucore_grid_t *g = fault_grid(dump->core, f);

    fputs(",\"launch\":", out);
    if (!g) {
        fputs("null", out);
        return;
    }
    fprintf(out, "{\"registers\":%u", g->registers);
    put_triple(out, "grid", g->grid);
    put_triple(out, "block", g->block);
    put_triple(out, "cluster", g->cluster);
    fputc('}', out);
}

static void put_doing(const gpucore_t *core, const fault_group_t *g, FILE *out)
{
    const char *id = standing_id(g->doing.kind);
    uint32_t first, last;

    fputs(",\"doing\":", out);
    if (id)
        text_put_json(out, id, strlen(id));
    else
        fputs("null", out);
    if (standing_lines(core, &g->place, &g->doing, &first, &last))
        fprintf(out, ",\"loop\":[%u,%u]", first, last);
    else
        fputs(",\"loop\":null", out);
    put_bool(out, "suspect", g->suspect);
}

static void put_others(const fault_book_t *book, FILE *out)
{
    fputs(",\"others\":[", out);
    for (uint32_t i = 0; i < book->other_count; i++) {
        const fault_group_t *g = &book->others[i];
        uint32_t n = g->place.frame_count;

        fprintf(out,
                "%s{\"warps\":%u,\"blocks\":%u,\"lanes\":%" PRIu64 ",\"at\":", i ? "," : "",
                g->warp_count, g->block_count, g->lane_count);
        put_frame(out, n ? &g->place.frames[n - 1] : NULL, g->place.function, false);
        put_doing(book->core, g, out);
        fputc('}', out);
    }
    fputc(']', out);
}

static void put_dump(const gpucore_t *core, FILE *out)
{
    const gpucore_about_t *a = &core->about;

    fprintf(out, ",\"dump\":{\"driver\":\"%u.%u\",\"cuda\":\"%u.%u\"", a->driver_major,
            a->driver_minor, a->cuda_major, a->cuda_minor);
    put_number(out, "flags", a->flags);
    put_number(out, "bytes", core->file.size);
    put_bool(out, "cut", a->cut);
    fputc('}', out);
}

void panic_fault_json(const panic_dump_t *dump, const fault_t *f, FILE *out)
{
    static const uint32_t none[3];
    const gpucore_block_t *b = fault_block(dump->core, f);
    char name[NAME];

    fputs("{\"kind\":", out);
    text_put_json(out, f->kind->id, strlen(f->kind->id));
    put(out, "title", f->kind->title);
    put(out, "meaning", f->kind->meaning);
    put(out, "remedy", f->kind->remedy);
    put_number(out, "exception", f->exception);
    put_bool(out, "exact", f->exact);
    fprintf(out, ",\"pc\":\"0x%" PRIx64 "\"", f->pc);
    code_name(f->kernel, name, sizeof name);
    put(out, "kernel", name);
    put(out, "kernel_symbol", f->kernel);
    put_number(out, "offset", f->place.offset);
    put_frames(dump, f, out);
    put_instruction(f, out);
    put_which(f, out);
    put_number(out, "lanes", f->lane_count);
    put_number(out, "warps", f->warp_count);
    put_number(out, "blocks", f->block_count);
    put_triple(out, "cluster", b ? b->cluster : none);
    put_bool(out, "warp_ended", !b);
    put_launch(dump, f, out);
    put_registers(dump, f, out);
    put_others(&dump->book, out);
    put_dump(dump->core, out);
    fputc('}', out);
}
