/* SPDX-License-Identifier: Apache-2.0 */
#include "channellife.h"

#include "channelkeep.h"
#include "channelname.h"
#include "life.h"
#include "ownwait.h"
#include "refuse.h"

#include <string.h>

static gpurt_lock_t order_lock = GPURT_LOCK_INIT; /* one answer for all who ask */

static void *words_of(const void *channel)
{
    void *words = NULL;

    if (channel)
        memcpy(&words, channel, sizeof words);
    return words;
}

static uint32_t id_of(const gpurt_channellife_t *k, const void *channel)
{
    uint32_t id = 0;

    if (channel)
        memcpy(&id, (const char *)channel + k->id_at, sizeof id);
    return id;
}

static gpurt_channel_desk_t *desk_of(const gpurt_channellife_t *k, void *words)
{
    return (gpurt_channel_desk_t *)(void *)((char *)words + k->desk_at);
}

static gpurt_status_t work_do(gpurt_t *rt, gpurt_channellife_work_t *work,
                              const void *channel, void *words, gpurt_error_t *err)
{
    gpurt_stream_t stream;
    gpurt_status_t st = gpurt_stream_create(rt, &stream, err);

    if (st != GPURT_OK)
        return st;
    st = work(rt, stream, channel, words, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, stream, err);
    gpurt_stream_destroy(rt, stream);
    return st;
}

static gpurt_status_t order_do(const gpurt_channellife_t *k, gpurt_t *rt,
                               const void *channel, const gpurt_kernel_t *kernel,
                               const void *args, size_t bytes, void *words,
                               gpurt_error_t *err)
{
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {GPURT_WARP_SIZE, 1, 1}};
    gpurt_status_t st = gpurt_stream_create(rt, &launch.stream, err);

    if (st != GPURT_OK)
        return st;
    gpurt_launch_from(__FILE__, __LINE__);
    st = gpurt_launch_kernel(rt, &launch, kernel, args, bytes, err);
    if (st == GPURT_OK)
        st = k->read(rt, launch.stream, channel, words, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, launch.stream, err);
    gpurt_stream_destroy(rt, launch.stream);
    return st;
}

static gpurt_status_t take(const gpurt_channellife_t *k, gpurt_t *rt, const void *channel,
                           gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    gpurt_status_t st = gpurt_life_enter(rt, &o, err);

    if (st != GPURT_OK)
        return st;
    return gpurt_life_leave(o, gpurt_id_take_of(k->table, k->table->what, o,
                                                id_of(k, channel), words_of(channel), err));
}

/* ---- tables of kinds that a process uses ---------------------------------------------- */

/* Of channels. A kind that is added raises it: else the last one's table is forgotten. */
enum {
    KINDS = 6
};
static gpurt_lock_t tables_lock = GPURT_LOCK_INIT;
static gpurt_idtable_t *tables[KINDS]; /* under the lock; NULL: no more */

static void table_note(gpurt_idtable_t *t)
{
    uint32_t i = 0;

    gpurt_lock_take(&tables_lock);
    while (i < KINDS - 1 && tables[i] && tables[i] != t)
        i++;
    tables[i] = t;
    gpurt_lock_give(&tables_lock);
}

void gpurt_channellife_closed(uint32_t device)
{
    gpurt_lock_take(&tables_lock);
    for (uint32_t i = 0; i < KINDS && tables[i]; i++)
        gpurt_id_close(tables[i], device);
    gpurt_lock_give(&tables_lock);
}

/* ---- life ---------------------------------------------------------------------------- */

gpurt_status_t gpurt_channellife_get(const gpurt_channellife_t *k, gpurt_t *rt,
                                     size_t bytes, void **memory, uint32_t *id,
                                     gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_mem_create(rt, bytes, memory, err);

    if (st != GPURT_OK)
        return st;
    table_note(k->table);
    *id = gpurt_id_add(k->table, rt, *memory, NULL);
    if (*id)
        return GPURT_OK;
    gpurt_mem_destroy(rt, *memory);
    return REFUSE(err, GPURT_E_NOMEM, "%u %s exist, more cannot be: destroy some",
                  k->table->count, k->plural);
}

