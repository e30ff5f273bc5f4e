/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "hostring.h"

#include "environ.h"
#include "hosttime.h"
#include "tell.h"

#include <gpurt/impl/heaprow.h>
#include <stdlib.h>
#include <string.h>
#if GPURT_GROUP_MOVE
#    include <emmintrin.h>
#endif

enum {
    HOST_DEFS = 4096,
    BATCH_PART = 4,  /* of a small ring, which others write, too */
    KERNEL_SITE = 0, /* among gpurt_activity_sites */
    S = GPURT_TYPE_STRING,
    U = GPURT_TYPE_U32,
    I = GPURT_TYPE_I32,
    W = GPURT_TYPE_U64, /* wide */
    L = GPURT_TYPE_I64,
    P = GPURT_TYPE_PTR
};

#define T1(a)       ((uint64_t)(a))
#define T2(a, ...)  (T1(a) | T1(__VA_ARGS__) << 4)
#define T3(a, ...)  (T1(a) | T2(__VA_ARGS__) << 4)
#define T4(a, ...)  (T1(a) | T3(__VA_ARGS__) << 4)
#define T5(a, ...)  (T1(a) | T4(__VA_ARGS__) << 4)
#define T6(a, ...)  (T1(a) | T5(__VA_ARGS__) << 4)
#define T7(a, ...)  (T1(a) | T6(__VA_ARGS__) << 4)
#define T8(a, ...)  (T1(a) | T7(__VA_ARGS__) << 4)
#define T9(a, ...)  (T1(a) | T8(__VA_ARGS__) << 4)
#define T10(a, ...) (T1(a) | T9(__VA_ARGS__) << 4)
#define T11(a, ...) (T1(a) | T10(__VA_ARGS__) << 4)
#define T12(a, ...) (T1(a) | T11(__VA_ARGS__) << 4)
#define T13(a, ...) (T1(a) | T12(__VA_ARGS__) << 4)
#define T14(a, ...) (T1(a) | T13(__VA_ARGS__) << 4)
#define T15(a, ...) (T1(a) | T14(__VA_ARGS__) << 4)
#define T16(a, ...) (T1(a) | T15(__VA_ARGS__) << 4)

/* In the order of the structs' fields. What the format does not name is for programs. The
 * second is of a struct that has grown: its first version ended before `field_`. */
#define SITE(kind_, level_, struct_, types_, format_)                                   \
    {                                                                                   \
        .kind = GPURT_KIND_##kind_, .level = GPURT_LEVEL_##level_,                      \
        .words = (uint8_t)(sizeof(struct_) / 4), .types = (types_), .format = (format_) \
    }
#define GROWN(kind_, struct_, field_, types_, format_)                        \
    {                                                                         \
        .kind = GPURT_KIND_##kind_, .level = GPURT_LEVEL_TRACE,               \
        .words = (uint8_t)(sizeof(struct_) / 4),                              \
        .least = (uint8_t)(offsetof(struct_, field_) / 4), .types = (types_), \
        .format = (format_)                                                   \
    }
