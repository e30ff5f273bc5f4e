/* SPDX-License-Identifier: Apache-2.0 */
/* What a heap that checks has seen: faults, and who holds what, as structs, text and JSON. */
#include "heapmap.h"

#include "environ.h"
#include "hosttime.h"
#include "json.h"
#include "outfile.h"
#include "ownwait.h"
#include "plural.h"
#include "refuse.h"
#include "tell.h"
#include "viewer.h"

#include <errno.h>
#include <gpurt/impl/heaprow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All that is told, copied at one time. Owner: the call. */
typedef struct sight {
    gpurt_heap_watch_t watch;
    gpurt_alloc_site_t *sites;
    gpurt_heap_found_t *found;
    uint32_t found_rows, told_rows; /* told: by calls of kernels, in front of the others */
    gpurt_heap_leak_t *leaks;       /* GPURT_WATCH_SITES, by row of `sites`; then sorted */
    uint32_t leak_count;
    uint64_t objects, bytes; /* live, of all places */
    uint64_t unchecked;      /* of them: have no record, for who asked did not check */
    uint64_t chunks;         /* address of the heap's */
    uint64_t *recorded;      /* a bit a unit: an object with a record begins there */
} sight_t;

enum {
    UNIT = 16, /* bytes: no two slots begin in one */
    UNITS = GPURT_CHUNK_BYTES / UNIT,
    NO_PLACE = 0 /* row of the sites that stands for those without one */
};

const char *gpurt_heap_wrong_text(uint32_t what)
{
    static const char *const texts[GPURT_WRONGS] = {
        "nothing",
        "is freed, which is none of its objects",
        "is freed by a pointer into it",
        "is freed again",
        "was written past its end",
        "was written before its begin",
        "was written after it was freed"};

    return texts[what < GPURT_WRONGS ? what : 0];
}

/* ---- looking ------------------------------------------------------------------------- */

static void site_text(const sight_t *s, uint32_t row, char text[GPURT_WATCH_SITE_TEXT + 1])
{
    uint32_t bytes = row && row < GPURT_WATCH_SITES ? s->sites[row].xbytes : 0;

    bytes = bytes < GPURT_WATCH_SITE_TEXT ? bytes : GPURT_WATCH_SITE_TEXT;
    if (bytes)
        memcpy(text, s->sites[row].text, bytes);
    text[bytes] = '\0';
}

static gpurt_status_t leak_add(void *context, const gpurt_alloc_record_t *r, uint64_t begin,
                               uint64_t bytes)
{
    sight_t *s = (sight_t *)context;
    uint32_t row = r->xsites & 0xffffu;
    gpurt_heap_leak_t *leak = &s->leaks[row < GPURT_WATCH_SITES ? row : NO_PLACE];

    (void)bytes;
    s->recorded[begin / UNIT / 64] |= 1ull << (begin / UNIT % 64);
    if ((r->xstate & GPURT_RECORD_STATE) != GPURT_RECORD_LIVE)
        return GPURT_OK;
    if (!leak->objects) {
        leak->first = s->chunks + begin + r->xfront;
        leak->block = r->xblock;
        leak->thread = r->xthreads & 0xffffu;
    }
    leak->objects++;
    leak->bytes += r->xsize;
    s->objects++;
    s->bytes += r->xsize;
    return GPURT_OK;
}

/* Of every slot that the program has. Those without a record are of code that did not check; what
 * such code asked for is not known, so their bytes are the slots'. */
static bool unchecked_add(void *context, void *object, size_t bytes)
{
    sight_t *s = (sight_t *)context;
    uint64_t unit = ((uint64_t)(uintptr_t)object - s->chunks) / UNIT;
    gpurt_heap_leak_t *leak = &s->leaks[NO_PLACE];

    if (s->recorded[unit / 64] >> (unit % 64) & 1u)
        return true;
    if (!leak->objects)
        leak->first = (uint64_t)(uintptr_t)object;
    leak->objects++;
    leak->bytes += bytes;
    s->objects++;
    s->bytes += bytes;
    s->unchecked++;
    return true;
}

/* Damage that no call has found: behind what kernels have told. */
static gpurt_status_t damage_add(void *context, const gpurt_heap_found_t *f)
{
    sight_t *s = (sight_t *)context;

    s->watch.xrows++;
    if (s->found_rows < GPURT_WATCH_FAULTS)
        s->found[s->found_rows++] = *f;
    return GPURT_OK;
}

