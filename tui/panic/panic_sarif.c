/* SPDX-License-Identifier: Apache-2.0 */
/* The panics as SARIF 2.1.0, for code scanning and for editors: a result a site, a rule a
 * kind of failure, the calls of a fault as a stack. */
#include "fault_row.h"
#include "panic_brief.h"
#include "panic_who.h"

#include <gpurt/gpurt.h>

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"
enum {
    NAME = 256,
    RULES = 64
};

static const faultkind_t hang_kind = {
    0, "hang", "hang",
    "Device code waits for what cannot come: a circle of locks, channels or barriers, or "
    "nothing that moved for too long.",
    "Take locks in one order everywhere; see who waits for whom: gpurt-panic show."};

/* Viewers show the text decoded, so what hides or turns others is spelt out in the text. */
static void put(gpurt_json_t *j, const char *key, const char *text, size_t bytes)
{
    char room[GPURT_MESSAGE_MAX];
    gpurt_text_t shown;

    gpurt_text_init(&shown, room, sizeof room);
    gpurt_render_plain(&shown, text, bytes);
    gpurt_json_bytes(j, key, shown.at, shown.used);
}

/* {"text":...} */
static void put_message(gpurt_json_t *j, const char *key, const char *text, size_t bytes)
{
    gpurt_json_object(j, key);
    put(j, "text", text, bytes);
    gpurt_json_object_end(j);
}

/* ---- places ---------------------------------------------------------------------------- */
/* Percent-encodes what a URI may not hold. */
static void put_uri(gpurt_json_t *j, const char *scheme, const char *path, const char *end)
{
    char room[3 * PATH_MAX + 16];
    gpurt_text_t uri;

    gpurt_text_init(&uri, room, sizeof room);
    gpurt_text_printf(&uri, "%s", scheme);
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;

        if (isalnum(c) || strchr("/-_.~+@:", c))
            gpurt_text_add(&uri, path, 1);
        else
            gpurt_text_printf(&uri, "%%%02X", c);
    }
    gpurt_text_printf(&uri, "%s", end);
    gpurt_json_bytes(j, "uri", uri.at, uri.used);
}

/* Below the folder of the sources, if one is named, the path is a part of it. */
static void put_location(gpurt_json_t *j, const char *file, uint32_t line, const char *root)
{
    size_t part = root ? strlen(root) : 0;
    bool below = part && strncmp(file, root, part) == 0 && file[part] == '/';

    gpurt_json_object(j, "physicalLocation");
    gpurt_json_object(j, "artifactLocation");
    put_uri(j, !below && file[0] == '/' ? "file://" : "", below ? file + part + 1 : file,
            "");
    if (below)
        gpurt_json_text(j, "uriBaseId", "SRCROOT");
    gpurt_json_object_end(j);
    if (line) {
        gpurt_json_object(j, "region");
        gpurt_json_number(j, "startLine", line);
        gpurt_json_object_end(j);
    }
    gpurt_json_object_end(j);
}

/* A place of a stack; file: NULL where it is not known. */
static void put_call(gpurt_json_t *j, const char *file, uint32_t line, const char *root,
                     const char *function, size_t bytes)
{
    gpurt_json_object(j, NULL);
    gpurt_json_object(j, "location");
    if (file)
        put_location(j, file, line, root);
    gpurt_json_array(j, "logicalLocations");
    gpurt_json_object(j, NULL);
    put(j, "fullyQualifiedName", function, bytes);
    gpurt_json_text(j, "kind", "function");
    gpurt_json_object_end(j);
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
    gpurt_json_object_end(j);
}

static void put_frame(gpurt_json_t *j, const line_frame_t *frame, const char *symbol,
                      const char *root)
{
    char name[NAME], file[PATH_MAX];

    code_name(symbol, name, sizeof name);
    if (frame)
        fault_file(frame, file, sizeof file);
    put_call(j, frame ? file : NULL, frame ? frame->line : 0, root, name, strlen(name));
}

static void stack_begin(gpurt_json_t *j)
{
    gpurt_json_array(j, "stacks");
    gpurt_json_object(j, NULL);
    gpurt_json_array(j, "frames");
}