const gpurt_activity_site_t gpurt_activity_sites[GPURT_ACTIVITY_SITES] = {
    [KERNEL_SITE] = GROWN(
        KERNEL, gpurt_activity_kernel_t, context,
        T13(S, W, U, U, U, U, U, U, U, U, U, U, U),
        "kernel %s: %llu ns, grid %u,%u,%u block %u,%u,%u, %u registers, %u B shared, "
        "stream %u, call %u"),
    GROWN(COPY, gpurt_activity_copy_t, context, T9(S, W, W, U, U, U, U, U, U),
          "copy %s: %llu B in %llu ns, stream %u, call %u"),
    GROWN(FILL, gpurt_activity_fill_t, context, T6(W, W, U, U, U, U),
          "fill: %llu B in %llu ns with 0x%x, stream %u, call %u"),
    GROWN(WAIT, gpurt_activity_wait_t, context, T6(S, W, U, U, U, S),
          "wait for %s: %llu ns, stream %d, call %u, context %u of %s"),
    SITE(MEMORY, TRACE, gpurt_activity_memory_t, T4(S, W, P, S), "%s %llu B at %p, %s"),
    SITE(POOL, TRACE, gpurt_activity_pool_t, T8(S, P, W, W, W, W, S, U),
         "%s at %p: %llu B, %llu B used, keeps %llu B, gives back above (B): %llu, %s"),
    SITE(MANAGED, TRACE, gpurt_activity_managed_t, T8(S, W, W, P, U, U, U, U),
         "managed memory, %s: %llu ns, %llu B at %p, faults %u"),
    GROWN(GRAPH, gpurt_activity_graph_t, context, T6(U, W, U, U, U, U),
          "graph %u: %llu ns, stream %u, call %u, context %u, nodes known %u"),
    SITE(DEVICE_GRAPH, TRACE, gpurt_activity_device_graph_t, T8(U, W, U, U, U, U, U, S),
         "graph %u: %llu ns, stream %u, call %u, context %u, nodes known %u, launched by "
         "graph %u on the device, %s"),
    GROWN(RANGE, gpurt_activity_range_t, thread, T5(S, S, S, U, U),
          "range %s: %s (%s), id %u"),
    SITE(OVERHEAD, TRACE, gpurt_activity_overhead_t, T2(S, W), "overhead %s: %llu ns"),
    SITE(CALL, TRACE, gpurt_activity_call_t, T5(S, W, U, U, U),
         "%s: %llu ns, result %u, thread %u, call %u"),
    {.kind = GPURT_KIND_COLLECTOR,
     .level = GPURT_LEVEL_DEBUG,
     .words = (uint8_t)(sizeof(gpurt_activity_collector_t) / 4),
     .least = (uint8_t)(offsetof(gpurt_activity_collector_t, unknown) / 4),
     .types = T7(S, W, W, W, U, U, U),
     .format = "collector: %s; records %llu, without times %llu, dropped %llu, no buffer "
               "%u, of unknown kinds %u, samples left out %u"},
    GROWN(LAUNCH, gpurt_activity_launch_t, thread,
          T13(S, S, U, U, U, U, U, U, U, U, W, U, U),
          "launch %s at %s:%u, grid %u,%u,%u block %u,%u,%u, %u B shared, stream 0x%llx, "
          "number %u"),
    GROWN(DRIVER_LAUNCH, gpurt_activity_driver_launch_t, python,
          T15(S, S, U, U, U, U, U, U, U, W, U, U, U, S, U),
          "launch %s from %s, grid %u,%u,%u block %u,%u,%u, %u B shared, stream 0x%llx, "
          "call %u"),
    {.kind = GPURT_KIND_DEVICE,
     .level = GPURT_LEVEL_DEBUG,
     .words = (uint8_t)(sizeof(gpurt_activity_device_t) / 4),
     .least = (uint8_t)(offsetof(gpurt_activity_device_t, uuid) / 4),
     .types = T13(U, U, U, U, U, U, U, U, U, U, W, W, S),
     .format = "device of compute capability %u.%u, %u multiprocessors, warps of %u; each "
               "holds %u threads, %u blocks, %u registers (a block %u), %u B shared (a "
               "block takes %u more)"},
    SITE(ENVIRONMENT, DEBUG, gpurt_activity_environment_t, T9(U, U, W, W, U, U, U, U, U),
         "GPU %u%%, memory %u%%, %llu of %llu B used, %u of %u mW, %u C, %u MHz, memory "
         "%u MHz"),
    SITE(NODE, TRACE, gpurt_activity_node_t,
         T15(S, W, U, U, U, U, U, U, U, U, U, U, U, U, W),
         "kernel %s: %llu ns, grid %u,%u,%u block %u,%u,%u, %u registers, %u B shared, "
         "stream %u, call %u, context %u, graph %u, node %llu"),
    SITE(DEVICE_NODE, TRACE, gpurt_activity_node_t,
         T15(S, W, U, U, U, U, U, U, U, U, U, U, U, U, W),
         "kernel %s: %llu ns, grid %u,%u,%u block %u,%u,%u, %u registers, %u B shared, "
         "stream %u, call %u, context %u, graph %u, node %llu, launched by the device"),
    SITE(SAMPLE, TRACE, gpurt_activity_sample_t, T6(W, I, I, I, I, I),
         "sample of %llu ns, in 1/100 %%: SM active %d, issued %d, memory %d, tensor %d, "
         "warps %d"),
    GROWN(LINE, gpurt_activity_line_t, calls, T9(S, S, U, S, W, U, U, U, S),
          "in %s at %s:%u, %s, in %llu ns: instruction 0x%x, samples %u, of them "
          "%u while nothing was issued, calls %s"),
    GROWN(RUNNING, gpurt_activity_running_t, calls,
          T16(S, U, U, U, U, U, U, W, W, U, U, U, U, S, S, U),
          "running %s: grid %u,%u,%u block %u,%u,%u, stream 0x%llx, launched %llu ns ago; "
          "of its stream %u have not ended, number %u of them, call %u, thread %u, from "
          "%s, Python %s"),
    GROWN(COUNTED, gpurt_activity_counted_t, recorded, T3(S, W, W),
          "counted %s: launches %llu, of which recorded %llu"),
    SITE(WINDOW, TRACE, gpurt_activity_window_t, T8(W, U, U, U, U, U, U, U),
         "window of records: %llu ns without, now %u, each %u ms long, pauses of %u ms; "
         "in millionths of the time: budget %u, cost %u, counting %u, slowdown %u"),
    SITE(HEAP_DAMAGE, ERROR, gpurt_heap_damage_row_t, T11(U, P, W, S, S, U, U, S, U, U, L),
         "heap %u ends: %p of %llu B %s; allocated at %s by block %u thread %u, freed "
         "at %s by block %u thread %u, byte %lld"),
    SITE(HEAP_LEAK, WARN, gpurt_heap_leak_row_t, T4(U, W, W, S),
         "heap %u ends: not freed %llu B, objects %llu, from %s"),
    {.kind = GPURT_KIND_TEXT, .level = GPURT_LEVEL_WARN, .format = "collector"},
};
GPURT_STATIC_ASSERT(offsetof(gpurt_activity_kernel_t, context) == 4 * 13, "frozen");
GPURT_STATIC_ASSERT(offsetof(gpurt_activity_launch_t, thread) == 4 * 13, "frozen");
GPURT_STATIC_ASSERT(offsetof(gpurt_activity_copy_t, context) == 4 * 8, "frozen");
GPURT_STATIC_ASSERT(offsetof(gpurt_activity_device_t, uuid) == 4 * 10, "frozen");
GPURT_STATIC_ASSERT(sizeof(gpurt_activity_running_t) == sizeof(gpurt_activity_any_t),
                    "the longest");

