/* SPDX-License-Identifier: Apache-2.0 */
#include "top_loop.h"

#include "filelist.h"
#include "hosttime.h"
#include "outfile.h"
#include "screen.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define SECOND_NS  1000000000ull
#define HANG_UP_NS (SECOND_NS / 2) /* a shell that hands its own on comes later */
enum {
    OUTPUT_READS = 16
}; /* between two pictures: a program that floods must not hold us up */

/* The panic that was jumped to is the one that is told of, once the picture has it. */
static void jumped_select(top_t *t)
{
    picture_t *p = &t->picture;
    uint32_t count = t->jumped_ns ? picture_panics(p) : 0;

    for (uint32_t i = 0; i < count; i++)
        if (p->view->panics.list[i].time_ns == t->jumped_ns) {
            p->panic = i;
            p->panic_scroll = 0;
            t->jumped_ns = 0;
            return;
        }
    if (!p->busy && t->jumped_ns && p->view->numbers.time_ns == t->jumped_ns)
        t->jumped_ns = 0; /* it is one of those that are not kept */
}

void top_refresh(top_t *t)
{
    picture_t *p = &t->picture;
    source_t *s = t->source;

    s->class->refresh(s, t->fresh);
    p->busy = s->busy;
    p->processes = s->processes;
    p->process = s->shown;
    p->coming = s->coming;
    p->waiting = s->processes == 0;
    p->problem = s->problem.status && !p->replay ? s->problem.text : NULL;
    if (p->replay && s->problem.status && !t->damage_told) { /* until the next key */
        p->notice = s->problem.text;
        t->damage_told = true;
    }
    p->ended = t->launched ? t->child.ended : s->ended;
    p->status = t->launched && t->child.ended ? launchee_status(&t->child) : 0;
    p->wait_status = t->launched && t->child.ended ? t->child.wait_status : 0;
    if (!p->replay)
        scrub_keep(&t->scrub, &t->fresh->numbers);
    if (!p->view || (!p->paused && !p->scrubbing))
        p->view = t->fresh;
    jumped_select(t);
}

void top_window(top_t *t)
{
    logwindow_wish_t wish;
    uint64_t time_ns;

    if (!t->window)
        return;
    filelist_wish(&t->picture, &wish);
    logwindow_ask(t->window, &wish);
    t->picture.file = logwindow_look(t->window);
    if (!logwindow_jumped(t->window, &time_ns))
        return;
    if (time_ns == 0) {
        t->picture.notice = "there is no panic in that direction";
        return;
    }
    t->jumped_ns = time_ns;
    top_seek(t, time_ns);
}

void top_window_finish(top_t *t)
{
    top_window(t);
    if (t->window)
        logwindow_finish(t->window);
    top_window(t);
}

/* ---- waiting ------------------------------------------------------------------------- */

static void copy_out(launchee_t *child, int forward)
{
    char bytes[65536];
    ssize_t got = read(child->output_fd, bytes, sizeof bytes);

    for (ssize_t done = 0, put; done < got; done += put) {
        put = write(forward, bytes + done, (size_t)(got - done));
        if (put <= 0)
            break;
    }
    if (got <= 0) {
        close(child->output_fd);
        child->output_fd = -1;
    }
}

static void output_take(top_t *t, int forward)
{
    launchee_t *child = &t->child;

    for (int i = 0; i < OUTPUT_READS && child->output_fd >= 0; i++) {
        struct pollfd look = {child->output_fd, POLLIN, 0};

        if (poll(&look, 1, 0) <= 0)
            return;
        if (forward >= 0) {
            copy_out(child, forward);
        } else if (!output_read(&t->output, child->output_fd)) {
            close(child->output_fd); /* the program and all its children are gone */
            child->output_fd = -1;
        }
    }
}

static void news_take(top_t *t)
{
    uint64_t count;

    if (read(t->source->news_fd, &count, sizeof count) == sizeof count)
        t->news = true;
}

bool top_wait(top_t *t, int key_fd, int forward, uint64_t wait_ns)
{
    struct pollfd look[] = {{key_fd, POLLIN, 0},
                            {t->child.signal_fd, POLLIN, 0},
                            {t->child.output_fd, POLLIN, 0},
                            {logwindow_fd(t->window), POLLIN, 0},
                            {t->source->news_fd, POLLIN, 0}};

    poll(look, sizeof look / sizeof look[0], (int)((wait_ns + 999999) / 1000000));
    if (look[1].revents)
        launchee_signals(&t->child);
    if (look[2].revents)
        output_take(t, forward);
    if (look[4].revents)
        news_take(t);
    return look[0].revents != 0;
}

