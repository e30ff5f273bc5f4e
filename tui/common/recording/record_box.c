/* SPDX-License-Identifier: Apache-2.0 */
#include "record_box.h"

#include "hosttime.h"
#include "program.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WAIT_MS = 5,
    STRANGERS_TOLD = 4 /* anybody can come, as often as he likes */
};

void record_boxes_init(record_boxes_t *b, gpurt_writer_t *writer, bool spin)
{
    memset(b, 0, sizeof *b);
    b->writer = writer;
    b->spin = spin;
    b->lobby.listener = -1;
    b->scribe = writer && gpurt_scribe_pays() ? gpurt_scribe_open() : NULL;
}

gpurt_status_t record_boxes_open(record_boxes_t *b, gpurt_writer_t *writer, bool spin,
                                 gpurt_error_t *err)
{
    record_boxes_init(b, writer, spin);
    return gpurt_lobby_open(&b->lobby, err);
}

static void hang_tell(record_boxes_t *b, record_box_t *one, gpurt_waitgraph_t *g)
{
    const hang_sinks_t sinks = {.log = &one->log,
                                .publish = one->publish,
                                .hook = b->tap.hook,
                                .name = b->teller,
                                .out = b->teller ? stderr : NULL};

    record_boxes_settle(b);
    b->unread +=
        b->writer && hang_join(&sinks, g, one->map.box->identity.pid, &b->err) != GPURT_OK;
    gpurt_waitgraph_fini(g);
}

/* A program that was killed in a deadlock, however short. */
static void hang_last(record_boxes_t *b, record_box_t *one)
{
    gpurt_waitgraph_t g;

    /* relaxed: the application is gone */
    if (gpurt_load_relaxed_sys_u32(&one->map.box->xlife) != GPURT_LIFE_CLOSED &&
        hang_watch_last(&one->watch, &one->map, &g))
        hang_tell(b, one, &g);
}

bool record_boxes_waits(record_boxes_t *b, uint32_t silence)
{
    gpurt_waitgraph_t g;
    bool soon = false;

    for (uint32_t i = 0; i < RECORD_BOXES; i++) {
        record_box_t *one = &b->box[i];
        hang_found_t found = one->drain
                                 ? hang_watch_silence(&one->watch, &one->map, silence, &g)
                                 : HANG_NOTHING;

        if (found == HANG_FOUND)
            hang_tell(b, one, &g);
        soon = soon || found == HANG_SOON;
    }
    return soon;
}

static void box_end(record_box_t *one)
{
    hang_watch_fini(&one->watch);
    kernel_hang_fini(&one->kernel_hang);
    gpurt_drain_close(one->drain);
    publish_close(one->publish);
    one->publish = NULL;
    gpurt_boxmap_detach(&one->map);
    one->drain = NULL;
}

void record_boxes_close(record_boxes_t *b)
{
    for (uint32_t i = 0; i < RECORD_BOXES; i++)
        if (b->box[i].drain)
            box_end(&b->box[i]);
    gpurt_scribe_close(b->scribe);
    b->scribe = NULL;
    gpurt_dictionary_fini(&b->words);
    gpurt_lobby_close(&b->lobby);
}

void record_boxes_settle(const record_boxes_t *b)
{
    gpurt_scribe_settle(b->scribe);
}

uint32_t record_boxes_count(const record_boxes_t *b)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < RECORD_BOXES; i++)
        count += b->box[i].drain != NULL;
    return count;
}

bool record_boxes_pending(const record_boxes_t *b)
{
    return b->lobby.guests > 0 || record_boxes_count(b) > 0;
}

/* The log's part of a box, if there is a log. */
static gpurt_status_t log_start(record_boxes_t *b, record_box_t *one,
                                gpurt_drain_options_t *o, const gplog_file_t *about)
{
    gpurt_status_t st;

    o->dictionary = b->writer ? gpurt_writer_dictionary(b->writer) : &b->words;
    if (!b->writer)
        return GPURT_OK;
    o->sinks[o->sink_count++] = gpurt_logsink_of(&one->log);
    o->scribe = b->scribe;
    record_boxes_settle(b);
    st = gpurt_writer_about(b->writer, about, &b->err);
    one->log.writer = b->writer;
    gpurt_writer_numbers(b->writer, about, &one->log.numbers);
    return st;
}

/* one->map is attached; all is released on failure. */
static gpurt_status_t box_start(record_boxes_t *b, record_box_t *one)
{
    gpurt_drain_options_t o = {.struct_size = sizeof o, .spin = b->spin};
    gplog_file_t *about = &b->about[b->seen % RECORD_BOXES];
    gpurt_status_t st;

    one->watch = (hang_watch_t){.limit_ns = b->hang_ns};
    gpurt_drain_about(&one->map, about);
    st = log_start(b, one, &o, about);
    if (b->print && b->print->out)
        o.sinks[o.sink_count++] =
            liveprint_sink(&one->print, b->print, &one->map, o.dictionary);
    if (b->tap.hook)
        o.sinks[o.sink_count++] = panic_tap_sink(&b->tap);
    if (b->stall) {
        o.sinks[o.sink_count++] = stall_sink(b->stall);
        kernel_hang_init(&one->kernel_hang, b->hang_ns, o.dictionary, about);
        o.sinks[o.sink_count++] = kernel_hang_sink(&one->kernel_hang);
    }
    if (st == GPURT_OK) {
        one->publish = publish_open(&one->map, &o);
        st = gpurt_drain_open(&one->map, &o, &one->drain, &b->err);
    }
    if (st != GPURT_OK)
        box_end(one);
    return st;
}