const void *gpurt_activity_load(uint32_t kind, const uint32_t *words, uint32_t count,
                                gpurt_activity_any_t *room)
{
    for (uint32_t i = 0; i < GPURT_ACTIVITY_SITES; i++) {
        const gpurt_activity_site_t *site = &gpurt_activity_sites[i];
        uint32_t least = site->least ? site->least : site->words;

        if (site->kind != kind || site->words == 0)
            continue;
        if (count >= site->words)
            return words;
        if (count < least)
            return NULL;
        memset(room, 0, sizeof *room);
        memcpy(room, words, 4u * count);
        return room;
    }
    return NULL;
}

uint32_t gpurt_hostring_bytes(void)
{
    const char *value = gpurt_env_get("GPURT_HOST_RING_BYTES");
    uint64_t bytes = gpurt_tell_number("GPURT_HOST_RING_BYTES", value, 0);

    return bytes > GPURT_RING_MAX_BYTES ? GPURT_RING_MAX_BYTES : (uint32_t)bytes;
}

void gpurt_hostring_plan(gpurt_section_plan_t *plan)
{
    memset(plan, 0, sizeof *plan);
    plan->kind = GPURT_SECTION_HOST;
    plan->ring_bytes = gpurt_hostring_bytes();
    plan->policy = GPURT_POLICY_BLOCK; /* writers wait themselves, or count */
    plan->def_count = HOST_DEFS;
    plan->panic_count = 1;
    plan->state_bytes = GPURT_BOX_PAGE;
    plan->name = "host";
}

