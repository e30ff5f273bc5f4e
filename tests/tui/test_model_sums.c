/* SPDX-License-Identifier: Apache-2.0 */
/* A model against sums made the slow way; a model fed live against one fed from the log
 * of the same rows; a view that grew against one made at once; caps. */
#include "check.h"
#include "cursor.h"
#include "feed.h"
#include "hosttime.h"
#include "logsink.h"
#include "model.h"
#include "reader.h"
#include "scene.h"

#include <string.h>
#include <unistd.h>

enum {
    ROWS = 60000,
    STEP_NS = 150000
};

typedef struct stored {
    gpurt_row_t head;
    uint32_t first;
    uint32_t messages;
    uint64_t lost;
} stored_t;

static stored_t stored[ROWS];

static gpurt_modelview_t *view_new(void)
{
    gpurt_modelview_t *v = calloc(1, sizeof *v);

    CHECK_MSG(v, "memory");
    return v;
}

static uint64_t sum_if(uint64_t from_ns, uint64_t to_ns, int level, int section, int sm,
                       uint32_t site, bool lost)
{
    uint64_t sum = 0;

    for (int i = 0; i < ROWS; i++) {
        const stored_t *r = &stored[i];
        bool loss = r->head.kind == GPURT_KIND_LOSS;

        if (r->head.time_ns < from_ns || r->head.time_ns >= to_ns || loss != lost ||
            (level >= 0 && r->head.level != level) ||
            (section >= 0 && r->head.section != section) || (sm >= 0 && r->head.sm != sm) ||
            (site && r->head.site != site))
            continue;
        sum += lost ? r->lost : r->messages;
    }
    return sum;
}

static void check_sums(const gpurt_model_numbers_t *n, uint64_t end)
{
    uint64_t tick = end / 100000000u * 100000000u, second = tick - 1000000000u;

    CHECK_MSG(n->messages == sum_if(0, UINT64_MAX, -1, -1, -1, 0, false), "messages %llu",
              (unsigned long long)n->messages);
    CHECK_MSG(n->lost == sum_if(0, UINT64_MAX, -1, -1, -1, 0, true), "lost");
    CHECK_MSG(n->losses[GPURT_LOSS_FULL] == n->lost, "lost by reason");
    CHECK_MSG(n->per_second == sum_if(second, tick, -1, -1, -1, 0, false), "rate %u",
              n->per_second);
    CHECK_MSG(n->lost_per_second == sum_if(second, tick, -1, -1, -1, 0, true),
              "rate of losses");
    for (int level = 0; level < GPURT_MODEL_LEVELS; level++) {
        CHECK_MSG(n->levels[level] == sum_if(0, UINT64_MAX, level, -1, -1, 0, false),
                  "level %d", level);
        CHECK_MSG(n->level_rates[level] == sum_if(second, tick, level, -1, -1, 0, false),
                  "rate of level %d", level);
    }
    for (int section = 0; section < 2; section++) {
        CHECK_MSG(n->sections[section].messages ==
                      sum_if(0, UINT64_MAX, -1, section, -1, 0, false),
                  "section %d", section);
        CHECK_MSG(n->sections[section].lost ==
                      sum_if(0, UINT64_MAX, -1, section, -1, 0, true),
                  "lost of section %d", section);
    }
    for (int sm = 0; sm < SCENE_SMS; sm++) {
        CHECK_MSG(n->sms[sm].messages == sum_if(0, UINT64_MAX, -1, 0, sm, 0, false),
                  "SM %d", sm);
        CHECK_MSG(n->sms[sm].per_second == sum_if(second, tick, -1, 0, sm, 0, false),
                  "rate of SM %d", sm);
    }
    CHECK_MSG(n->site_count == SCENE_SITES, "%u sites", n->site_count);
    for (uint32_t i = 0; i < n->site_count; i++)
        CHECK_MSG(n->sites[i].messages ==
                          sum_if(0, UINT64_MAX, -1, -1, -1, n->sites[i].id, false) &&
                      n->sites[i].per_second ==
                          sum_if(second, tick, -1, -1, -1, n->sites[i].id, false),
                  "site %u", n->sites[i].id);
}

