/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include "fault_row.h"
#include "hosttime.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void live_problem(live_t *l, const gpurt_error_t *err)
{
    pthread_mutex_lock(&l->lock);
    l->problem = *err;
    pthread_mutex_unlock(&l->lock);
}

/* ---- the log ------------------------------------------------------------------------- */

/* A full disk ends the recording, and the screen goes on. Returns: GPURT_OK always. */
static gpurt_status_t log_check(live_t *l, gpurt_status_t st, const gpurt_error_t *err)
{
    if (st == GPURT_OK)
        return GPURT_OK;
    l->log_failed = true;
    pthread_mutex_lock(&l->lock);
    l->problem = l->log_failure = *err;
    pthread_mutex_unlock(&l->lock);
    return GPURT_OK;
}

static gpurt_status_t log_put(void *context, const gpurt_row_t *row, gpurt_error_t *err)
{
    live_box_t *one = context;
    live_t *l = one->live;

    return l->log_failed
               ? GPURT_OK
               : log_check(l, gpurt_writer_put_of(l->log, &one->numbers, row, err), err);
}

static gpurt_status_t log_flush(void *context, gpurt_error_t *err)
{
    live_t *l = ((live_box_t *)context)->live;

    return l->log_failed ? GPURT_OK : log_check(l, gpurt_writer_flush(l->log, err), err);
}

/* ---- begin and end ------------------------------------------------------------------- */

void live_box_fini(live_box_t *one)
{
    gpurt_drain_close(one->drain);
    hang_watch_fini(&one->watch);
    gpurt_boxmap_detach(&one->map);
    gpurt_modelshare_close(one->reader);
    gpurt_modelshare_close(one->share);
    gpurt_model_destroy(one->model);
    gpurt_dictionary_fini(&one->dictionary);
    memset(one, 0, sizeof *one);
}

/* A name in the runtime folder is for others, and the place of who drains; without one the
 * screen still works. */
static gpurt_status_t share_make(live_box_t *one, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_E_BUSY;

    if (one->map.writable)
        st = gpurt_modelshare_create(&one->map.box->identity, &one->share, err);
    if (st != GPURT_OK)
        st = gpurt_modelshare_create(NULL, &one->share, err);
    if (st != GPURT_OK)
        return st;
    gpurt_modelshare_put(one->share, one->model, gpurt_real_ns(), GPURT_MODEL_LIVE);
    return gpurt_modelshare_join(one->share, &one->reader, err);
}

static void alarm_show(void *context, uint32_t section, uint32_t coming)
{
    live_box_t *one = context;

    gpurt_modelshare_alarm(one->share, section, coming); /* there when rounds begin */
}

static void count_one(live_t *l)
{
    pthread_mutex_lock(&l->lock);
    l->count++;
    pthread_mutex_unlock(&l->lock);
}

gpurt_status_t live_box_start(live_t *l, live_box_t *one, gpurt_error_t *err)
{
    gpurt_drain_options_t o = {.struct_size = sizeof o};
    gplog_file_t about;
    gpurt_status_t st = GPURT_OK;

    one->made_ns = one->map.box->identity.real_ns;
    gpurt_drain_about(&one->map, &about);
    o.dictionary = l->log ? gpurt_writer_dictionary(l->log) : &one->dictionary;
    if (l->log) {
        st = gpurt_writer_about(l->log, &about, err);
        gpurt_writer_numbers(l->log, &about, &one->numbers);
        one->live = l;
        o.sinks[o.sink_count++] =
            (gpurt_drain_sink_t){.context = one, .put = log_put, .flush = log_flush};
    }
    if (st == GPURT_OK)
        st = gpurt_model_create(o.dictionary, &about, &one->model, err);
    if (st != GPURT_OK)
        goto fail;
    o.sinks[o.sink_count++] = gpurt_model_sink(one->model);
    one->tap = (panic_tap_t){&l->hook, o.dictionary};
    if (l->failures.command)
        o.sinks[o.sink_count++] = panic_tap_sink(&one->tap);
    o.sinks[o.sink_count++] = (gpurt_drain_sink_t){.context = one, .alarm = alarm_show};
    st = gpurt_drain_open(&one->map, &o, &one->drain, err);
    if (st == GPURT_OK)
        st = share_make(one, err);
    if (st != GPURT_OK)
        goto fail;
    count_one(l);
    return GPURT_OK;

fail:
    live_box_fini(one);
    return st;
}

void live_box_tick(live_t *l, live_box_t *one)
{
    const uint64_t one_more = 1, now_ns = gpurt_real_ns();
    ssize_t put;

    if (one->sampled || !gpurt_model_is_sampled(one->model)) {
        gpurt_modelshare_tick(one->share, one->model, now_ns, GPURT_MODEL_LIVE);
        return;
    }
    one->sampled = true;
    gpurt_modelshare_put(one->share, one->model, now_ns, GPURT_MODEL_LIVE);
    put = l->source.news_fd < 0 ? 0 : write(l->source.news_fd, &one_more, sizeof one_more);
    (void)put; /* it is readable already */
}