void gpurt_hostring_clock(const gpurt_boxmap_t *map, uint32_t section)
{
    gpurt_clock_fit_t clock = {0};

    clock.device_ns = clock.real_ns = gpurt_real_ns();
    gpurt_boxmap_set_clock(map, section, &clock);
}

uint32_t gpurt_hostring_find(const gpurt_boxmap_t *map)
{
    for (uint32_t i = 0; i < map->section_count; i++)
        if (map->sections[i].kind == GPURT_SECTION_HOST)
            return i;
    return GPURT_BOX_SECTIONS;
}

/* ---- definitions --------------------------------------------------------------------- */

static gpurt_def_t *def_take(const gpurt_hostring_t *h, size_t text_bytes, uint32_t *number)
{
    uint32_t slots = (uint32_t)(sizeof(gpurt_def_t) + text_bytes + GPURT_DEF_BYTES - 1) /
                     GPURT_DEF_BYTES;
    uint32_t slot;
    gpurt_def_t *def;

    *number = 0;
    /* relaxed: only the count matters. Read first, so that a full table stays full and does
     * not wrap. */
    if (!h->defs || gpurt_load_relaxed_sys_u32(h->xdefs) + slots > h->def_count)
        return NULL;
    slot = gpurt_add_relaxed_sys_u32(h->xdefs, slots);
    if (slot + slots > h->def_count)
        return NULL;
    def = (gpurt_def_t *)((char *)h->defs + (size_t)slot * GPURT_DEF_BYTES);
    memset(&def->slots, 0, sizeof *def - offsetof(gpurt_def_t, slots));
    def->slots = (uint16_t)slots;
    def->format_bytes = (uint16_t)text_bytes;
    *number = slot + 1;
    return def;
}

/* Word by word: a text of several slots lies where who looks for definitions looks for their
 * states, before it can know that. */
static void text_store(gpurt_def_t *def, const char *text, size_t bytes)
{
    uint32_t *to = (uint32_t *)(void *)gpurt_def_text(def);

    for (size_t i = 0; i < bytes; i += sizeof *to) {
        uint32_t word = 0;

        memcpy(&word, text + i, bytes - i < sizeof word ? bytes - i : sizeof word);
        gpurt_store_relaxed_sys_u32(&to[i / sizeof *to], word); /* relaxed: B3 carries it */
    }
}

uint32_t gpurt_hostring_string(const gpurt_hostring_t *h, const char *text, size_t bytes)
{
    uint32_t number;
    gpurt_def_t *def;

    bytes = bytes < GPURT_DEF_TEXT_BYTES ? bytes : GPURT_DEF_TEXT_BYTES;
    def = def_take(h, bytes, &number);
    if (!def)
        return 0;
    text_store(def, text, bytes);
    gpurt_store_release_sys_u32(&def->xstate, GPURT_DEF_STRING); /* B3.rel */
    return number;
}

static uint32_t site_define(const gpurt_hostring_t *h, const gpurt_activity_site_t *site)
{
    uint32_t number;
    gpurt_def_t *def = def_take(h, strlen(site->format), &number);

    if (!def)
        return 0;
    def->level = site->level;
    def->kind = site->kind;
    def->types = site->types;
    for (uint64_t types = site->types; types; types >>= 4)
        def->arg_count++;
    text_store(def, site->format, def->format_bytes);
    gpurt_store_release_sys_u32(&def->xstate, GPURT_DEF_SITE); /* B3.rel */
    return number;
}

uint32_t gpurt_hostring_define(const gpurt_hostring_t *h, const gpurt_activity_site_t *site)
{
    uint32_t number = site_define(h, site);

    return number ? gpurt_record_what(number, site->kind, GPURT_FORM_THREAD, 0) : 0;
}