/* A process whose box is none of the last, or that has none, is still not another one: of the
 * box that stands in for its own only the devices are taken. */
static void identity_of(const record_boxes_t *b, uint32_t pid, gpurt_box_identity_t *id)
{
    gplog_program_t p;

    id->pid = pid;
    id->start_ticks = 0;
    id->real_ns = 0;
    memset(id->program, 0, sizeof id->program);
    if (!gplog_program_find(gpurt_writer_dictionary(b->writer), pid, &p))
        return;
    id->start_ticks = p.start_ticks;
    memcpy(id->program, p.name, sizeof id->program);
}

bool record_boxes_about(const record_boxes_t *b, uint32_t pid, gplog_file_t *out)
{
    uint32_t kept = b->seen < RECORD_BOXES ? b->seen : RECORD_BOXES;

    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < kept; i++)
        if (b->about[i].identity.pid == pid)
            gplog_about_join(out, &b->about[i]);
    if (out->identity.pid != pid && kept) {
        *out = b->about[(b->seen - 1) % RECORD_BOXES];
        identity_of(b, pid, &out->identity);
    }
    return kept > 0;
}

static record_box_t *place_free(record_boxes_t *b)
{
    for (uint32_t i = 0; i < RECORD_BOXES; i++)
        if (!b->box[i].drain)
            return &b->box[i];
    return NULL;
}

gpurt_status_t record_boxes_add(record_boxes_t *b, gpurt_boxmap_t map)
{
    record_box_t *one = place_free(b);
    gpurt_status_t st;

    if (!one) {
        gpurt_boxmap_detach(&map);
        return gpurt_fail(&b->err, GPURT_E_NOMEM, GPURT_FROM_GPURT, 0,
                          "more than %d boxes at once", RECORD_BOXES);
    }
    one->map = map;
    st = box_start(b, one);
    b->seen++;
    return st;
}

/* One that we found by ourselves before it was handed over. */
static bool is_read(const record_boxes_t *b, int fd)
{
    struct stat file, other;
    uint32_t i = 0;

    if (fstat(fd, &file) != 0)
        return false;
    while (i < RECORD_BOXES &&
           !(b->box[i].drain && fstat(b->box[i].map.fd, &other) == 0 &&
             other.st_dev == file.st_dev && other.st_ino == file.st_ino))
        i++;
    return i < RECORD_BOXES;
}

/* It may be a program that somebody looks for in the log. */
static void stranger_tell(record_boxes_t *b, const gpurt_error_t *why)
{
    if (b->strangers++ < STRANGERS_TOLD && b->teller)
        fprintf(stderr, "%s: not recorded: %s\n", b->teller, why->text);
}

void record_boxes_accept(record_boxes_t *b)
{
    gpurt_error_t why;
    gpurt_boxmap_t map;
    gpurt_status_t st;
    int fd;

    if (!place_free(b))
        return;
    st = gpurt_lobby_take(&b->lobby, &fd, &why);
    if (st == GPURT_E_UNSUPPORTED) { /* one of ours, which is lost for the log */
        b->err = why;
        b->seen++;
        b->unread++;
    } else if (st != GPURT_OK && st != GPURT_E_NOT_READY) {
        stranger_tell(b, &why);
    }
    if (st != GPURT_OK)
        return;
    if (!is_read(b, fd)) {
        st = gpurt_boxmap_attach_fd(fd, true, &map, &b->err);
        if (st == GPURT_OK)
            st = record_boxes_add(b, map);
        else
            b->seen++;
        b->unread += st != GPURT_OK;
    }
    close(fd);
}

uint64_t record_boxes_round(record_boxes_t *b)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < RECORD_BOXES; i++) {
        record_box_t *one = &b->box[i];
        gpurt_waitgraph_t g;
        uint32_t rows = 0;

        if (!one->drain)
            continue;
        if (gpurt_drain_round(one->drain, &rows, &b->err) != GPURT_OK)
            usleep(WAIT_MS *
                   1000); /* a full disk: rings keep rows, and say what they drop */
        sum += rows;
        publish_tick(one->publish);
        if (hang_watch_look(&one->watch, &one->map, &g))
            hang_tell(b, one, &g);
        if (rows == 0 && gpurt_drain_over(one->drain)) {
            b->unread += gpurt_drain_finish(one->drain, &b->err) != GPURT_OK;
            hang_last(b, one);
            box_end(one);
        }
    }
    return sum;
}

uint32_t record_boxes_kernels(record_boxes_t *b, bool dumps)
{
    const uint64_t now = gpurt_steady_ns();
    uint32_t told = 0;

    for (uint32_t i = 0; i < RECORD_BOXES; i++)
        if (b->box[i].drain && kernel_hang_due(&b->box[i].kernel_hang, now))
            told += kernel_hang_print(&b->box[i].kernel_hang, b->teller, dumps, stderr);
    return told;
}

void record_boxes_end(record_boxes_t *b)
{
    uint32_t seen;

    do {
        seen = b->seen;
        record_boxes_accept(b);
        if (record_boxes_round(b) == 0 && record_boxes_pending(b))
            record_boxes_rest(b);
    } while (b->seen != seen || record_boxes_pending(b));
}

void record_boxes_rest(record_boxes_t *b)
{
    gpurt_drain_t *drains[RECORD_BOXES];
    uint32_t count = 0;

    for (uint32_t i = 0; i < RECORD_BOXES; i++)
        if (b->box[i].drain)
            drains[count++] = b->box[i].drain;
    if (count)
        gpurt_drains_rest(drains, count);
    else
        gpurt_lobby_wait(&b->lobby, WAIT_MS);
}