void live_box_show(live_t *l, gpurt_modelshare_t *share)
{
    live_box_t *one = &l->box[l->count];
    gpurt_error_t err;

    one->map.fd = -1;
    one->made_ns = gpurt_modelshare_box_ns(share);
    one->share = share;
    if (gpurt_modelshare_join(share, &one->reader, &err) == GPURT_OK) {
        count_one(l);
    } else {
        live_problem(l, &err);
        live_box_fini(one);
    }
}

/* ---- failures ------------------------------------------------------------------------ */

static gpurt_dictionary_t *dictionary_of(const live_t *l, live_box_t *one)
{
    return l->log ? gpurt_writer_dictionary(l->log) : &one->dictionary;
}

static bool has_device(const live_box_t *one, uint32_t device)
{
    for (uint32_t i = 0; i < one->map.section_count; i++)
        if (one->map.sections[i].kind == GPURT_SECTION_CUDA &&
            one->map.sections[i].device == device)
            return true;
    return false;
}

/* A dump is of a process, and each of its boxes takes the faults of its devices. Those of a
 * device that no box has are the first's that asks. */
static bool is_ours(const live_t *l, const live_box_t *one, uint32_t device)
{
    bool asked = false;

    for (uint32_t i = 0; i < l->count; i++) {
        const live_box_t *other = &l->box[i];

        if ((!other->drain && !other->dumped) ||
            other->map.box->identity.pid != one->map.box->identity.pid)
            continue;
        if (has_device(other, device))
            return has_device(one, device);
        asked |= other != one && other->dumped;
    }
    return !asked;
}

static void faults_choose(const live_t *l, const live_box_t *one, fault_book_t *book)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < book->count; i++) {
        const fault_t *f = &book->faults[i];

        if (is_ours(l, one, book->core->devices[fault_sm(book->core, f)->device].id))
            book->faults[kept++] = *f;
    }
    book->count = kept;
}

static gpurt_status_t fault_put(void *context, const gpurt_row_t *row, gpurt_error_t *err)
{
    live_box_t *one = context;

    (void)err;
    gpurt_model_put(one->model, row);
    panic_hook_row(one->tap.hook, one->tap.sites, row);
    return GPURT_OK;
}

/* A GPU that failed under the box's process: its faults become panics of the model. */
static void faults_take(live_t *l, live_box_t *one)
{
    fault_book_t book = {0};
    gplog_file_t about;
    char path[PATH_MAX];
    gpurt_error_t err;
    gpucore_t *core;
    gpurt_status_t st;

    if (!l->failures.capture ||
        !gpu_capture_of(l->failures.capture, (pid_t)one->map.box->identity.pid, path))
        return;
    st = gpucore_open(path, &core, &err);
    if (st == GPURT_OK)
        st = fault_book_fill(&book, core, &err);
    if (st == GPURT_OK)
        faults_choose(l, one, &book);
    one->dumped = true;
    gpurt_drain_about(&one->map, &about);
    if (st == GPURT_OK)
        st = fault_rows(dictionary_of(l, one), &book, &about, fault_time(path, core, 0), 0,
                        fault_put, one, &err);
    if (st != GPURT_OK)
        live_problem(l, &err);
    fault_book_fini(&book);
    gpucore_close(core);
}

void live_hang_take(live_t *l, live_box_t *one, gpurt_waitgraph_t *g)
{
    gpurt_dictionary_t *d = dictionary_of(l, one);
    uint64_t blob = 0;
    gpurt_error_t err;
    gpurt_row_t *row;
    void *bytes;
    size_t size;

    if (l->log && !l->log_failed &&
        gpurt_waits_pack(g->waits, &bytes, &size, NULL) == GPURT_OK) {
        log_check(l, gpurt_writer_blob(l->log, GPLOG_BLOB_WAITS, bytes, size, &blob, &err),
                  &err);
        free(bytes);
    }
    row = hang_row_make(d, g, blob);
    if (row) {
        gpurt_model_put(one->model, row);
        panic_hook_row(&l->hook, d, row);
        if (l->log)
            log_put(one, row, &err);
    }
    free(row);
    gpurt_waitgraph_fini(g);
}

void live_box_end(live_t *l, live_box_t *one)
{
    gpurt_waitgraph_t g;
    gpurt_error_t err;

    if (gpurt_drain_finish(one->drain, &err) != GPURT_OK)
        live_problem(l, &err);
    /* relaxed: the application is gone, or has closed the box for good */
    if (gpurt_load_relaxed_sys_u32(&one->map.box->xlife) != GPURT_LIFE_CLOSED &&
        !gpurt_boxmap_alive(&one->map) && hang_watch_last(&one->watch, &one->map, &g))
        live_hang_take(l, one, &g);
    faults_take(l, one);
    gpurt_modelshare_put(one->share, one->model, gpurt_real_ns(), GPURT_MODEL_ENDED);
    gpurt_drain_close(one->drain);
    one->drain = NULL;
}
