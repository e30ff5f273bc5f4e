/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_fault.h"

#include "fault_row.h"
#include "plural.h"

#include <string.h>

enum {
    NAME = 256,
    PATH = 4096,
    GROUPS = 6
};

static void field(panic_line_t *line, const panic_style_t *style, const char *name)
{
    panic_line_begin(line, style);
    gpurt_text_printf(&line->text, "  %-9s ", name);
}

static void add_plain(gpurt_text_t *out, const char *text)
{
    gpurt_render_plain(out, text, strlen(text));
}

static void add_base(gpurt_text_t *out, const line_frame_t *frame)
{
    uint32_t bytes;
    const char *base = panic_base(frame->file, (uint32_t)strlen(frame->file), &bytes);

    gpurt_render_plain(out, base, bytes);
    gpurt_text_printf(out, ":%u", frame->line);
}

/* ---- where from -------------------------------------------------------------------- */
/* The calls that were inlined, then those that stood on the stack, innermost first. */
static void print_calls(const panic_dump_t *dump, const fault_t *f,
                        const panic_style_t *style)
{
    uint32_t site = fault_site(&f->place);
    const char *word = "called at";
    char name[NAME];
    panic_line_t line;
    code_place_t place;

    for (uint32_t i = 0; i < f->place.frame_count; i++) {
        const char *in = f->place.frames[i].function;

        if (i == site)
            continue; /* told before */

        code_name(in[0] ? in : f->place.function, name, sizeof name);
        field(&line, style, i < site ? "inside" : word);
        add_base(&line.text, &f->place.frames[i]);
        gpurt_text_printf(&line.text, " in ");
        add_plain(&line.text, name);
        gpurt_text_printf(&line.text, " (inlined)");
        panic_line_end(&line, NULL);
        word = i < site ? word : "";
    }
    for (uint32_t i = 0; i < f->call_count; i++) {
        if (!code_find(dump->core, f->calls[i], &place))
            continue;
        field(&line, style, word);
        if (place.frame_count)
            add_base(&line.text, &place.frames[0]);
        code_name(place.function, name, sizeof name);
        gpurt_text_printf(&line.text, "%s", place.frame_count ? " in " : "");
        add_plain(&line.text, name);
        if (!place.frame_count)
            gpurt_text_printf(&line.text, "+0x%llx", (unsigned long long)place.offset);
        panic_line_end(&line, NULL);
        word = "";
    }
}

static void print_kernel(const fault_t *f, const panic_style_t *style)
{
    char function[NAME], kernel[NAME];
    panic_line_t line;

    fault_function(&f->place, function, sizeof function);
    code_name(f->kernel, kernel, sizeof kernel);
    field(&line, style, "code");
    add_plain(&line.text, function);
    gpurt_text_printf(&line.text, ", kernel ");
    add_plain(&line.text, kernel[0] ? kernel : "?");
    if (!f->place.frame_count)
        gpurt_text_printf(&line.text, " (built without -lineinfo: no source line)");
    panic_line_end(&line, NULL);
}

/* ---- with what --------------------------------------------------------------------- */
static void add_register(gpurt_text_t *out, const panic_dump_t *dump, const fault_t *f,
                         uint32_t number, const char *as)
{
    uint32_t value;

    if (number == SASS_RZ || !fault_register(dump->core, f, number, &value))
        return;
    gpurt_text_printf(out, "R%u = 0x%08x%s%s  ", number, value, as[0] ? " " : "", as);
}

static void print_deed(const panic_dump_t *dump, const fault_t *f,
                       const panic_style_t *style)
{
    uint32_t words = f->op.size > 4 ? f->op.size / 4 : 1;
    panic_line_t line;
    char deed[160];

    fault_deed(f, deed, sizeof deed);
    if (!deed[0])
        return;
    field(&line, style, "it");
    gpurt_text_printf(&line.text, "%s", deed);
    if (!f->has_address && f->moved && !f->vague)
        gpurt_text_printf(&line.text, "; it ran on before it stopped, and the address is "
                                      "no longer in its registers");
    panic_line_end(&line, NULL);
    if ((f->moved || f->vague) && !f->has_address)
        return;
    field(&line, style, "registers");
    add_register(&line.text, dump, f, f->op.base, "address");
    if (f->op.wide && f->op.base != SASS_RZ)
        add_register(&line.text, dump, f, f->op.base + 1, "");
    if (f->op.offset)
        gpurt_text_printf(&line.text, "offset %d  ", f->op.offset);
    for (uint32_t i = 0; i < words && f->op.kind == SASS_STORE && f->op.value != SASS_RZ;
         i++)
        add_register(&line.text, dump, f, f->op.value + i, i ? "" : "value");
    panic_line_end(&line, NULL);
}

/* Which lanes it was, and what it is told by. */
static void print_culprit(const fault_t *f, const panic_style_t *style)
{
    char words[256];
    panic_line_t line;

    if (!f->narrowed || (f->culprit.clue == CULPRIT_ALONE && f->culprit.sure))
        return;
    culprit_words(&f->culprit, words, sizeof words);
    field(&line, style, "which");
    gpurt_text_printf(&line.text, "%s", words);
    panic_line_end(&line, f->culprit.lanes ? NULL : PANIC_YELLOW);
}

