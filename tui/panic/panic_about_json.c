/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the object of `show`: docs/PANIC_JSON.md. */
#include "panic_about.h"
#include "panic_category.h"

#include <string.h>

static void put_triple(gpurt_json_t *j, const char *key, gpurt_dim3_t v)
{
    gpurt_json_triple(j, key, v.x, v.y, v.z);
}

/* null where there is none. strip: it is the name of a function. */
static void put_string(gpurt_json_t *j, const char *key, const gpurt_dictionary_t *d,
                       uint32_t id, bool strip)
{
    gpurt_site_info_t text;
    const char *start;
    uint32_t bytes;
    bool kernel;

    if (!gpurt_dictionary_get(d, id, &text) || text.kind != GPURT_DEF_STRING) {
        gpurt_json_null(j, key);
        return;
    }
    start = text.format;
    bytes = text.format_bytes;
    if (strip)
        start = panic_function(&text, &bytes, &kernel);
    gpurt_json_bytes(j, key, start, bytes);
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

static void put_promise(gpurt_json_t *j, const gpurt_dictionary_t *d,
                        const panic_facts_t *f)
{
    const faultkind_t *kind = panic_category(f->p.category);

    if (f->row->kind != GPURT_KIND_PANIC) {
        gpurt_json_null(j, "category");
        return;
    }
    gpurt_json_text(j, "category", kind->id);
    gpurt_json_number(j, "category_number", f->p.category);
    gpurt_json_text(j, "title", kind->title);
    gpurt_json_text(j, "remedy", kind->remedy);
    put_string(j, "condition", d, f->p.condition, false);
    gpurt_json_number(j, "own", f->p.own);
}

static void put_launch(gpurt_json_t *j, const gpurt_dictionary_t *d,
                       const gpurt_panicrow_t *p)
{
    put_string(j, "function", d, p->function, true);
    put_string(j, "kernel", d, kernel_of(d, p), true);
    gpurt_json_number(j, "raised", p->number);
    gpurt_json_number(j, "launch", p->launch);
    put_triple(j, "grid", p->grid);
    put_triple(j, "block_dim", p->block_dim);
    gpurt_json_number(j, "cluster_rank", p->cluster_rank);
    gpurt_json_number(j, "cluster_size", p->cluster_size);
    gpurt_json_number(j, "log_sequence", p->log_sequence);
}

void panic_value_json(gpurt_json_t *j, const gpurt_dictionary_t *d, uint32_t type,
                      uint64_t value)
{
    char room[GPURT_MESSAGE_MAX];
    gpurt_text_t text;

    gpurt_text_init(&text, room, sizeof room);
    gpurt_render_value(d, type, value, &text);
    gpurt_json_text(j, "type", panic_type_name(type));
    gpurt_json_bytes(j, "text", text.at, text.used);
    gpurt_json_hex(j, "bits", value);
}

/* Of a report they are the lane's calls, else functions that said GPURT_FRAME(). */
static void put_frames(gpurt_json_t *j, const char *key, const gpurt_dictionary_t *d,
                       const gpurt_panicrow_t *p, bool told)
{
    gpurt_json_array(j, key);
    for (uint32_t i = 0; told && i < p->frame_count; i++) {
        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "line", p->frames[i].line);
        put_string(j, "function", d, p->frames[i].function, true);
        put_string(j, "file", d, p->frames[i].file, false);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

static void put_report(gpurt_json_t *j, const gpurt_dictionary_t *d,
                       const gpurt_panicrow_t *p)
{
    put_frames(j, "calls", d, p, p->report != NULL);
    if (p->report)
        gpurt_json_bytes(j, "report", p->report, p->report_bytes);
    else
        gpurt_json_null(j, "report");
    gpurt_json_number(j, "report_left_out", p->report_left_out);
}

static void put_contexts(gpurt_json_t *j, const gpurt_dictionary_t *d,
                         const gpurt_panicrow_t *p)
{
    gpurt_json_array(j, "context");
    for (uint32_t i = 0; i < p->context_count; i++) {
        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "index", i);
        put_string(j, "name", d, p->contexts[i].name, false);
        panic_value_json(j, d, p->contexts[i].type, p->contexts[i].value);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

static void put_held(gpurt_json_t *j, const gpurt_dictionary_t *d,
                     const gpurt_panicrow_t *p)
{
    static const char *const kinds[] = {"object", "lock", "channel", "allocation"};

    gpurt_json_array(j, "held");
    for (uint32_t i = 0; i < p->held_count; i++) {
        uint32_t kind = p->held[i].kind;

        gpurt_json_object(j, NULL);
        gpurt_json_text(j, "kind", kinds[kind < sizeof kinds / sizeof kinds[0] ? kind : 0]);
        put_string(j, "name", d, p->held[i].name, false);
        gpurt_json_hex(j, "object", p->held[i].object);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

static void put_notes(gpurt_json_t *j, const gpurt_dictionary_t *d,
                      const gpurt_panicrow_t *p)
{
    put_contexts(j, d, p);
    put_frames(j, "shadow_frames", d, p, p->report == NULL);
    put_held(j, d, p);
    gpurt_json_number(j, "contexts_left_out", p->contexts_left_out);
    gpurt_json_number(j, "frames_left_out", p->frames_left_out);
    gpurt_json_number(j, "held_left_out", p->held_left_out);
    gpurt_json_number(j, "task", p->task);
    gpurt_json_number(j, "parent_task", p->parent_task);
}

static void put_bytes(gpurt_json_t *j, const char *key, const uint8_t *data, uint32_t bytes)
{
    char text[2 * GPURT_PANIC_WINDOW + 1] = "";

    for (uint32_t i = 0; i < bytes && i < GPURT_PANIC_WINDOW; i++)
        snprintf(text + 2 * i, 3, "%02x", data[i]);
    gpurt_json_text(j, key, text);
}

static void put_memory(gpurt_json_t *j, const gpurt_dictionary_t *d,
                       const gpurt_panicrow_t *p)
{
    gpurt_json_array(j, "memory");
    for (uint32_t i = 0; i < p->window_count; i++) {
        const gpurt_panicrow_window_t *w = &p->windows[i];

        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "size", w->size);
        put_string(j, "name", d, w->name, false);
        gpurt_json_hex(j, "base", w->base);
        gpurt_json_hex(j, "start", w->start);
        if (w->mark)
            gpurt_json_hex(j, "mark", w->mark);
        else
            gpurt_json_null(j, "mark");
        put_bytes(j, "bytes", w->data, w->bytes);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

void panic_about_json(gpurt_json_t *j, const gpurt_dictionary_t *d, const panic_facts_t *f)
{
    put_promise(j, d, f);
    if (!f->p.about)
        return;
    put_launch(j, d, &f->p);
    put_notes(j, d, &f->p);
    put_memory(j, d, &f->p);
    put_report(j, d, &f->p);
}
