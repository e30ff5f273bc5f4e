/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_brief.h"

#include "panic_category.h"
#include "panic_who.h"

void panic_brief_read(const panic_entry_t *e, panic_brief_t *out)
{
    out->entry = e;
    out->sites = panic_source_sites(e->source);
    panic_read(out->sites, e->row, &out->facts);
    out->kind = panic_kind_name(&out->facts);
    out->category =
        e->row->kind == GPURT_KIND_PANIC ? panic_category(out->facts.p.category) : NULL;
    panic_who_of(e->source, e->row, &out->who);
    gpurt_text_init(&out->message, out->room, sizeof out->room);
    gpurt_render_message(out->sites, e->row, 0, &out->message);
}

bool panic_brief_place(const panic_brief_t *b, gpurt_text_t *out)
{
    const gpurt_site_info_t *site = &b->facts.site;
    uint32_t bytes;
    const char *base = panic_base(site->file, site->file_bytes, &bytes);

    if (site->file_bytes == 0)
        return false;
    gpurt_render_plain(out, base, bytes);
    gpurt_text_printf(out, ":%u", site->line);
    return true;
}

void panic_brief_message(const panic_brief_t *b, gpurt_text_t *out)
{
    gpurt_render_plain(out, b->message.at, b->message.used);
}

void panic_brief_json(gpurt_json_t *j, const panic_brief_t *b, bool whole)
{
    const gpurt_site_info_t *site = &b->facts.site;

    gpurt_json_bytes(j, "file", site->file, site->file_bytes);
    gpurt_json_number(j, "line", site->line);
    if (whole) {
        gpurt_json_bytes(j, "module", site->module, site->module_bytes);
        gpurt_json_bytes(j, "format", site->format, site->format_bytes);
    }
    gpurt_json_bytes(j, "msg", b->message.at, b->message.used);
}