gpurt_status_t gpurt_channellife_begin(const gpurt_channellife_t *k, gpurt_t *rt,
                                       const void *made, void *words, const char *name,
                                       void *out, gpurt_error_t *err)
{
    uint32_t id = id_of(k, made);
    gpurt_status_t st;

    gpurt_channel_name(desk_of(k, words), id, name);
    st = work_do(rt, k->init, made, words, err);
    if (st != GPURT_OK) {
        if (gpurt_id_retire(k->table, k->table->what, rt, id, words_of(made), NULL) ==
            GPURT_OK)
            gpurt_id_drop(k->table, id);
        gpurt_mem_destroy(rt, words_of(made));
        return st;
    }
    memcpy(out, made, k->bytes);
    gpurt_watch_begin(rt, k->class_, id, out, k->bytes);
    return GPURT_OK;
}

gpurt_status_t gpurt_channellife_end(const gpurt_channellife_t *k, gpurt_t *rt,
                                     void *channel, void *words, gpurt_error_t *err)
{
    uint32_t id = id_of(k, channel);
    gpurt_status_t st;

    if (!words_of(channel))
        return GPURT_OK;
    st = gpurt_id_retire(k->table, k->table->what, rt, id, words_of(channel), err);
    if (st != GPURT_OK)
        return st;
    gpurt_id_outlast(k->table, id); /* their answers lie in the words */
    gpurt_watch_end(rt, k->class_, id);
    gpurt_channel_name(desk_of(k, words), id, NULL);
    desk_of(k, words)->xstate = GPURT_CHANNEL_DESTROYED;
    st = work_do(rt, k->fini, channel, words, err);
    gpurt_id_drop(k->table, id);
    if (st == GPURT_OK)
        st = gpurt_channel_keep(rt, words_of(channel));
    if (st == GPURT_OK)
        memset(channel, 0, k->bytes);
    return st;
}

/* ---- while kernels use it ------------------------------------------------------------- */

gpurt_status_t gpurt_channellife_order(const gpurt_channellife_t *k, gpurt_t *rt,
                                       const void *channel, const gpurt_kernel_t *kernel,
                                       const void *args, size_t bytes, void *words,
                                       gpurt_error_t *err)
{
    gpurt_status_t st = take(k, rt, channel, err);

    if (st != GPURT_OK)
        return st;
    gpurt_lock_take(&order_lock);
    st = order_do(k, rt, channel, kernel, args, bytes, words, err);
    gpurt_lock_give(&order_lock);
    gpurt_id_drop(k->table, id_of(k, channel));
    return st;
}

gpurt_status_t gpurt_channellife_close(const gpurt_channellife_t *k, gpurt_t *rt,
                                       const void *channel, void *words, gpurt_error_t *err)
{
    const gpurt_channel_desk_t *desk = desk_of(k, words);
    gpurt_status_t st =
        gpurt_channellife_order(k, rt, channel, k->close, channel, k->bytes, words, err);

    if (st == GPURT_OK && desk->xanswer != GPURT_OK)
        return REFUSE(err, desk->xanswer, "%s \"%.*s\" was closed before", k->table->what,
                      (int)sizeof desk->name, desk->name);
    return st;
}

gpurt_status_t gpurt_channellife_ask(const gpurt_channellife_t *k, gpurt_t *rt,
                                     const void *channel, void *words, void *out,
                                     size_t bytes, gpurt_error_t *err)
{
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the status");
    memset(out, 0, bytes);
    st = take(k, rt, channel, err);
    if (st != GPURT_OK)
        return st;
    st = work_do(rt, k->read, channel, words, err);
    gpurt_id_drop(k->table, id_of(k, channel));
    return st;
}