static int by_bytes(const void *a, const void *b)
{
    const gpurt_heap_leak_t *x = (const gpurt_heap_leak_t *)a;
    const gpurt_heap_leak_t *y = (const gpurt_heap_leak_t *)b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->objects != y->objects ? (x->objects < y->objects ? 1 : -1)
                                    : strcmp(x->site, y->site);
}

/* Rows of one place become one: the same text may lie at several addresses. */
static void leaks_gather(sight_t *s)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < GPURT_WATCH_SITES; i++) {
        gpurt_heap_leak_t leak = s->leaks[i];
        uint32_t to = 0;

        if (!leak.objects)
            continue;
        site_text(s, i, leak.site);
        while (to < count && strcmp(s->leaks[to].site, leak.site) != 0)
            to++;
        if (to < count) {
            s->leaks[to].objects += leak.objects;
            s->leaks[to].bytes += leak.bytes;
        } else {
            s->leaks[count++] = leak;
        }
    }
    s->leak_count = count;
    qsort(s->leaks, count, sizeof *s->leaks, by_bytes);
}

static void sight_free(sight_t *s)
{
    free(s->sites);
    free(s->found);
    free(s->leaks);
    free(s->recorded);
}

static gpurt_status_t sight_tables(gpurt_t *rt, sight_t *s, gpurt_error_t *err)
{
    size_t sites = sizeof *s->sites * GPURT_WATCH_SITES;
    size_t found = sizeof *s->found * GPURT_WATCH_FAULTS;
    gpurt_status_t st;

    s->sites = (gpurt_alloc_site_t *)malloc(sites);
    s->found = (gpurt_heap_found_t *)malloc(found);
    s->leaks = (gpurt_heap_leak_t *)calloc(GPURT_WATCH_SITES, sizeof *s->leaks);
    if (!s->sites || !s->found || !s->leaks)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "heap: a report");
    st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, s->sites, s->watch.sites, sites, err);
    if (st == GPURT_OK)
        st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, s->found, s->watch.found, found, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    s->found_rows =
        s->watch.xrows < GPURT_WATCH_FAULTS ? (uint32_t)s->watch.xrows : GPURT_WATCH_FAULTS;
    s->told_rows = s->found_rows;
    return st;
}

/* Who holds what, and what of it is damaged. */
static gpurt_status_t sight_objects(gpurt_t *rt, const gpurt_heap_t *heap, sight_t *s,
                                    gpurt_error_t *err)
{
    gpurt_heap_mirror_t m = {.memory = NULL};
    gpurt_status_t st = gpurt_heap_mirror_load(rt, heap, &m, err);

    s->recorded = (uint64_t *)calloc(heap->chunk_count, UNITS / 8);
    if (st == GPURT_OK && !s->recorded)
        st = gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "heap: a report");
    if (st == GPURT_OK)
        st = gpurt_heap_records_each(rt, heap, &m, &s->watch, leak_add, s, err);
    if (st == GPURT_OK && s->watch.records)
        st = gpurt_heap_mirror_walk(&m.heap, unchecked_add, s, err);
    if (st == GPURT_OK)
        st = gpurt_heap_guards_each(rt, heap, &m, &s->watch, damage_add, s, err);
    gpurt_heap_mirror_free(&m);
    leaks_gather(s);
    return st;
}

/* *s is to be freed in any case; without checks it stays empty. objects: look at all of them, too.
 * Context: the heap is taken. */
static gpurt_status_t sight_look(gpurt_t *rt, const gpurt_heap_t *heap, bool objects,
                                 sight_t *s, gpurt_error_t *err)
{
    gpurt_status_t st;

    if (!heap->watch)
        return GPURT_OK;
    s->chunks = (uint64_t)(uintptr_t)heap->chunks;
    st = gpurt_heap_watch_load(rt, heap, &s->watch, err);
    if (st == GPURT_OK)
        st = sight_tables(rt, s, err);
    return st == GPURT_OK && objects ? sight_objects(rt, heap, s, err) : st;
}