static void check_seconds(const gpurt_model_numbers_t *n)
{
    for (uint64_t s = n->first_ns / 1000000000u; s <= n->last_ns / 1000000000u; s++) {
        const gpurt_model_second_t *sample = &n->seconds[s % GPURT_MODEL_SECONDS];
        uint64_t from = s * 1000000000u, to = from + 1000000000u;

        CHECK_MSG(sample->second == s, "a sample for second %llu", (unsigned long long)s);
        CHECK_MSG(sample->messages == sum_if(from, to, -1, -1, -1, 0, false),
                  "its messages");
        CHECK_MSG(sample->lost == sum_if(from, to, -1, -1, -1, 0, true), "its losses");
        CHECK_MSG(sample->warnings == sum_if(from, to, GPURT_LEVEL_WARN, -1, -1, 0, false),
                  "its warnings");
        CHECK_MSG(sample->errors ==
                      sum_if(from, to, GPURT_LEVEL_ERROR, -1, -1, 0, false) +
                          sum_if(from, to, GPURT_LEVEL_PANIC, -1, -1, 0, false),
                  "its errors");
    }
}

/* The last lines of a class are its last rows, in order. */
static void check_lines(const gpurt_modelview_t *v)
{
    for (uint32_t class = 0; class < GPURT_CLASSES; class ++) {
        const gpurt_model_lines_t *l = &v->lines[class];
        uint64_t at = l->end;

        for (int i = ROWS - 1; i >= 0 && at > l->first; i--) {
            const gpurt_model_line_t *line;

            if (gpurt_model_class(stored[i].head.level) != class)
                continue;
            line = &l->list[--at % GPURT_MODEL_LINES];
            CHECK_MSG(line->number == (uint64_t)i + 1 &&
                          line->time_ns == stored[i].head.time_ns,
                      "class %u: row %llu where %d should be", class,
                      (unsigned long long)line->number, i + 1);
        }
        CHECK_MSG(l->end - l->first >= 150, "class %u keeps %llu lines", class,
                  (unsigned long long)(l->end - l->first));
    }
}

static void check_panics(const gpurt_modelview_t *v)
{
    uint64_t panics = sum_if(0, UINT64_MAX, GPURT_LEVEL_PANIC, -1, -1, 0, false);
    const gpurt_model_panic_t *p = &v->panics.list[0];
    char want[64];

    CHECK_MSG(v->numbers.panics == panics && panics > 3, "%llu panics",
              (unsigned long long)v->numbers.panics);
    for (int i = 0; i < ROWS; i++) {
        if (stored[i].head.kind != GPURT_KIND_PANIC)
            continue;
        snprintf(want, sizeof want, "bounds: idx=%u len=65536", stored[i].first);
        CHECK_MSG(strcmp(p->message, want) == 0, "%s", p->message);
        CHECK_MSG(p->block.x == stored[i].head.block && p->thread.x % 32 == 17 &&
                      p->lane == 17 && p->failed == (1u << 17 | 1u << 3) &&
                      p->lanes[3] == 70003 && p->lanes[17] == stored[i].first &&
                      p->args[1] == 65536 && p->line == 233,
                  "panic's fields");
        break;
    }
}

/* Rows into a model and a log; the model's view grows on the way. */
static void live(gpurt_writer_t *w, scene_t *scene, gpurt_model_t *m,
                 gpurt_modelview_t *grown)
{
    static scene_row_t row;
    gpurt_error_t err;

    for (int i = 0; i < ROWS; i++) {
        scene_next(scene, &row);
        stored[i].head = row.row;
        stored[i].first = row.words[0];
        stored[i].messages = gpurt_row_messages(&row.row);
        stored[i].lost = gpurt_row_lost(&row.row);
        gpurt_model_put(m, &row.row);
        CHECK_MSG(gpurt_writer_put(w, &row.row, &err) == GPURT_OK, "%s", err.text);
        if (i % 777 == 0)
            gpurt_model_view(m, row.row.time_ns, GPURT_MODEL_LIVE, grown);
    }
}

static void replay(const char *path, gpurt_modelview_t *view, uint64_t now_ns)
{
    gpurt_log_summary_t sum;
    gpurt_cursor_t *cursor;
    const gpurt_row_t *row;
    gpurt_model_t *m;
    gpurt_error_t err;
    gpurt_log_t *log;

    CHECK_MSG(gpurt_log_open(path, &log, &err) == GPURT_OK, "%s", err.text);
    gpurt_log_summary(log, &sum);
    CHECK_MSG(gpurt_model_create(gpurt_log_dictionary(log), &sum.about, &m, &err) ==
                  GPURT_OK,
              "%s", err.text);
    CHECK_MSG(gpurt_cursor_open(log, 0, &cursor, &err) == GPURT_OK, "%s", err.text);
    while ((row = gpurt_cursor_next(cursor)) != NULL)
        gpurt_model_put(m, row);
    gpurt_model_view(m, now_ns, GPURT_MODEL_LIVE, view);
    gpurt_cursor_close(cursor);
    gpurt_model_destroy(m);
    gpurt_log_close(log);
}