/* ---- the screen ---------------------------------------------------------------------- */

static void keys_take(top_t *t, const canvas_t *canvas, bool *over, top_end_t *end)
{
    uint32_t code;

    while (!*over && (code = screen_key()) != KEY_NONE) {
        action_t action =
            t->picture.typing || t->picture.asking ? ACTION_NONE : keys_action(code);

        if (code == KEY_RESIZED)
            continue; /* an echo of our own screen_resize; the signal tells of others */
        if (action == ACTION_REDRAW)
            screen_resize();
        else if (action == ACTION_SUSPEND) {
            launchee_signal(&t->child, SIGTSTP); /* it is in no group of the terminal's */
            screen_suspend();
            launchee_signal(&t->child, SIGCONT);
        } else
            *over = top_key(t, code, canvas->rows > 6 ? canvas->rows - 5 : 1, end);
    }
}

/* A terminal that hangs up says so before its signal comes, if one comes: a program that is told to
 * end does not go on. */
static bool told_to_end(top_t *t)
{
    uint64_t until = gpurt_steady_ns() + HANG_UP_NS, now;
    struct pollfd signals = {t->child.signal_fd, POLLIN, 0};

    while (screen_lost() && !t->child.stop_signal && !t->child.ended &&
           (now = gpurt_steady_ns()) < until) {
        poll(&signals, 1, (int)((until - now) / 1000000 + 1));
        launchee_signals(&t->child);
    }
    return t->child.stop_signal != 0;
}

/* What ends a screen without a key. */
static bool over_by_itself(top_t *t, top_end_t *end)
{
    const bool lost = screen_lost(), told = told_to_end(t);

    if (lost || (told && (!t->launched || t->child.ended))) {
        *end = !told && t->launched && !t->child.ended ? TOP_END_LEAVE : TOP_END_SIGNAL;
        return true;
    }
    *end = TOP_END_QUIT;
    return t->launched && t->child.ended && t->exit_at_end;
}

static void show(top_t *t, canvas_t *canvas)
{
    int rows, columns;

    screen_size(&rows, &columns);
    if (canvas->rows != rows || canvas->columns != columns)
        canvas_resize(canvas, rows, columns);
    picture_draw(&t->picture, canvas);
    screen_show(canvas);
}

top_end_t top_screen(top_t *t)
{
    canvas_t canvas = {.unicode = screen_unicode()};
    top_end_t end = TOP_END_QUIT;
    uint64_t next_ns = 0;
    bool over = false;

    while (!over) {
        uint64_t now = gpurt_steady_ns();

        if (now >= next_ns || t->news) {
            t->news = false;
            top_refresh(t);
            next_ns = now + SECOND_NS / t->picture.hertz;
        }
        top_window(t);
        show(t, &canvas);
        if (top_wait(t, screen_fd(), -1, next_ns > now ? next_ns - now : 0))
            keys_take(t, &canvas, &over, &end);
        if (t->child.resized) {
            t->child.resized = false;
            screen_resize();
        }
        over = over || over_by_itself(t, &end);
    }
    canvas_fini(&canvas);
    return end;
}

/* ---- what is left ---------------------------------------------------------------------- */

/* The folder may lie on another file system than ours. */
static bool move(const char *from, const char *to)
{
    FILE *in, *out;
    char bytes[65536];
    bool whole = true;
    size_t got;

    if (rename(from, to) == 0)
        return true;
    in = fopen(from, "rbe");
    out = in ? gpurt_outfile_stream(to, GPURT_OUTFILE_NEW, GPURT_OUTFILE_OWN, NULL) : NULL;
    while (out && whole && (got = fread(bytes, 1, sizeof bytes, in)) > 0)
        whole = fwrite(bytes, 1, got, out) == got;
    whole = out && fclose(out) == 0 && whole;
    if (in)
        fclose(in);
    if (whole)
        unlink(from);
    return whole;
}

void top_dumps_keep(top_t *t)
{
    char from[PATH_MAX], to[64];
    pid_t pid;

    while (gpu_capture_next(&t->capture, from, &pid)) {
        snprintf(to, sizeof to, "gpurt-%d.gpucore", (int)pid);
        if (move(from, to))
            fprintf(stderr,
                    "gpurt-top: the GPU failed under process %d; see gpurt-panic show %s\n",
                    (int)pid, to);
        else
            fprintf(stderr,
                    "gpurt-top: the GPU core dump of process %d cannot be kept in ./%s\n",
                    (int)pid, to);
        unlink(from);
    }
}
