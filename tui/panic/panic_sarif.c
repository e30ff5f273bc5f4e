/* SPDX-License-Identifier: Apache-2.0 */
/* The panics as SARIF 2.1.0, for code scanning and for editors: a result a site, a rule a
 * kind of failure, the calls of a fault as a stack. */
#include "fault_row.h"
#include "panic_category.h"
#include "panic_line.h"
#include "panic_who.h"
#include "text.h"

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
static void put(FILE *out, const char *name, const char *text, size_t bytes)
{
    char room[GPURT_MESSAGE_MAX];
    gpurt_text_t shown;

    gpurt_text_init(&shown, room, sizeof room);
    gpurt_render_plain(&shown, text, bytes);
    fprintf(out, "\"%s\":", name);
    text_put_json(out, shown.at, shown.used);
}

/* ---- places ---------------------------------------------------------------------------- */
/* Percent-encodes what a URI may not hold. */
static void put_uri(FILE *out, const char *path)
{
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;

        if (isalnum(c) || strchr("/-_.~+@:", c))
            fputc(c, out);
        else
            fprintf(out, "%%%02X", c);
    }
}

/* Below the folder of the sources, if one is named, the path is a part of it. */
static void put_location(FILE *out, const char *file, uint32_t line, const char *root)
{
    size_t part = root ? strlen(root) : 0;
    bool below = part && strncmp(file, root, part) == 0 && file[part] == '/';

    fputs("\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"", out);
    if (!below && file[0] == '/')
        fputs("file://", out);
    put_uri(out, below ? file + part + 1 : file);
    fputs(below ? "\",\"uriBaseId\":\"SRCROOT\"}" : "\"}", out);
    if (line)
        fprintf(out, ",\"region\":{\"startLine\":%u}", line);
    fputc('}', out);
}

static void put_frame(FILE *out, const line_frame_t *frame, const char *symbol,
                      const char *root)
{
    char name[NAME], file[PATH_MAX];

    code_name(symbol, name, sizeof name);
    fputs("{\"location\":{", out);
    if (frame) {
        fault_file(frame, file, sizeof file);
        put_location(out, file, frame->line, root);
        fputc(',', out);
    }
    fputs("\"logicalLocations\":[{", out);
    put(out, "fullyQualifiedName", name, strlen(name));
    fputs(",\"kind\":\"function\"}]}}", out);
}

static void put_stack(FILE *out, const panic_dump_t *dump, const fault_t *f,
                      const char *root)
{
    const code_place_t *p = &f->place;

    fputs(",\"stacks\":[{\"frames\":[", out);
    put_frame(out, p->frame_count ? &p->frames[0] : NULL,
              p->frame_count && p->frames[0].function[0] ? p->frames[0].function
                                                         : p->function,
              root);
    for (uint32_t i = 1; i < p->frame_count; i++) {
        fputc(',', out);
        put_frame(out, &p->frames[i],
                  p->frames[i].function[0] ? p->frames[i].function : p->function, root);
    }
    for (uint32_t i = 0; i < f->call_count; i++) {
        code_place_t call;

        if (!code_find(dump->core, f->calls[i], &call))
            continue;
        fputc(',', out);
        put_frame(out, call.frame_count ? &call.frames[0] : NULL, call.function, root);
    }
    fputs("]}]", out);
}

static void put_text(FILE *out, const gpurt_dictionary_t *d, const char *name, uint32_t id)
{
    gpurt_site_info_t text;

    if (gpurt_dictionary_get(d, id, &text) && text.kind == GPURT_DEF_STRING)
        put(out, name, text.format, text.format_bytes);
    else
        put(out, name, "?", 1);
}

/* The calls that a report of the CPU back end knows; nothing where it knows none. */
static void put_calls(FILE *out, const panic_entry_t *e, const char *root)
{
    const gpurt_dictionary_t *d = panic_source_sites(e->source);
    gpurt_site_info_t text;
    char file[PATH_MAX];
    panic_facts_t f;

    panic_read(d, e->row, &f);
    if (!f.p.report || f.p.frame_count == 0)
        return;
    for (uint32_t i = 0; i < f.p.frame_count; i++) {
        const gpurt_panic_frame_t *call = &f.p.frames[i];

        fputs(i ? "," : ",\"stacks\":[{\"frames\":[", out);
        fputs("{\"location\":{", out);
        if (gpurt_dictionary_get(d, call->file, &text) && text.kind == GPURT_DEF_STRING) {
            snprintf(file, sizeof file, "%.*s", (int)text.format_bytes, text.format);
            put_location(out, file, call->line, root);
            fputc(',', out);
        }
        fputs("\"logicalLocations\":[{", out);
        put_text(out, d, "fullyQualifiedName", call->function);
        fputs(",\"kind\":\"function\"}]}}", out);
    }
    fputs("]}]", out);
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
static const faultkind_t *kind_of(const panic_entry_t *e, const fault_t *fault)
{
    panic_facts_t facts;

    if (e->row->kind == GPURT_KIND_HANG)
        return &hang_kind;
    if (fault)
        return fault->kind;
    panic_read(panic_source_sites(e->source), e->row, &facts);
    if (e->row->kind != GPURT_KIND_FAULT)
        return panic_category(facts.p.category);
    return faultkind_of(facts.p.exception ? facts.p.exception : FAULT_TRAP);
}

static void put_rules(FILE *out, const rules_t *r)
{
    fputs("\"rules\":[", out);
    for (uint32_t i = 0; i < r->count; i++) {
        const faultkind_t *k = r->kinds[i];

        fprintf(out, "%s{\"id\":\"gpurt/%s\",", i ? "," : "", k->id);
        fputs("\"shortDescription\":{", out);
        put(out, "text", k->title, strlen(k->title));
        fputs("},\"fullDescription\":{", out);
        put(out, "text", k->meaning, strlen(k->meaning));
        fputs("},\"help\":{", out);
        put(out, "text", k->remedy, strlen(k->remedy));
        fputs("},\"defaultConfiguration\":{\"level\":\"error\"}}", out);
    }
    fputc(']', out);
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

static void put_result(FILE *out, const panic_book_t *book, uint32_t number, rules_t *rules,
                       const char *root)
{
    const panic_site_t *site = &book->sites[number];
    const panic_entry_t *e = &book->list[site->first];
    char room[GPURT_MESSAGE_MAX], file[PATH_MAX];
    const fault_t *fault = NULL;
    panic_dump_t dump = {0};
    gpurt_site_info_t info;
    gpurt_text_t message;
    bool borrowed = true;
    uint32_t rule;

    if (e->row->kind == GPURT_KIND_FAULT)
        panic_dump_of(e->source, e->row, &dump, &fault, &borrowed, NULL);
    rule = rule_of(rules, kind_of(e, fault));
    gpurt_text_init(&message, room, sizeof room);
    panic_book_message(e, &message);
    fprintf(out, "{\"ruleId\":\"gpurt/%s\",\"ruleIndex\":%u,\"level\":\"error\",",
            rules->kinds[rule]->id, rule);
    fputs("\"message\":{", out);
    put(out, "text", message.at, message.used);
    fprintf(out, "},\"occurrenceCount\":%" PRIu64, site->count);
    if (gpurt_dictionary_get(panic_source_sites(e->source), e->row->site, &info)) {
        fprintf(out, ",\"partialFingerprints\":{\"gpurtSite/v1\":\"%016" PRIx64 "\"}",
                fingerprint(&info));
        snprintf(file, sizeof file, "%.*s", (int)info.file_bytes, info.file);
        if (file[0]) {
            fputs(",\"locations\":[{", out);
            put_location(out, file, info.line, root);
            fputs("}]", out);
        }
    }
    if (fault)
        put_stack(out, &dump, fault, root);
    else
        put_calls(out, e, root);
    fputs(",\"properties\":{\"processes\":", out);
    panic_who_site_json(book, number, out);
    fputs("}}", out);
    if (!borrowed)
        panic_dump_close(&dump);
}

static void put_root(FILE *out, const char *root)
{
    if (!root)
        return;
    fputs(",\"originalUriBaseIds\":{\"SRCROOT\":{\"uri\":\"file://", out);
    put_uri(out, root);
    fputs("/\"}}", out);
}

/* Results come first, because they say which rules there are; readers want no order. */
void panic_sarif(const panic_book_t *book, const char *folder, FILE *out)
{
    char *root = folder ? realpath(folder, NULL) : NULL;
    rules_t rules = {.count = 0};

    fprintf(out, "{\"$schema\":\"%s\",\"version\":\"2.1.0\",\"runs\":[{\"results\":[",
            SCHEMA);
    for (uint32_t i = 0; i < book->site_count; i++) {
        fputs(i ? "," : "", out);
        put_result(out, book, i, &rules, root);
    }
    fputs("],\"tool\":{\"driver\":{\"name\":\"gpurt-panic\",\"semanticVersion\":\"", out);
    fprintf(out, "%d.%d.%d\",", GPURT_VERSION_MAJOR, GPURT_VERSION_MINOR,
            GPURT_VERSION_PATCH);
    put_rules(out, &rules);
    fputs("}}", out);
    put_root(out, root);
    fputs(",\"columnKind\":\"unicodeCodePoints\"}]}\n", out);
    free(root);
}
