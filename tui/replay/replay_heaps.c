/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_heaps.h"

#include "program.h"

#include <gpurt/impl/heaprow.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    NAMED = 4 /* processes that a refusal names */
};

const uint32_t *replay_row_calls(const gpurt_row_t *row, uint32_t *lanes)
{
    bool alloc = row->kind == GPURT_KIND_HEAP_ALLOC;

    *lanes = gpurt_row_per_lane(row) ? gpurt_row_messages(row) : 1;
    if ((!alloc && row->kind != GPURT_KIND_HEAP_FREE) ||
        row->program == GPLOG_PROGRAM_OTHERS || row->words < *lanes * (alloc ? 4u : 2u))
        return NULL;
    return gpurt_row_words(row);
}

/* ---- which there are ------------------------------------------------------------------- */

/* Calls come in rows of one heap: `at`, the entry of the one before, is looked at first.
 * Returns: its entry; NULL, there is no room. */
static replay_heap_t *entry_of(replay_heaps_t *heaps, replay_heap_t *at, uint32_t heap,
                               uint32_t program)
{
    if (at && at->heap == heap && at->program == program)
        return at;
    for (uint32_t i = 0; i < heaps->count; i++)
        if (heaps->list[i].heap == heap && heaps->list[i].program == program)
            return &heaps->list[i];
    if (heaps->count == REPLAY_HEAPS)
        return NULL;
    at = &heaps->list[heaps->count++];
    *at = (replay_heap_t){.heap = heap, .program = program};
    return at;
}

static void frame_count(const gpurt_log_rows_t *frame, const replay_wish_t *wish,
                        replay_heaps_t *heaps)
{
    replay_heap_t *at = NULL;
    const gpurt_row_t *row;
    uint32_t next = 0, lanes;

    while ((row = gpurt_log_row(frame, next, &next)) != NULL) {
        const uint32_t *words = replay_row_calls(row, &lanes);

        for (uint32_t i = 0; words && i < lanes; i++) {
            if (wish->heap && words[i] != wish->heap)
                continue;
            at = entry_of(heaps, at, words[i], row->program);
            if (at)
                at->calls++;
        }
    }
}

void replay_heaps_read(gpurt_log_t *log, const replay_wish_t *wish, replay_heaps_t *out)
{
    const gpurt_dictionary_t *d = gpurt_log_dictionary(log);
    gpurt_log_summary_t sum;
    gpurt_log_rows_t frame;

    memset(out, 0, sizeof *out);
    for (uint64_t i = 0; i < gpurt_log_frames(log); i++)
        if (gpurt_log_read(log, i, &frame, NULL) == GPURT_OK)
            frame_count(&frame, wish, out);
    gpurt_log_summary(log, &sum);
    for (uint32_t i = 0; i < out->count; i++) {
        const gpurt_row_t of = {.program = (uint8_t)out->list[i].program};

        out->list[i].pid = gplog_program_pid(d, &sum.about, &of);
    }
    out->several = gplog_program_count(d) > 1;
}

/* ---- which is meant -------------------------------------------------------------------- */

static bool is_first_of_program(const replay_heaps_t *heaps, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (heaps->list[i].program == heaps->list[index].program)
            return false;
    return true;
}

/* "10801, 10802 and 3 more": processes of the heaps. */
static void processes_say(const replay_heaps_t *heaps, char *to, size_t room)
{
    uint32_t said = 0, more = 0;
    size_t used = 0;

    to[0] = '\0';
    for (uint32_t i = 0; i < heaps->count; i++) {
        if (!is_first_of_program(heaps, i))
            continue;
        if (said < NAMED)
            used += (size_t)snprintf(to + used, room - used, "%s%" PRIu32, said ? ", " : "",
                                     heaps->list[i].pid);
        else
            more++;
        said++;
    }
    if (more)
        snprintf(to + used, room - used, " and %" PRIu32 " more", more);
}

gpurt_status_t replay_heaps_none(gpurt_error_t *err)
{
    return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                      "the log holds no calls of a heap: record the program with "
                      "GPURT_HEAP_TRACE=1, its kernels compiled with "
                      "-DGPURT_HEAP_CHECKS=1");
}

/* That process has none; others may. */
static gpurt_status_t none(const replay_heaps_t *heaps, const replay_wish_t *wish,
                           gpurt_error_t *err)
{
    char processes[96], number[32] = "";

    if (!wish->pid || heaps->count == 0)
        return replay_heaps_none(err);
    processes_say(heaps, processes, sizeof processes);
    if (wish->heap)
        snprintf(number, sizeof number, " %" PRIu32, wish->heap);
    return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                      "the log holds no calls of process %" PRIu32
                      " to a heap%s: say --pid and one of %s",
                      wish->pid, number, processes);
}

static gpurt_status_t refuse(const replay_heaps_t *heaps, const replay_wish_t *wish,
                             gpurt_error_t *err)
{
    char processes[96];

    processes_say(heaps, processes, sizeof processes);
    return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                      "several processes have a heap %" PRIu32 ": say --pid and one of %s",
                      wish->heap, processes);
}

gpurt_status_t replay_heaps_choose(const replay_heaps_t *heaps, const replay_wish_t *wish,
                                   replay_heap_t *out, gpurt_error_t *err)
{
    const replay_heap_t *most = NULL;

    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < heaps->count; i++) {
        const replay_heap_t *at = &heaps->list[i];

        if ((wish->heap && at->heap != wish->heap) || (wish->pid && at->pid != wish->pid))
            continue;
        if (most && wish->heap && !wish->pid)
            return refuse(heaps, wish, err);
        most = !most || at->calls > most->calls ? at : most;
    }
    if (!most)
        return none(heaps, wish, err);
    *out = *most;
    return GPURT_OK;
}
