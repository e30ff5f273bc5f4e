/* SPDX-License-Identifier: Apache-2.0 */
/* What keys do to the picture, and to the time that it shows. */
#include "top_loop.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define SECOND_NS 1000000000ull
enum {
    CTRL_C = 3,
    HERTZ_MAX = 30
};
static const double speed_min = 1.0 / 16, speed_max = 65536;

/* ---- time ---------------------------------------------------------------------------- */

static void hold(top_t *t)
{
    if (t->picture.view == t->held)
        return;
    memcpy(t->held, t->fresh, sizeof *t->held);
    t->picture.view = t->held;
}

static void follow(top_t *t)
{
    picture_t *p = &t->picture;

    p->scrubbing = p->paused = false;
    p->until_ns = 0;
    p->view = t->fresh;
}

/* The moment becomes what is shown; the lines of later ones are left out. */
static void look_back(top_t *t, uint64_t time_ns)
{
    gpurt_model_numbers_t *n = &t->held->numbers;
    uint64_t first = scrub_first_ns(&t->scrub), last = t->fresh->numbers.time_ns;

    hold(t);
    if (first == 0)
        return;
    if (time_ns >= last) {
        follow(t);
        return;
    }
    time_ns = time_ns < first ? first : time_ns;
    if (!scrub_show(&t->scrub, time_ns, n))
        return;
    n->range_first_ns = first;
    n->range_last_ns = last;
    t->picture.until_ns = time_ns;
    t->picture.scrubbing = true;
}

void top_seek(top_t *t, uint64_t time_ns)
{
    const gpurt_model_numbers_t *n = &t->fresh->numbers;

    time_ns = time_ns < n->range_first_ns  ? n->range_first_ns
              : time_ns > n->range_last_ns ? n->range_last_ns
                                           : time_ns;
    t->wanted_ns = time_ns;
    t->picture.busy = true; /* the next key counts from there, even before a picture */
    t->source->class->seek(t->source, time_ns);
}

/* Of the program's time. A far step of a replay is a tenth of it, and a near one is smaller
 * than that in a short one, too. */
static uint64_t step_ns(const top_t *t, bool far)
{
    const gpurt_model_numbers_t *n = &t->fresh->numbers;
    uint64_t tenth = (n->range_last_ns - n->range_first_ns) / 10;

    if (!t->picture.replay)
        return far ? 10 * SECOND_NS : SECOND_NS;
    return far ? tenth : tenth < 5 * SECOND_NS ? tenth / 5 : SECOND_NS;
}

static void move(top_t *t, int direction, bool far)
{
    const picture_t *p = &t->picture;
    uint64_t step = step_ns(t, far), at;

    at = p->replay && t->wanted_ns && p->busy ? t->wanted_ns
         : p->replay                          ? t->fresh->numbers.time_ns
         : p->until_ns                        ? p->until_ns
                                              : p->view->numbers.time_ns;
    at = direction > 0 ? at + step : at > step ? at - step : 1;
    if (p->replay)
        top_seek(t, at);
    else
        look_back(t, at);
}

/* The failure of device code that is nearest in a direction. Returns: 0, there is none. */
static uint64_t panic_beside(const gpurt_model_panics_t *list, bool on, uint64_t from_ns)
{
    uint64_t best = 0;

    for (uint64_t i = 0; i < list->count && i < GPURT_MODEL_PANICS; i++) {
        uint64_t at = list->list[i].time_ns;

        if (on ? at > from_ns && (best == 0 || at < best) : at < from_ns && at > best)
            best = at;
    }
    return best;
}

/* Of a log all panics are found, of a program those that are kept. */
static void jump(top_t *t, bool on)
{
    picture_t *p = &t->picture;
    uint64_t from = p->until_ns ? p->until_ns : p->view->numbers.time_ns, to;

    if (t->window) {
        if (t->wanted_ns && p->busy)
            from = t->wanted_ns;
        logwindow_jump(t->window, on, from);
        return;
    }
    to = panic_beside(&t->fresh->panics, on, from);
    if (to == 0 || scrub_first_ns(&t->scrub) == 0) {
        p->notice = "there is no panic in that direction";
        return;
    }
    if (to < scrub_first_ns(&t->scrub))
        p->notice = "that moment is no longer kept: this is the first that is";
    t->jumped_ns = to;
    look_back(t, to);
}

static void play(top_t *t, bool on)
{
    t->picture.playing = on;
    t->source->class->play(t->source, on, t->picture.speed);
}

static void pause_toggle(top_t *t)
{
    picture_t *p = &t->picture;

    if (p->replay) {
        play(t, !p->playing);
    } else if (p->paused || p->scrubbing) {
        follow(t);
    } else {
        hold(t);
        p->paused = true;
    }
}

static void pace(top_t *t, bool faster)
{
    picture_t *p = &t->picture;

    if (!p->replay) {
        p->hertz = faster ? p->hertz * 2 : p->hertz / 2;
        p->hertz = p->hertz < 1 ? 1 : p->hertz > HERTZ_MAX ? HERTZ_MAX : p->hertz;
        return;
    }
    p->speed = faster ? p->speed * 2 : p->speed / 2;
    p->speed = p->speed < speed_min   ? speed_min
               : p->speed > speed_max ? speed_max
                                      : p->speed;
    play(t, p->playing);
}