static void stack_end(gpurt_json_t *j)
{
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
    gpurt_json_array_end(j);
}

static void put_stack(gpurt_json_t *j, const panic_dump_t *dump, const fault_t *f,
                      const char *root)
{
    const code_place_t *p = &f->place;

    stack_begin(j);
    for (uint32_t i = 0; i == 0 || i < p->frame_count; i++) {
        const line_frame_t *frame = p->frame_count ? &p->frames[i] : NULL;

        put_frame(j, frame, frame && frame->function[0] ? frame->function : p->function,
                  root);
    }
    for (uint32_t i = 0; i < f->call_count; i++) {
        code_place_t call;

        if (code_find(dump->core, f->calls[i], &call))
            put_frame(j, call.frame_count ? &call.frames[0] : NULL, call.function, root);
    }
    stack_end(j);
}

/* The calls that a report of the CPU back end knows; nothing where it knows none. */
static void put_calls(gpurt_json_t *j, const panic_brief_t *b, const char *root)
{
    const gpurt_panicrow_t *p = &b->facts.p;
    const gpurt_dictionary_t *d = b->sites;
    gpurt_site_info_t text;
    char path[PATH_MAX];

    if (!p->report || p->frame_count == 0)
        return;
    stack_begin(j);
    for (uint32_t i = 0; i < p->frame_count; i++) {
        const gpurt_panic_frame_t *call = &p->frames[i];
        const char *file = NULL;

        if (gpurt_dictionary_get(d, call->file, &text) && text.kind == GPURT_DEF_STRING) {
            snprintf(path, sizeof path, "%.*s", (int)text.format_bytes, text.format);
            file = path;
        }
        if (gpurt_dictionary_get(d, call->function, &text) && text.kind == GPURT_DEF_STRING)
            put_call(j, file, call->line, root, text.format, text.format_bytes);
        else
            put_call(j, file, call->line, root, "?", 1);
    }
    stack_end(j);
}

/* ---- rules ----------------------------------------------------------------------------- */
/* Owner: the caller. A site's rule is that of its first failure. */
typedef struct rules {
    const faultkind_t *kinds[RULES];
    uint32_t count;
} rules_t;

static uint32_t rule_of(rules_t *r, const faultkind_t *kind)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (strcmp(r->kinds[i]->id, kind->id) == 0)
            return i;
    if (r->count == RULES)
        return 0;
    r->kinds[r->count] = kind;
    return r->count++;
}

/* Where the dump was not kept, its number is all that tells the kind. */
static const faultkind_t *kind_of(const panic_brief_t *b, const fault_t *fault)
{
    uint32_t exception = b->facts.p.exception;

    return b->category                              ? b->category
           : b->entry->row->kind == GPURT_KIND_HANG ? &hang_kind
           : fault                                  ? fault->kind
                   : faultkind_of(exception ? exception : FAULT_TRAP);
}

