/* SPDX-License-Identifier: Apache-2.0 */
#include "top_batch.h"

#include "hosttime.h"
#include "once_report.h"
#include "screen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SECOND_NS 1000000000ull

/* A size of the terminal, which a variable overrides as everywhere. Returns: 0, nobody says. */
static int size_told(const char *variable, unsigned short terminal)
{
    const char *text = getenv(variable);
    long value = text ? strtol(text, NULL, 10) : 0;

    return value > 0 && value <= 4000 ? (int)value : terminal;
}

static void size_tell(FILE *out, report_about_t *about)
{
    struct winsize size = {0};

    if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0)
        memset(&size, 0, sizeof size);
    about->columns = size_told("COLUMNS", size.ws_col);
    about->rows = size_told("LINES", size.ws_row);
}

static void print(top_t *t, const batch_plan_t *o, FILE *out)
{
    const picture_t *p = &t->picture;
    report_about_t about = {.name = p->name,
                            .launched = t->launched,
                            .ended = p->ended,
                            .status = p->status,
                            .wait_status = p->wait_status};
    bool box_ended = !t->launched && t->fresh->numbers.state == GPURT_MODEL_ENDED;

    about.state = p->replay                                      ? "replay"
                  : p->ended || box_ended                        ? "ended"
                  : t->fresh->numbers.state == GPURT_MODEL_EMPTY ? "waiting"
                                                                 : "live";
    about.unicode = screen_unicode();
    size_tell(out, &about);
    if (o->json)
        report_json(out, t->fresh, &about);
    else if (o->view && p->shown != VIEW_OVERVIEW)
        report_view(out, p, &about);
    else
        report_plain(out, t->fresh, &about);
}

/* A picture of each box, and then the first is shown again. */
static void print_all(top_t *t, const batch_plan_t *o, FILE *out)
{
    source_t *s = t->source;

    print(t, o, out);
    while (s->processes > 1) {
        s->class->next(s);
        memset(t->fresh, 0, sizeof *t->fresh);
        top_refresh(t);
        if (s->shown == 0)
            break;
        print(t, o, out);
    }
}

static void replay_print(top_t *t, const batch_plan_t *o, FILE *out)
{
    uint64_t count = o->once || !o->pictures ? 1 : o->pictures, first, last;
    const picture_t *p = &t->picture;

    t->source->class->finish(t->source);
    top_refresh(t);
    first = t->fresh->numbers.range_first_ns;
    last = t->fresh->numbers.range_last_ns;
    for (uint64_t i = 1; i <= count && !t->child.stop_signal; i++) {
        uint64_t at =
            i == count
                ? last
                : first + (uint64_t)((double)(last - first) * (double)i / (double)count);

        t->source->class->seek(t->source, at);
        t->source->class->finish(t->source);
        top_refresh(t);
        if (!o->json && o->view && p->shown != VIEW_OVERVIEW)
            top_window_finish(t);
        print(t, o, out);
        launchee_signals(&t->child);
    }
}

static bool live_over(const top_t *t)
{
    return t->launched ? t->child.ended : t->source->ended || t->child.stop_signal;
}

/* Without a program nobody is served by pictures that cannot be written. */
static bool goes_on(const top_t *t, FILE *out)
{
    return !live_over(t) && (t->launched || !ferror(out));
}

/* Waits so long, or until there is nothing to wait for. */
static void wait_some(top_t *t, uint64_t wait_ns)
{
    uint64_t until = gpurt_steady_ns() + wait_ns, now;

    while ((now = gpurt_steady_ns()) < until && !live_over(t)) {
        top_wait(t, -1, STDOUT_FILENO,
                 until - now < SECOND_NS / 20 ? until - now : SECOND_NS / 20);
        t->source->class->refresh(t->source, t->fresh);
    }
}

static void live_print(top_t *t, const batch_plan_t *o, FILE *out)
{
    uint64_t delay = o->delay_ns ? o->delay_ns : SECOND_NS;
    uint64_t count = o->once ? 1 : o->pictures;

    if (o->once && !t->launched) {
        for (int i = 0; i < 10 && t->fresh->numbers.rows == 0 && !live_over(t); i++)
            wait_some(t, SECOND_NS / 20);
        top_refresh(t);
        print_all(t, o, out);
        return;
    }
    for (uint64_t i = 0; goes_on(t, out) && !o->once && (count == 0 || i + 1 < count);
         i++) {
        wait_some(t, delay);
        top_refresh(t);
        if (!live_over(t))
            print_all(t, o, out);
    }
    /* The last picture is of the whole, if the program ends in time for it. */
    if (goes_on(t, out))
        wait_some(t, o->once || count == 0 ? UINT64_MAX / 2 : delay);
    if (t->child.ended)
        t->source->class->finish(t->source);
    top_refresh(t);
    print_all(t, o, out);
}

bool batch_takes_stdout(const batch_plan_t *plan, bool launched)
{
    return plan->json && launched && !plan->output.file;
}

int batch_run(top_t *t, batch_plan_t *o)
{
    FILE *out = o->output.file                                ? o->output.file
                : t->launched && !batch_takes_stdout(o, true) ? stderr
                                                              : stdout;

    if (t->picture.replay)
        replay_print(t, o, out);
    else
        live_print(t, o, out);
    if (!o->output.file || besidelog_close(&o->output))
        return 0; /* standard output is looked at when we end */
    return gpurt_option_refuse(o->program, "%s: could not be written%s%s", o->output.path,
                               errno ? ": " : "", errno ? strerror(errno) : "");
}