static gpurt_status_t sight_make(gpurt_t *rt, const gpurt_heap_t *heap, bool objects,
                                 sight_t *s, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_heap_take(rt, heap, err);

    memset(s, 0, sizeof *s);
    if (st != GPURT_OK)
        return st;
    st = sight_look(rt, heap, objects, s, err);
    gpurt_heap_drop(heap);
    return st;
}

static void fault_fill(const sight_t *s, const gpurt_heap_found_t *f,
                       gpurt_heap_fault_t *out)
{
    memset(out, 0, sizeof *out);
    out->what = f->what;
    out->object = f->object;
    out->size = f->size;
    out->at = f->at;
    site_text(s, f->site, out->site);
    site_text(s, f->free_site, out->free_site);
    site_text(s, f->found_site, out->found_site);
    out->block = f->block;
    out->thread = f->thread;
    out->free_block = f->free_block;
    out->free_thread = f->free_thread;
    out->found_block = f->found_block;
    out->found_thread = f->found_thread;
}

gpurt_status_t gpurt_heap_faults(gpurt_t *rt, const gpurt_heap_t *heap,
                                 gpurt_heap_fault_t *out, uint32_t room, uint64_t *count,
                                 gpurt_error_t *err)
{
    sight_t s;
    gpurt_status_t st = sight_make(rt, heap, false, &s, err);

    if (count)
        *count = st == GPURT_OK ? s.watch.xrows : 0;
    for (uint32_t i = 0; st == GPURT_OK && out && i < room && i < s.found_rows; i++)
        fault_fill(&s, &s.found[i], &out[i]);
    sight_free(&s);
    return st;
}

gpurt_status_t gpurt_heap_leaks(gpurt_t *rt, const gpurt_heap_t *heap,
                                gpurt_heap_leak_t *out, uint32_t room, uint32_t *count,
                                gpurt_error_t *err)
{
    sight_t s;
    gpurt_status_t st = sight_make(rt, heap, true, &s, err);

    if (count)
        *count = st == GPURT_OK ? s.leak_count : 0;
    for (uint32_t i = 0; st == GPURT_OK && out && i < room && i < s.leak_count; i++)
        out[i] = s.leaks[i];
    sight_free(&s);
    return st;
}

/* ---- text ---------------------------------------------------------------------------- */

static const char *place(const char *site)
{
    return *site ? site : "a place not known";
}

/* told: by a call of a kernel. */
static void text_fault(FILE *out, const gpurt_heap_fault_t *f, bool told)
{
    fprintf(out, "  0x%llx", (unsigned long long)f->object);
    if (f->size)
        fprintf(out, " of %llu byte%s", (unsigned long long)f->size,
                gpurt_plural(f->size, "s"));
    fprintf(out, " %s", gpurt_heap_wrong_text(f->what));
    if (f->size && f->what != GPURT_WRONG_TWICE)
        fprintf(out, ", byte %lld", (long long)f->at);
    if (f->size)
        fprintf(out, "\n    allocated at %s by block %u thread %u", place(f->site),
                f->block, f->thread);
    if (f->free_site[0])
        fprintf(out, "\n    freed at %s by block %u thread %u", f->free_site, f->free_block,
                f->free_thread);
    if (told)
        fprintf(out, "\n    found at %s by block %u thread %u\n", place(f->found_site),
                f->found_block, f->found_thread);
    else
        fprintf(out, "\n    found by the host, with this report\n");
}

static const char *level_word(uint32_t level)
{
    return level == GPURT_CHECKS_FULL    ? "full"
           : level == GPURT_CHECKS_CHEAP ? "cheap"
                                         : "off";
}