static void put_rules(gpurt_json_t *j, const rules_t *r)
{
    gpurt_json_array(j, "rules");
    for (uint32_t i = 0; i < r->count; i++) {
        const faultkind_t *k = r->kinds[i];

        gpurt_json_object(j, NULL);
        gpurt_json_printf(j, "id", "gpurt/%s", k->id);
        put_message(j, "shortDescription", k->title, strlen(k->title));
        put_message(j, "fullDescription", k->meaning, strlen(k->meaning));
        put_message(j, "help", k->remedy, strlen(k->remedy));
        gpurt_json_object(j, "defaultConfiguration");
        gpurt_json_text(j, "level", "error");
        gpurt_json_object_end(j);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

/* ---- results --------------------------------------------------------------------------- */
/* The same site of another run has the same number. */
static uint64_t fingerprint(const gpurt_site_info_t *s)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    uint32_t base_bytes;
    const char *base = panic_base(s->file, s->file_bytes, &base_bytes);

    for (uint32_t i = 0; i < base_bytes; i++)
        h = (h ^ (uint8_t)base[i]) * 0x100000001b3u;
    for (uint32_t i = 0; i < s->format_bytes; i++)
        h = (h ^ (uint8_t)s->format[i]) * 0x100000001b3u;
    return (h ^ s->line) * 0x100000001b3u;
}

/* What makes its site known in other runs, and where that is. */
static void put_place(gpurt_json_t *j, const panic_brief_t *b, const char *root)
{
    const gpurt_site_info_t *site = &b->facts.site;
    char file[PATH_MAX];

    if (site->kind != GPURT_DEF_SITE)
        return;
    gpurt_json_object(j, "partialFingerprints");
    gpurt_json_printf(j, "gpurtSite/v1", "%016" PRIx64, fingerprint(site));
    gpurt_json_object_end(j);
    snprintf(file, sizeof file, "%.*s", (int)site->file_bytes, site->file);
    if (!file[0])
        return;
    gpurt_json_array(j, "locations");
    gpurt_json_object(j, NULL);
    put_location(j, file, site->line, root);
    gpurt_json_object_end(j);
    gpurt_json_array_end(j);
}

static void put_result(gpurt_json_t *j, const panic_book_t *book, uint32_t number,
                       rules_t *rules, const char *root)
{
    const panic_site_t *site = &book->sites[number];
    const panic_entry_t *e = &book->list[site->first];
    const fault_t *fault = NULL;
    panic_dump_t dump = {0};
    bool borrowed = true;
    panic_brief_t b;
    uint32_t rule;

    panic_brief_read(e, &b);
    if (e->row->kind == GPURT_KIND_FAULT)
        panic_dump_of(e->source, &b.facts, &dump, &fault, &borrowed, NULL);
    rule = rule_of(rules, kind_of(&b, fault));
    gpurt_json_object(j, NULL);
    gpurt_json_printf(j, "ruleId", "gpurt/%s", rules->kinds[rule]->id);
    gpurt_json_number(j, "ruleIndex", rule);
    gpurt_json_text(j, "level", "error");
    put_message(j, "message", b.message.at, b.message.used);
    gpurt_json_number(j, "occurrenceCount", site->count);
    put_place(j, &b, root);
    if (fault)
        put_stack(j, &dump, fault, root);
    else
        put_calls(j, &b, root);
    gpurt_json_object(j, "properties");
    panic_who_site_json(j, "processes", book, number);
    gpurt_json_object_end(j);
    gpurt_json_object_end(j);
    if (!borrowed)
        panic_dump_close(&dump);
}

static void put_tool(gpurt_json_t *j, const rules_t *rules)
{
    gpurt_json_object(j, "tool");
    gpurt_json_object(j, "driver");
    gpurt_json_text(j, "name", "gpurt-panic");
    gpurt_json_printf(j, "semanticVersion", "%d.%d.%d", GPURT_VERSION_MAJOR,
                      GPURT_VERSION_MINOR, GPURT_VERSION_PATCH);
    put_rules(j, rules);
    gpurt_json_object_end(j);
    gpurt_json_object_end(j);
}

static void put_root(gpurt_json_t *j, const char *root)
{
    if (!root)
        return;
    gpurt_json_object(j, "originalUriBaseIds");
    gpurt_json_object(j, "SRCROOT");
    put_uri(j, "file://", root, "/");
    gpurt_json_object_end(j);
    gpurt_json_object_end(j);
}

/* Results come first, because they say which rules there are; readers want no order. */
void panic_sarif(const panic_book_t *book, const char *folder, FILE *out)
{
    char *root = folder ? realpath(folder, NULL) : NULL;
    rules_t rules = {.count = 0};
    gpurt_json_t json, *j = &json;

    gpurt_json_file(j, out);
    gpurt_json_object(j, NULL);
    gpurt_json_text(j, "$schema", SCHEMA);
    gpurt_json_text(j, "version", "2.1.0");
    gpurt_json_array(j, "runs");
    gpurt_json_object(j, NULL);
    gpurt_json_array(j, "results");
    for (uint32_t i = 0; i < book->site_count; i++)
        put_result(j, book, i, &rules, root);
    gpurt_json_array_end(j);
    put_tool(j, &rules);
    put_root(j, root);
    gpurt_json_text(j, "columnKind", "unicodeCodePoints");
    gpurt_json_object_end(j);
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
    gpurt_json_newline(j);
    free(root);
}