static void print_launch(const panic_dump_t *dump, const fault_t *f,
                         const panic_style_t *style)
{
    const gpucore_grid_t *g = fault_grid(dump->core, f);
    const gpucore_block_t *b = fault_block(dump->core, f);
    panic_line_t line;

    if (!b) {
        field(&line, style, "failed");
        gpurt_text_printf(&line.text, "a warp of this SM; it had ended, and block and "
                                      "thread are not known");
        panic_line_end(&line, PANIC_YELLOW);
        return;
    }
    field(&line, style, f->snapshot ? "there" : "failed");
    gpurt_text_printf(&line.text, "%s%llu lane%s, %u warp%s, %u block%s",
                      f->vague ? "among " : "", (unsigned long long)f->lane_count,
                      gpurt_plural(f->lane_count, "s"), f->warp_count,
                      gpurt_plural(f->warp_count, "s"), f->block_count,
                      gpurt_plural(f->block_count, "s"));
    panic_line_end(&line, NULL);
    if (!g)
        return;
    field(&line, style, "launch");
    gpurt_text_printf(&line.text, "grid %u,%u,%u  block %u,%u,%u  %u registers a lane",
                      g->grid[0], g->grid[1], g->grid[2], g->block[0], g->block[1],
                      g->block[2], g->registers);
    if (g->cluster[0] > 1 || g->cluster[1] > 1 || g->cluster[2] > 1)
        gpurt_text_printf(&line.text, "  cluster %u,%u,%u of size %u,%u,%u", b->cluster[0],
                          b->cluster[1], b->cluster[2], g->cluster[0], g->cluster[1],
                          g->cluster[2]);
    panic_line_end(&line, NULL);
}

void panic_fault_facts(const panic_dump_t *dump, const fault_t *f,
                       const panic_style_t *style)
{
    print_kernel(f, style);
    print_calls(dump, f, style);
    print_deed(dump, f, style);
    print_culprit(f, style);
    print_launch(dump, f, style);
}

/* ---- the others -------------------------------------------------------------------- */
/* ", polls at lines 38-43  <- suspect" */
static void add_doing(gpurt_text_t *out, const gpucore_t *core, const fault_group_t *g)
{
    const char *words = standing_words(g->doing.kind);
    uint32_t first, last;

    if (words)
        gpurt_text_printf(out, ", %s", words);
    if (standing_lines(core, &g->place, &g->doing, &first, &last))
        gpurt_text_printf(out, first == last ? " at line %u" : " at lines %u-%u", first,
                          last);
    if (g->suspect)
        gpurt_text_printf(out, "  <- suspect");
}

static void print_group(const gpucore_t *core, const fault_group_t *g,
                        const panic_style_t *style)
{
    uint32_t count = g->place.frame_count;
    char name[NAME];
    panic_line_t line;

    panic_line_begin(&line, style);
    gpurt_text_printf(&line.text, "  %5u warp%s of %4u block%s  ", g->warp_count,
                      g->warp_count == 1 ? " " : "s", g->block_count,
                      g->block_count == 1 ? " " : "s");
    if (count) {
        add_base(&line.text, &g->place.frames[count - 1]);
        gpurt_text_printf(&line.text, " in ");
    }
    code_name(g->place.function, name, sizeof name);
    add_plain(&line.text, name[0] ? name : "code that is not in the dump");
    if (!count && name[0])
        gpurt_text_printf(&line.text, "+0x%llx", (unsigned long long)g->place.offset);
    add_doing(&line.text, core, g);
    panic_line_end(&line, g->suspect ? PANIC_YELLOW : NULL);
}

static uint32_t warps_of(const fault_book_t *book)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < book->other_count; i++)
        sum += book->others[i].warp_count;
    return sum;
}

static void print_others(const fault_book_t *book, const fault_t *f,
                         const panic_style_t *style)
{
    uint32_t shown = 0, rest = warps_of(book);

    if (rest)
        fprintf(style->out,
                f->snapshot ? "\nall %u warp%s:\n"
                            : "\nmeanwhile, %u warp%s that did not fail:\n",
                rest, gpurt_plural(rest, "s"));
    for (; shown < book->other_count && shown < GROUPS; shown++) {
        rest -= book->others[shown].warp_count;
        print_group(book->core, &book->others[shown], style);
    }
    if (rest)
        fprintf(style->out, "  %5u warp%s at %u other place%s\n", rest,
                gpurt_plural(rest, "s"), book->other_count - shown,
                gpurt_plural(book->other_count - shown, "s"));
    for (uint32_t i = 0; i < book->count; i++)
        if (&book->faults[i] != f)
            fprintf(style->out, "the dump has another fault: %s, %llu lane%s\n",
                    book->faults[i].kind->title,
                    (unsigned long long)book->faults[i].lane_count,
                    gpurt_plural(book->faults[i].lane_count, "s"));
}

void panic_fault_rest(const panic_dump_t *dump, const fault_t *f,
                      const panic_style_t *style)
{
    const gpucore_about_t *a = &dump->core->about;

    print_others(&dump->book, f, style);
    fprintf(style->out, "\nwhy:  %s\n", f->kind->meaning);
    panic_line_wrap("help: ", f->kind->remedy, PANIC_CYAN, style);
    if (!f->place.frame_count)
        fputs(
            "      Build with nvcc -lineinfo to see source lines; it costs nothing at run "
            "time.\n",
            style->out);
    if (a->cut || dump->book.left_out)
        fprintf(style->out, "the dump is %s; there may have been more\n",
                a->cut ? "cut off" : "larger than what is counted here");
}