gpurt_status_t gpurt_hostring_init(gpurt_hostring_t *h, const gpurt_boxmap_t *map,
                                   uint32_t section, gpurt_error_t *err)
{
    memset(h, 0, sizeof *h);
    if (section >= map->section_count || map->sections[section].kind != GPURT_SECTION_HOST)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "box: section %u is not of host code", section);
    h->port = gpurt_boxmap_port(map, section, 0);
    h->port.policy =
        GPURT_POLICY_BLOCK; /* whatever others do when it is full, we are told */
    h->def_count = map->sections[section].def_count;
    h->defs = h->def_count ? gpurt_boxmap_def(map, section, 0) : NULL;
    h->xdefs = &map->box->sections[section].xdefs;
    h->batch_groups = h->port.group_count / BATCH_PART;
    if (h->batch_groups > GPURT_HOSTBATCH_GROUPS)
        h->batch_groups = GPURT_HOSTBATCH_GROUPS;
    for (uint32_t i = 0; i < GPURT_ACTIVITY_SITES; i++) {
        h->whats[i] = gpurt_hostring_define(h, &gpurt_activity_sites[i]);
        if (!h->whats[i])
            return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_GPURT, 0,
                              "box: no room for the definitions of host records");
    }
    return GPURT_OK;
}

/* ---- records ------------------------------------------------------------------------- */

/* The words behind the head of one more record; NULL: the batch is full. what: its first word. */
static inline uint32_t *batch_room(const gpurt_hostring_t *h, gpurt_hostbatch_t *b,
                                   uint32_t what, uint32_t device, uint64_t time_ns,
                                   uint32_t count)
{
    uint32_t groups = gpurt_record_groups(count), end = b->groups + groups;
    uint32_t *words = b->words + GPURT_GROUP_WORDS * b->groups;

    if (end > (b->count ? h->batch_groups : GPURT_HOSTBATCH_GROUPS))
        return NULL;
    words[0] = what;
    words[1] = (uint32_t)time_ns;
    words[2] = (uint32_t)(time_ns >> 32) & 0xffffu;
    words[3] = device;
    for (uint32_t i = GPURT_RECORD_HEAD_WORDS + count; i < GPURT_GROUP_WORDS * groups; i++)
        words[i] = 0;
    b->sizes[b->count++] = (uint8_t)groups;
    b->groups = end;
    return words + GPURT_RECORD_HEAD_WORDS;
}

/* A group: the tag, and the three words behind it, loaded at once with one more: they were
 * stored a while ago. */
static inline void group_put(gpurt_group_t *to, uint32_t tag, const uint32_t *words)
{
#if GPURT_GROUP_MOVE
    const __m128i loose = _mm_loadu_si128((const __m128i_u *)words);
    const __m128 turned = _mm_castsi128_ps(_mm_shuffle_epi32(loose, 0x90)); /* up by one */
    const __m128 first = _mm_castsi128_ps(_mm_cvtsi32_si128((int)tag));

    __asm__ __volatile__("movdqa %1, %0" /* B1 */
                         : "=m"(*(gpurt_group_raw_t *)to)
                         : "x"(_mm_move_ss(turned, first))
                         : "memory");
#else
    gpurt_group_t g = {.tag = tag, .word = {words[0], words[1], words[2]}};

    gpurt_group_store(to, g);
#endif
}

static inline void record_store(gpurt_group_t *ring, uint32_t mask, uint32_t position,
                                uint32_t groups, const uint32_t *words)
{
    uint32_t salt =
        position * 0x9e3779b1u >> 24; /* neighbours differ, whoever wrote them */
    uint32_t tag = gpurt_tag_rest(position, salt, 0);
    uint32_t at = (position & mask) * GPURT_GROUP_BYTES; /* in bytes */

    group_put(&ring[position & mask], gpurt_tag_first(position, salt, groups), words);
    for (uint32_t i = 1; i < groups; i++) {
        tag += GPURT_TAG_STEP;
        at = (at + GPURT_GROUP_BYTES) & (mask * GPURT_GROUP_BYTES);
        group_put((gpurt_group_t *)((char *)ring + at), tag, words + GPURT_GROUP_WORDS * i);
    }
}