static void text_write(FILE *out, const sight_t *s)
{
    gpurt_heap_fault_t fault;

    if (!s->chunks) {
        fputs("a heap with checks off: nothing is known of its objects; set "
              "GPURT_HEAP_CHECKS=cheap or full, and compile kernels with "
              "-DGPURT_HEAP_CHECKS=1 or 2\n",
              out);
        return;
    }
    fprintf(out, "heap %u, checks %s: %llu live object%s of %llu byte%s, %llu fault%s\n",
            s->watch.id, level_word(s->watch.level), (unsigned long long)s->objects,
            gpurt_plural(s->objects, "s"), (unsigned long long)s->bytes,
            gpurt_plural(s->bytes, "s"), (unsigned long long)s->watch.xrows,
            gpurt_plural(s->watch.xrows, "s"));
    for (uint32_t i = 0; i < s->leak_count; i++) {
        const gpurt_heap_leak_t *l = &s->leaks[i];

        fprintf(
            out,
            "  %llu byte%s in %llu object%s from %s; one: 0x%llx of block %u thread %u\n",
            (unsigned long long)l->bytes, gpurt_plural(l->bytes, "s"),
            (unsigned long long)l->objects, gpurt_plural(l->objects, "s"), place(l->site),
            (unsigned long long)l->first, l->block, l->thread);
    }
    if (s->unchecked)
        fprintf(out,
                "  %llu object%s of code that was not compiled to check: "
                "-DGPURT_HEAP_CHECKS=2 names places\n",
                (unsigned long long)s->unchecked, gpurt_plural(s->unchecked, "s"));
    for (uint32_t i = 0; i < s->found_rows; i++) {
        fault_fill(s, &s->found[i], &fault);
        text_fault(out, &fault, i < s->told_rows);
    }
    if (s->watch.xrows > s->found_rows)
        fprintf(out, "  and %llu more fault%s\n",
                (unsigned long long)(s->watch.xrows - s->found_rows),
                gpurt_plural(s->watch.xrows - s->found_rows, "s"));
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void json_fault(gpurt_json_t *j, const gpurt_heap_fault_t *f)
{
    gpurt_json_object(j, NULL);
    gpurt_json_number(j, "address", f->object);
    gpurt_json_text(j, "what", gpurt_heap_wrong_text(f->what));
    gpurt_json_number(j, "kind", f->what);
    gpurt_json_number(j, "size", f->size);
    gpurt_json_signed(j, "at", f->at);
    gpurt_json_text(j, "site", f->site);
    gpurt_json_number(j, "block", f->block);
    gpurt_json_number(j, "thread", f->thread);
    gpurt_json_text(j, "free_site", f->free_site);
    gpurt_json_number(j, "free_block", f->free_block);
    gpurt_json_number(j, "free_thread", f->free_thread);
    gpurt_json_text(j, "found_site", f->found_site);
    gpurt_json_number(j, "found_block", f->found_block);
    gpurt_json_number(j, "found_thread", f->found_thread);
    gpurt_json_object_end(j);
}

static void json_leak(gpurt_json_t *j, const gpurt_heap_leak_t *l)
{
    gpurt_json_object(j, NULL);
    gpurt_json_number(j, "bytes", l->bytes);
    gpurt_json_number(j, "objects", l->objects);
    gpurt_json_text(j, "site", l->site);
    gpurt_json_number(j, "address", l->first);
    gpurt_json_number(j, "block", l->block);
    gpurt_json_number(j, "thread", l->thread);
    gpurt_json_object_end(j);
}

static void json_write(FILE *out, const sight_t *s)
{
    gpurt_heap_fault_t fault;
    gpurt_json_t j;

    gpurt_json_file(&j, out);
    gpurt_json_object(&j, NULL);
    gpurt_json_number(&j, "heap", s->watch.id);
    gpurt_json_text(&j, "checks", level_word(s->watch.level));
    gpurt_json_number(&j, "live_objects", s->objects);
    gpurt_json_number(&j, "live_bytes", s->bytes);
    gpurt_json_number(&j, "unchecked_objects", s->unchecked);
    gpurt_json_number(&j, "kept_objects", s->watch.xkept);
    gpurt_json_number(&j, "kept_bytes", s->watch.xkept_bytes);
    gpurt_json_number(&j, "untold", s->watch.xuntold);
    gpurt_json_number(&j, "fault_count", s->watch.xrows);
    gpurt_json_array(&j, "leaks");
    for (uint32_t i = 0; i < s->leak_count; i++)
        json_leak(&j, &s->leaks[i]);
    gpurt_json_array_end(&j);
    gpurt_json_array(&j, "faults");
    for (uint32_t i = 0; i < s->found_rows; i++) {
        fault_fill(s, &s->found[i], &fault);
        json_fault(&j, &fault);
    }
    gpurt_json_array_end(&j);
    gpurt_json_object_end(&j);
    gpurt_json_newline(&j);
}

gpurt_status_t gpurt_heap_report(gpurt_t *rt, const gpurt_heap_t *heap, bool json,
                                 char *text, size_t bytes, size_t *length,
                                 gpurt_error_t *err)
{
    char *all = NULL;
    size_t used = 0;
    FILE *out;
    sight_t s;
    gpurt_status_t st = sight_make(rt, heap, true, &s, err);

    if (length)
        *length = 0;
    out = st == GPURT_OK ? open_memstream(&all, &used) : NULL;
    if (st == GPURT_OK && !out)
        st = gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, errno, "heap: a report");
    if (out) {
        (json ? json_write : text_write)(out, &s);
        fclose(out);
        if (length)
            *length = used;
        if (text && bytes) {
            used = used < bytes ? used : bytes - 1;
            memcpy(text, all, used);
            text[used] = '\0';
        }
    }
    free(all);
    sight_free(&s);
    return st;
}

