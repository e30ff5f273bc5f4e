/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the object of `show`: docs/PANIC_JSON.md. */
#include "panic_about.h"
#include "panic_category.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

static void put_number(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, ",\"%s\":%" PRIu64, name, value);
}

static void put_address(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, ",\"%s\":\"0x%" PRIx64 "\"", name, value);
}

static void put_triple(FILE *out, const char *name, gpurt_dim3_t v)
{
    fprintf(out, ",\"%s\":[%u,%u,%u]", name, v.x, v.y, v.z);
}

static void put_text(FILE *out, const char *name, const char *text, size_t bytes)
{
    fprintf(out, ",\"%s\":", name);
    text_put_json(out, text, bytes);
}

/* null where there is none. strip: it is the name of a function. */
static void put_string(FILE *out, const gpurt_dictionary_t *d, const char *name,
                       uint32_t id, bool strip)
{
    gpurt_site_info_t text;
    const char *start;
    uint32_t bytes;
    bool kernel;

    if (!gpurt_dictionary_get(d, id, &text) || text.kind != GPURT_DEF_STRING) {
        fprintf(out, ",\"%s\":null", name);
        return;
    }
    start = text.format;
    bytes = text.format_bytes;
    if (strip)
        start = panic_function(&text, &bytes, &kernel);
    put_text(out, name, start, bytes);
}

/* A panic in the body of a kernel knows its name by that. */
static uint32_t kernel_of(const gpurt_dictionary_t *d, const gpurt_panicrow_t *p)
{
    gpurt_site_info_t text;
    bool kernel = false;
    uint32_t bytes;

    if (p->kernel || !gpurt_dictionary_get(d, p->function, &text))
        return p->kernel;
    panic_function(&text, &bytes, &kernel);
    return kernel ? p->function : 0;
}

static void put_promise(FILE *out, const gpurt_dictionary_t *d, const panic_facts_t *f)
{
    const faultkind_t *kind = panic_category(f->p.category);

    if (f->row->kind != GPURT_KIND_PANIC) {
        fputs(",\"category\":null", out);
        return;
    }
    put_text(out, "category", kind->id, strlen(kind->id));
    put_number(out, "category_number", f->p.category);
    put_text(out, "title", kind->title, strlen(kind->title));
    put_text(out, "remedy", kind->remedy, strlen(kind->remedy));
    put_string(out, d, "condition", f->p.condition, false);
    put_number(out, "own", f->p.own);
}

static void put_launch(FILE *out, const gpurt_dictionary_t *d, const gpurt_panicrow_t *p)
{
    put_string(out, d, "function", p->function, true);
    put_string(out, d, "kernel", kernel_of(d, p), true);
    put_number(out, "raised", p->number);
    put_number(out, "launch", p->launch);
    put_triple(out, "grid", p->grid);
    put_triple(out, "block_dim", p->block_dim);
    put_number(out, "cluster_rank", p->cluster_rank);
    put_number(out, "cluster_size", p->cluster_size);
    put_number(out, "log_sequence", p->log_sequence);
}

static void put_value(FILE *out, const gpurt_dictionary_t *d, uint32_t type, uint64_t value)
{
    char room[GPURT_MESSAGE_MAX];
    gpurt_text_t text;

    gpurt_text_init(&text, room, sizeof room);
    gpurt_render_value(d, type, value, &text);
    fprintf(out, ",\"type\":\"%s\"", panic_type_name(type));
    put_text(out, "text", text.at, text.used);
    put_address(out, "bits", value);
}

/* Of a report they are the lane's calls, else functions that said GPURT_FRAME(). */
static void put_frames(FILE *out, const gpurt_dictionary_t *d, const char *name,
                       const gpurt_panicrow_t *p, bool told)
{
    fprintf(out, ",\"%s\":[", name);
    for (uint32_t i = 0; told && i < p->frame_count; i++) {
        fprintf(out, "%s{\"line\":%u", i ? "," : "", p->frames[i].line);
        put_string(out, d, "function", p->frames[i].function, true);
        put_string(out, d, "file", p->frames[i].file, false);
        fputc('}', out);
    }
    fputc(']', out);
}

static void put_report(FILE *out, const gpurt_dictionary_t *d, const gpurt_panicrow_t *p)
{
    put_frames(out, d, "calls", p, p->report != NULL);
    if (p->report)
        put_text(out, "report", p->report, p->report_bytes);
    else
        fputs(",\"report\":null", out);
    put_number(out, "report_left_out", p->report_left_out);
}

static void put_notes(FILE *out, const gpurt_dictionary_t *d, const gpurt_panicrow_t *p)
{
    static const char *const kinds[] = {"object", "lock", "channel", "allocation"};

    fputs(",\"context\":[", out);
    for (uint32_t i = 0; i < p->context_count; i++) {
        fprintf(out, "%s{\"index\":%u", i ? "," : "", i);
        put_string(out, d, "name", p->contexts[i].name, false);
        put_value(out, d, p->contexts[i].type, p->contexts[i].value);
        fputc('}', out);
    }
    fputc(']', out);
    put_frames(out, d, "shadow_frames", p, p->report == NULL);
    fputs(",\"held\":[", out);
    for (uint32_t i = 0; i < p->held_count; i++) {
        uint32_t kind = p->held[i].kind;

        fprintf(out, "%s{\"kind\":\"%s\"", i ? "," : "",
                kinds[kind < sizeof kinds / sizeof kinds[0] ? kind : 0]);
        put_string(out, d, "name", p->held[i].name, false);
        put_address(out, "object", p->held[i].object);
        fputc('}', out);
    }
    fputc(']', out);
    put_number(out, "contexts_left_out", p->contexts_left_out);
    put_number(out, "frames_left_out", p->frames_left_out);
    put_number(out, "held_left_out", p->held_left_out);
    put_number(out, "task", p->task);
    put_number(out, "parent_task", p->parent_task);
}

static void put_memory(FILE *out, const gpurt_dictionary_t *d, const gpurt_panicrow_t *p)
{
    fputs(",\"memory\":[", out);
    for (uint32_t i = 0; i < p->window_count; i++) {
        const gpurt_panicrow_window_t *w = &p->windows[i];

        fprintf(out, "%s{\"size\":%" PRIu64, i ? "," : "", w->size);
        put_string(out, d, "name", w->name, false);
        put_address(out, "base", w->base);
        put_address(out, "start", w->start);
        if (w->mark)
            put_address(out, "mark", w->mark);
        else
            fputs(",\"mark\":null", out);
        fputs(",\"bytes\":\"", out);
        for (uint32_t k = 0; k < w->bytes; k++)
            fprintf(out, "%02x", w->data[k]);
        fputs("\"}", out);
    }
    fputc(']', out);
}

void panic_about_json(FILE *out, const gpurt_dictionary_t *d, const panic_facts_t *f)
{
    put_promise(out, d, f);
    if (!f->p.about)
        return;
    put_launch(out, d, &f->p);
    put_notes(out, d, &f->p);
    put_memory(out, d, &f->p);
    put_report(out, d, &f->p);
}