static bool act_time(top_t *t, action_t action)
{
    switch (action) {
    case ACTION_PAUSE:
        pause_toggle(t);
        return true;
    case ACTION_TIME_BACK:
        move(t, -1, false);
        return true;
    case ACTION_TIME_ON:
        move(t, 1, false);
        return true;
    case ACTION_TIME_FAR_BACK:
        move(t, -1, true);
        return true;
    case ACTION_TIME_FAR_ON:
        move(t, 1, true);
        return true;
    case ACTION_TIME_START:
        if (t->picture.replay)
            top_seek(t, t->fresh->numbers.range_first_ns);
        else
            look_back(t, 1);
        return true;
    case ACTION_TIME_NOW:
        if (t->picture.replay)
            top_seek(t, t->fresh->numbers.range_last_ns);
        else
            follow(t);
        return true;
    case ACTION_PANIC_BEFORE:
    case ACTION_PANIC_NEXT:
        jump(t, action == ACTION_PANIC_NEXT);
        return true;
    case ACTION_FASTER:
    case ACTION_SLOWER:
        pace(t, action == ACTION_FASTER);
        return true;
    default:
        return false;
    }
}

static void log_follow(picture_t *p)
{
    p->log_back = 0;
    p->log_held = false;
}

/* ---- the line that is typed ---------------------------------------------------------- */

static void type_begin(picture_t *p)
{
    p->typing = true;
    p->before = p->filter;
    memset(&p->wrong, 0, sizeof p->wrong);
    lineedit_begin(&p->edit, p->filter.text);
}

/* What is typed filters at once, unless it is wrong: then the last good filter stays, and Enter
 * waits. Esc brings the old filter back. */
static void type_key(picture_t *p, uint32_t code)
{
    if (code == KEY_ENTER_CODE && p->wrong.why[0])
        return;
    if (code == KEY_ENTER_CODE || code == KEY_ESCAPE || code == CTRL_C) {
        p->typing = false;
        if (code == KEY_ENTER_CODE)
            lineedit_keep(&p->edit);
        else
            p->filter = p->before;
        log_follow(p);
        return;
    }
    lineedit_key(&p->edit, code);
    filter_parse(&p->filter, p->edit.text, &p->wrong);
    log_follow(p);
}

/* ---- the rest ------------------------------------------------------------------------ */

static void view_step(picture_t *p, int step)
{
    int next = (int)p->shown;

    do
        next = (next + step + VIEW_COUNT) % VIEW_COUNT;
    while (next == VIEW_OUTPUT && !p->output);
    p->shown = (view_id_t)next;
}

static void level_step(picture_t *p, int step)
{
    int level = (int)p->filter.level + step;

    if (p->filter.level <= GPURT_LEVEL_TRACE && step > 0)
        level = GPURT_LEVEL_DEBUG;
    level = level < 0 ? 0 : level > GPURT_LEVEL_PANIC ? 0 : level;
    p->filter.level = level <= GPURT_LEVEL_TRACE ? 0 : (uint32_t)level;
    log_follow(p);
}

static void back(picture_t *p)
{
    if (p->filter.text[0] || p->filter.level) {
        memset(&p->filter, 0, sizeof p->filter);
        log_follow(p);
    } else {
        p->shown = VIEW_OVERVIEW;
    }
}

static void next_process(top_t *t)
{
    if (!t->source->class->next || t->source->processes < 2)
        return;
    t->source->class->next(t->source);
    memset(t->fresh, 0, sizeof *t->fresh);
    scrub_fini(&t->scrub);
    follow(t);
}

/* Views come in the order of their keys. */
static bool act_view(picture_t *p, action_t action)
{
    if (action < ACTION_OVERVIEW || action > ACTION_HELP)
        return false;
    if (action == ACTION_HELP && p->shown == VIEW_HELP)
        p->shown = VIEW_OVERVIEW;
    else if (action != ACTION_OUTPUT || p->output)
        p->shown = (view_id_t)(action - ACTION_OVERVIEW);
    return true;
}

static void act(top_t *t, action_t action, int page)
{
    picture_t *p = &t->picture;
    const view_class_t *view = picture_view(p->shown);

    if (act_view(p, action) || act_time(t, action) ||
        (view->act && view->act(p, action, page)))
        return;
    if (action == ACTION_NEXT_VIEW || action == ACTION_PREVIOUS_VIEW)
        view_step(p, action == ACTION_NEXT_VIEW ? 1 : -1);
    else if (action == ACTION_FILTER)
        type_begin(p);
    else if (action == ACTION_LEVEL_UP || action == ACTION_LEVEL_DOWN)
        level_step(p, action == ACTION_LEVEL_UP ? 1 : -1);
    else if (action == ACTION_SORT)
        p->site_sort = (p->site_sort + 1) % SORT_KEYS;
    else if (action == ACTION_BACK)
        back(p);
    else if (action == ACTION_PROCESS)
        next_process(t);
}

/* Enter or q again ends the program: a second Ctrl-C must not be refused. */
static bool answer(top_t *t, uint32_t code, top_end_t *end)
{
    t->picture.asking = false;
    if (code == 'd') {
        *end = TOP_END_LEAVE;
        return true;
    }
    if ((code == KEY_ENTER_CODE || keys_action(code) == ACTION_QUIT) && t->child.pid) {
        kill(t->child.pid, SIGTERM);
        launchee_signal(&t->child, SIGCONT);
        t->exit_at_end = true;
    }
    return false;
}

bool top_key(top_t *t, uint32_t code, int page, top_end_t *end)
{
    picture_t *p = &t->picture;
    action_t action = keys_action(code);

    p->notice = NULL;
    if (p->asking)
        return answer(t, code, end);
    if (p->typing) {
        type_key(p, code);
        return false;
    }
    if (action != ACTION_QUIT) {
        act(t, action, page);
        return false;
    }
    *end = TOP_END_QUIT;
    p->asking = t->launched && !t->child.ended;
    return !p->asking;
}