/* Equal but for what lies behind the ends of texts and lines. */
static void check_same(const gpurt_modelview_t *a, const gpurt_modelview_t *b,
                       const char *what)
{
    CHECK_MSG(memcmp(&a->numbers, &b->numbers, sizeof a->numbers) == 0, "%s: numbers",
              what);
    CHECK_MSG(memcmp(&a->panics, &b->panics, sizeof a->panics) == 0, "%s: panics", what);
    CHECK_MSG(memcmp(&a->names, &b->names, sizeof a->names) == 0, "%s: names", what);
    for (int class = 0; class < GPURT_CLASSES; class ++) {
        const gpurt_model_lines_t *x = &a->lines[class], *y = &b->lines[class];
        uint64_t first = x->first > y->first ? x->first : y->first;

        CHECK_MSG(x->end == y->end && x->first <= y->first, "%s: lines", what);
        for (uint64_t i = first; i < x->end; i++)
            CHECK_MSG(memcmp(&x->list[i % GPURT_MODEL_LINES],
                             &y->list[i % GPURT_MODEL_LINES],
                             offsetof(gpurt_model_line_t, text)) == 0 &&
                          strcmp(x->list[i % GPURT_MODEL_LINES].text,
                                 y->list[i % GPURT_MODEL_LINES].text) == 0,
                      "%s: line %llu of class %d", what, (unsigned long long)i, class);
    }
}

static void test_scene(void)
{
    gpurt_writer_options_t options = {.struct_size = sizeof options, .frame_rows = 3000};
    /* Also of moments past, as long as late rows are forgiven. */
    static const int64_t off_ms[] = {-450, -250, -30, 0, 50, 700, 2000, 30};
    gpurt_modelview_t *grown = view_new(), *fresh = view_new(), *again = view_new();
    char path[] = "/tmp/test_model.XXXXXX";
    gplog_file_t about;
    gpurt_writer_t *w;
    gpurt_model_t *m;
    gpurt_error_t err;
    scene_t scene;
    uint64_t now;
    int fd = mkstemp(path);

    CHECK_MSG(fd >= 0, "mkstemp");
    close(fd);
    unlink(path);
    scene_about(&about);
    options.about = &about;
    CHECK_MSG(gpurt_writer_open(path, &options, &w, &err) == GPURT_OK, "%s", err.text);
    scene_begin(&scene, gpurt_writer_dictionary(w), 7, STEP_NS);
    CHECK_MSG(gpurt_model_create(gpurt_writer_dictionary(w), &about, &m, &err) == GPURT_OK,
              "%s", err.text);
    live(w, &scene, m, grown);
    for (size_t i = 0; i < sizeof off_ms / sizeof off_ms[0]; i++) {
        now = gpurt_model_last_ns(m) + (uint64_t)(off_ms[i] * 1000000);
        gpurt_model_view(m, now, GPURT_MODEL_LIVE, fresh);
        check_sums(&fresh->numbers, now);
    }
    gpurt_model_view(m, now - 5000000000u, GPURT_MODEL_LIVE, fresh);
    CHECK_MSG(fresh->numbers.per_second == 0, "no rate is known of so long ago");
    gpurt_model_view(m, now, GPURT_MODEL_LIVE, fresh);
    gpurt_model_view(m, now, GPURT_MODEL_LIVE, grown);
    check_seconds(&fresh->numbers);
    check_lines(fresh);
    check_lines(grown);
    check_panics(fresh);
    check_same(grown, fresh, "a view that grew");
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
    replay(path, again, now);
    check_same(again, fresh, "a replay");
    gpurt_model_destroy(m);
    unlink(path);
    free(grown);
    free(fresh);
    free(again);
}

