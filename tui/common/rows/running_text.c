/* SPDX-License-Identifier: Apache-2.0 */
#include "running_text.h"

#include "activity_text.h"
#include "frame_text.h"

#include <inttypes.h>
#include <string.h>

#define LATE_NS 3000000000ull /* a collector looks four times a second */

enum {
    LINE = 1024
};

static uint32_t count_of(const gpurt_model_activity_t *a)
{
    return a->running_count < GPURT_MODEL_RUNNING ? (uint32_t)a->running_count
                                                  : (uint32_t)GPURT_MODEL_RUNNING;
}

uint32_t running_streams(const gpurt_model_activity_t *a,
                         const gpurt_model_running_t *out[GPURT_MODEL_RUNNING])
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < count_of(a); i++) {
        const gpurt_model_running_t *r = &a->running[i];

        if (r->place == 0 || count == 0)
            out[count++] = r;
        else if (r->sampled && !out[count - 1]->sampled)
            out[count - 1] = r;
    }
    return count;
}

uint64_t running_age(const gpurt_model_running_t *r, uint64_t now_ns)
{
    const uint64_t at = now_ns && now_ns > r->told_ns ? now_ns : r->told_ns;

    return at > r->since_ns ? at - r->since_ns : 0;
}

/* What stands before the one that samples tell of has ended: only its record is not here yet. */
static uint32_t behind(const gpurt_model_running_t *r)
{
    return r->queued > r->place ? r->queued - r->place - 1 : 0;
}

static void stream_put(const gpurt_model_activity_t *a, const gpurt_model_running_t *r,
                       gpurt_text_t *out)
{
    char name[ACTIVITY_GPU];

    if (r->stream == 0)
        gpurt_text_printf(out, ", default stream");
    else
        gpurt_text_printf(out, ", stream 0x%" PRIx64, r->stream);
    if (r->gpu < GPURT_MODEL_DEVICES)
        gpurt_text_printf(out, " of %s", activity_gpu(r->gpu, &a->gpus[r->gpu], name));
    if (a->programs > 1 && r->pid)
        gpurt_text_printf(out, " of pid %" PRIu32, r->pid);
}

void running_line(const gpurt_model_activity_t *a, const gpurt_model_running_t *r,
                  uint64_t now_ns, gpurt_text_t *out)
{
    const uint64_t late = now_ns > r->told_ns ? now_ns - r->told_ns : 0;
    char time[24];

    gpurt_text_add(out, r->name, strnlen(r->name, sizeof r->name));
    gpurt_text_printf(
        out, " for %s%s", r->queued > 1 && !r->sampled ? "at most " : "",
        activity_time(late > LATE_NS ? running_age(r, 0) : running_age(r, now_ns), time));
    if (late > LATE_NS)
        gpurt_text_printf(out, " when it was last told, %s ago", activity_time(late, time));
    if (r->grid[0])
        gpurt_text_printf(out, ", grid %u,%u,%u block %u,%u,%u", r->grid[0], r->grid[1],
                          r->grid[2], r->block[0], r->block[1], r->block[2]);
    stream_put(a, r, out);
    if (r->queued == 2 && !r->sampled)
        gpurt_text_printf(out, "; it or the one behind it");
    else if (r->queued > 1 && !r->sampled)
        gpurt_text_printf(out, "; it or one of %u behind it", r->queued - 1);
    else if (behind(r))
        gpurt_text_printf(out, ", %u behind it", behind(r));
    frame_text_short(r->python, r->whose, out);
}

void running_plain(FILE *out, const gpurt_model_activity_t *a, uint64_t now_ns)
{
    const gpurt_model_running_t *streams[GPURT_MODEL_RUNNING];
    const uint32_t count = running_streams(a, streams);

    for (uint32_t i = 0; i < count; i++) {
        char room[LINE], plain[4 * LINE];
        gpurt_text_t text, escaped;

        gpurt_text_init(&text, room, sizeof room);
        running_line(a, streams[i], now_ns, &text);
        gpurt_text_init(&escaped, plain, sizeof plain);
        gpurt_render_plain(&escaped, text.at, text.used);
        fprintf(out, "running    %s\n", plain);
    }
    if (a->running_left_out)
        fprintf(out, "running    and %" PRIu64 " more\n", a->running_left_out);
}

void running_json(gpurt_json_t *j, const char *key, const gpurt_model_activity_t *a)
{
    gpurt_json_array(j, key);
    for (uint32_t i = 0; i < count_of(a); i++) {
        const gpurt_model_running_t *r = &a->running[i];

        gpurt_json_object(j, NULL);
        gpurt_json_field(j, "name", r->name);
        gpurt_json_number(j, "since_ns", r->since_ns);
        gpurt_json_number(j, "told_ns", r->told_ns);
        gpurt_json_triple(j, "grid", r->grid[0], r->grid[1], r->grid[2]);
        gpurt_json_triple(j, "block", r->block[0], r->block[1], r->block[2]);
        gpurt_json_known(j, "gpu", r->gpu < GPURT_MODEL_DEVICES, r->gpu);
        gpurt_json_number(j, "stream", r->stream);
        gpurt_json_number(j, "queued", r->queued);
        gpurt_json_number(j, "place", r->place);
        gpurt_json_bool(j, "sampled", r->sampled != 0);
        gpurt_json_number(j, "pid", r->pid);
        gpurt_json_number(j, "thread", r->thread);
        frame_text_calls_json(j, r->calls);
        frame_text_json(j, r->python, r->whose);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}