bool gpurt_hostring_write(const gpurt_hostring_t *h, gpurt_hostbatch_t *b, uint64_t time_ns)
{
    gpurt_group_t *ring = h->port.groups;
    const uint32_t mask = h->port.group_count - 1, *words = b->words;
    uint32_t position;

    if (b->count > 0 &&
        !gpurt_ring_take_shared(&h->port, b->groups, b->count, time_ns, &position))
        return false;
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t groups = b->sizes[i];

        record_store(ring, mask, position, groups, words);
        position += groups;
        words += GPURT_GROUP_WORDS * groups;
    }
    b->count = b->groups = 0;
    return true;
}

static uint32_t site_of(uint32_t kind)
{
    uint32_t i = 0;

    while (i < GPURT_ACTIVITY_SITES && gpurt_activity_sites[i].kind != kind)
        i++;
    return i;
}

static bool text_add(const gpurt_hostring_t *h, gpurt_hostbatch_t *b, uint32_t site,
                     uint64_t time_ns, const char *text)
{
    size_t bytes = strnlen(text, GPURT_HOSTRING_TEXT);
    uint32_t count = (uint32_t)(bytes + 3) / 4;
    uint32_t *words = batch_room(h, b, h->whats[site], 0, time_ns, 1 + count);

    if (!words)
        return false;
    words[0] = (uint32_t)bytes;
    words[count] = 0; /* the last one may be filled in part */
    memcpy(words + 1, text, bytes);
    return true;
}

void *gpurt_hostring_room(const gpurt_hostring_t *h, gpurt_hostbatch_t *b, uint32_t kind,
                          uint32_t device, uint64_t time_ns)
{
    uint32_t site;

    if (GPURT_LIKELY(kind == GPURT_KIND_KERNEL)) /* the most frequent of all */
        return batch_room(h, b, h->whats[KERNEL_SITE], device, time_ns,
                          sizeof(gpurt_activity_kernel_t) / 4);
    site = site_of(kind);
    return site < GPURT_ACTIVITY_SITES ? batch_room(h, b, h->whats[site], device, time_ns,
                                                    gpurt_activity_sites[site].words)
                                       : NULL;
}

bool gpurt_hostring_gather(const gpurt_hostring_t *h, gpurt_hostbatch_t *b, uint32_t kind,
                           uint32_t device, uint64_t time_ns, const void *payload)
{
    uint32_t site = site_of(kind);
    void *room;

    if (kind == GPURT_KIND_TEXT)
        return text_add(h, b, site, time_ns, payload);
    room = gpurt_hostring_room(h, b, kind, device, time_ns);
    if (room)
        memcpy(room, payload, 4u * gpurt_activity_sites[site].words);
    return room != NULL;
}

bool gpurt_hostring_put(const gpurt_hostring_t *h, uint32_t kind, uint32_t device,
                        uint64_t time_ns, const void *payload)
{
    gpurt_hostbatch_t one;

    one.count = one.groups = 0;
    return gpurt_hostring_gather(h, &one, kind, device, time_ns, payload) &&
           gpurt_hostring_write(h, &one, time_ns);
}

bool gpurt_hostring_put_words(const gpurt_hostring_t *h, uint32_t what, uint32_t device,
                              uint64_t time_ns, const uint32_t *words, uint32_t count)
{
    gpurt_hostbatch_t one;
    uint32_t *room;

    one.count = one.groups = 0;
    room = batch_room(h, &one, what, device, time_ns, count);
    if (!room)
        return false;
    memcpy(room, words, 4u * count);
    return gpurt_hostring_write(h, &one, time_ns);
}

void gpurt_hostring_lose(const gpurt_hostring_t *h, uint32_t count, uint32_t reason,
                         uint64_t time_ns)
{
    gpurt_ring_lose(&h->port, count, reason, time_ns);
}