/* More sites and panics than there are rows for: nothing is lost from the sums. */
static void test_caps(void)
{
    enum {
        SITES = GPURT_MODEL_SITES + 88,
        EACH = 3,
        PANICS = GPURT_MODEL_PANICS + 10
    };
    gpurt_modelview_t *v = view_new();
    gpurt_dictionary_t d = {0};
    scene_row_t row = {.row = {.kind = GPURT_KIND_LOG, .words = 0}};
    gpurt_model_t *m;
    gpurt_error_t err;

    CHECK_MSG(gpurt_model_create(&d, NULL, &m, &err) == GPURT_OK, "%s", err.text);
    for (uint32_t i = 0; i < SITES * EACH; i++) {
        row.row.time_ns = SCENE_START_NS + i;
        row.row.site = 1 + i % SITES;
        row.row.level = (uint8_t)(i % 256); /* also levels that do not exist */
        row.row.section = (uint8_t)(i % 256);
        row.row.sm = (uint16_t)(i * 257u);
        row.row.slot = (uint8_t)i;
        gpurt_model_put(m, &row.row);
    }
    row.row.kind = GPURT_KIND_PANIC;
    row.row.level = GPURT_LEVEL_PANIC;
    for (uint32_t i = 0; i < PANICS; i++)
        gpurt_model_put(m, &row.row); /* with no words at all */
    gpurt_model_view(m, SCENE_START_NS, GPURT_MODEL_LIVE, v);
    CHECK_MSG(v->numbers.site_count == GPURT_MODEL_SITES, "sites");
    CHECK_MSG(v->numbers.sites[GPURT_MODEL_SITES].messages ==
                  (SITES - GPURT_MODEL_SITES) * EACH + PANICS,
              "%llu in the row of all others",
              (unsigned long long)v->numbers.sites[GPURT_MODEL_SITES].messages);
    CHECK_MSG(v->numbers.messages == SITES * EACH + PANICS, "messages");
    CHECK_MSG(v->numbers.panics == PANICS && v->panics.count == GPURT_MODEL_PANICS,
              "panics");
    CHECK_MSG(v->numbers.sections[GPURT_BOX_SECTIONS].messages == v->numbers.messages,
              "without a table all rows are of the section that is not in it");
    gpurt_model_destroy(m);
    gpurt_dictionary_fini(&d);
    free(v);
}

/* The real way: rings, a drain with the log and the model as sinks, and the log again. */
/* Records of all kinds by the clock of `now`. Returns: messages. */
static uint32_t feed_all(const gpurt_boxmap_t *map, uint64_t now)
{
    uint32_t sent = 0;

    for (uint32_t i = 0; i < 12000; i++) { /* one batch: so far rows come by time */
        gpurt_ring_port_t port = gpurt_boxmap_port(map, 0, i % 32);

        sent += feed_uniform(&port, 1 + i % FEED_SITES, i, i, i % 32, now + i * 1000);
        if (i % 6000 == 5999)
            sent += 32 * feed_lanes(&port, 1, i, i, 0, now + i * 1000);
    }
    feed_panic(map, 0, 0, 2);
    return sent + 1;
}

static void test_drained(void)
{
    gpurt_section_plan_t section = {.kind = GPURT_SECTION_CPU,
                                    .sm_count = 8,
                                    .warp_slots = 4,
                                    .ring_bytes = 65536,
                                    .name = "feed"};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &section};
    gpurt_drain_options_t o = {.struct_size = sizeof o, .sink_count = 2};
    gpurt_writer_options_t wo = {.struct_size = sizeof wo};
    gpurt_modelview_t *fed = view_new(), *again = view_new();
    char path[] = "/tmp/test_model.XXXXXX";
    uint64_t now = gpurt_real_ns();
    gpurt_clock_fit_t same = {.device_ns = now, .real_ns = now};
    gplog_file_t about;
    gpurt_boxmap_t map;
    gpurt_writer_t *w;
    gpurt_drain_t *d;
    gpurt_model_t *m;
    gpurt_error_t err;
    uint32_t sent;
    int fd = mkstemp(path);

    close(fd);
    unlink(path);
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    gpurt_boxmap_set_clock(&map, 0, &same);
    feed_define(&map, 0);
    gpurt_drain_about(&map, &about);
    wo.about = &about;
    CHECK_MSG(gpurt_writer_open(path, &wo, &w, &err) == GPURT_OK, "%s", err.text);
    o.dictionary = gpurt_writer_dictionary(w);
    CHECK_MSG(gpurt_model_create(o.dictionary, &about, &m, &err) == GPURT_OK, "%s",
              err.text);
    o.sinks[0] = gpurt_logsink(w);
    o.sinks[1] = gpurt_model_sink(m);
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    sent = feed_all(&map, now);
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    now = gpurt_model_last_ns(m);
    gpurt_model_view(m, now, GPURT_MODEL_LIVE, fed); /* while its dictionary is there */
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
    replay(path, again, now);
    check_same(again, fed, "a replay of what was drained");
    CHECK_MSG(again->numbers.messages == sent, "%llu messages of %u",
              (unsigned long long)again->numbers.messages, sent);
    CHECK_MSG(again->numbers.panics == 1 && again->panics.list[0].args[0] == 70211,
              "panic");
    gpurt_boxmap_detach(&map);
    gpurt_model_destroy(m);
    unlink(path);
    free(fed);
    free(again);
}

int main(void)
{
    test_scene();
    test_caps();
    test_drained();
    return 0;
}