/* ---- at the end ---------------------------------------------------------------------- */

static const char *report_file(void)
{
    return gpurt_env_get("GPURT_HEAP_LEAKS");
}

bool gpurt_heap_report_wanted(const gpurt_t *rt)
{
    bool log = gpurt_viewer_enter(rt) != NULL;

    if (log)
        gpurt_viewer_leave();
    return log || report_file();
}

static void file_tell(const char *path, const sight_t *s)
{
    size_t length = strlen(path);
    bool json = length > 5 && strcmp(path + length - 5, ".json") == 0;
    bool terminal = strcmp(path, "-") == 0;
    gpurt_error_t err;
    FILE *out = terminal ? stderr
                         : gpurt_outfile_stream(path, GPURT_OUTFILE_APPEND,
                                                GPURT_OUTFILE_OWN, &err);

    if (!out) {
        gpurt_tell("GPURT_HEAP_LEAKS: nothing is written: %s", err.text);
        return;
    }
    (json ? json_write : text_write)(out, s);
    if (!terminal)
        fclose(out);
}

static uint32_t log_text(gpurt_viewer_t *v, const char *text)
{
    return names_number(&v->names, &v->ring, text, false);
}

static void log_leak(gpurt_viewer_t *v, const sight_t *s, const gpurt_heap_leak_t *l)
{
    bool unchecked = !l->site[0] && s->unchecked == l->objects;
    gpurt_heap_leak_row_t row = {
        .heap = s->watch.id,
        .bytes = gpurt_pair(l->bytes),
        .objects = gpurt_pair(l->objects),
        .site = log_text(v, unchecked ? "code that was not compiled to check"
                                      : place(l->site))};

    gpurt_viewer_put(v, GPURT_KIND_HEAP_LEAK, gpurt_real_ns(), &row);
}

static void log_damage(gpurt_viewer_t *v, const sight_t *s, const gpurt_heap_fault_t *f)
{
    gpurt_heap_damage_row_t row = {
        .heap = s->watch.id,
        .object = gpurt_pair(f->object),
        .size = gpurt_pair(f->size),
        .what = log_text(v, gpurt_heap_wrong_text(f->what)),
        .site = log_text(v, place(f->site)),
        .block = f->block,
        .thread = f->thread,
        .free_site = log_text(v, f->free_site[0] ? f->free_site : "no place"),
        .free_block = f->free_block,
        .free_thread = f->free_thread,
        .at = gpurt_pair((uint64_t)f->at)};

    gpurt_viewer_put(v, GPURT_KIND_HEAP_DAMAGE, gpurt_real_ns(), &row);
}

/* A line for each place that held memory to the end, and for each thing that no call has found. */
static void log_tell(gpurt_t *rt, const sight_t *s)
{
    gpurt_viewer_t *v = gpurt_viewer_enter(rt);
    gpurt_heap_fault_t fault;

    if (!v)
        return;
    for (uint32_t i = 0; i < s->leak_count; i++)
        log_leak(v, s, &s->leaks[i]);
    for (uint32_t i = s->told_rows; i < s->found_rows; i++) {
        fault_fill(s, &s->found[i], &fault);
        log_damage(v, s, &fault);
    }
    gpurt_viewer_leave();
}

void gpurt_heap_report_last(gpurt_t *rt, const gpurt_heap_t *heap)
{
    const char *path = report_file();
    sight_t s = {.sites = NULL};

    if (gpurt_heap_report_wanted(rt) && sight_look(rt, heap, true, &s, NULL) == GPURT_OK) {
        if (path)
            file_tell(path, &s);
        log_tell(rt, &s);
    }
    sight_free(&s);
}
