/* SPDX-License-Identifier: Apache-2.0 */
/* picture.h - what the user looks at and how: the model's view, the view of the screen,
 * what is selected, the filter, the time. Views read it; only top_loop.c and the keys of
 * a view change it. */
#ifndef GPURT_TUI_PICTURE_H
#define GPURT_TUI_PICTURE_H

#include "canvas.h"
#include "filter.h"
#include "gpurows.h"
#include "keys.h"
#include "lineedit.h"
#include "logwindow.h"
#include "output.h"
#include "sasstext.h"
#include "sourcetext.h"

GPURT_STATIC_ASSERT((int)LINEEDIT_ROOM == (int)FILTER_TEXT,
                    "a filter is a line that is typed");

typedef enum site_sort {
    SORT_RATE,
    SORT_COUNT,
    SORT_LEVEL,
    SORT_RECENT,
    SORT_PLACE,
    SORT_KEYS
} site_sort_t;

typedef enum lines_open {
    LINES_OF_ALL, /* the table */
    LINES_OF_SOURCE,
    LINES_OF_CODE
} lines_open_t;

/* Owner: the program. */
typedef struct picture {
    const gpurt_modelview_t *view; /* what is shown */
    uint64_t until_ns;             /* nothing later is shown; 0: no bound */
    view_id_t shown;
    /* where it comes from */
    bool replay, playing, busy, waiting; /* waiting: nothing was received yet */
    bool launched, ended;                /* a program of ours; it is gone */
    int status;                          /* its exit status then, as a shell has it */
    int wait_status;                     /* likewise, as waitpid has it */
    uint32_t processes, process;
    uint32_t coming; /* panics that are counted, and not told yet */
    double speed;
    const char *name;             /* of the program or the log */
    const char *problem;          /* NULL: none */
    const char *notice;           /* what the last key came to; NULL: nothing to say */
    const char *log;              /* the file that has all lines; NULL: none is known */
    const logwindow_view_t *file; /* of a replay: its lines; NULL: those of the view */
    /* how it is looked at */
    bool paused, scrubbing;
    filter_t filter;
    bool typing;
    lineedit_t edit;      /* the line that is typed */
    filter_t before;      /* the filter that Esc brings back */
    filter_error_t wrong; /* of what is typed; the filter is the last good one then */
    bool asking;          /* whether to leave a program that runs */
    uint32_t log_back;    /* lines below the last one shown; 0: it follows */
    bool log_held;        /* with `file`: the log is scrolled to `log_at`, */
    bool log_from_start;  /* ... or to the first line */
    linefile_place_t log_at;
    uint32_t log_column; /* columns scrolled */
    uint32_t panic, panic_scroll;
    bool panic_open;
    uint32_t site, site_sort;
    gpurows_t table; /* of the GPU view, and of each: */
    uint32_t table_row[GPUROWS_TABLES], table_sort[GPUROWS_TABLES];
    uint32_t object_class, object_row, object_sort; /* table, line, column it goes by */
    uint32_t executor_row;                          /* of the scheduler: which executor */
    gpurt_model_told_t object_told; /* what stands in that line; id 0: the line alone */
    const char *object_wanted;      /* the class that was asked for by name; NULL: none */
    bool object_open;               /* the page of the selected one */
    bool streams_open;
    uint32_t streams_zoom;    /* stretch of time: a step of gputime.c; 0: as it likes */
    uint64_t streams_back_ns; /* from the newest moment */
    lines_open_t lines_open;
    bool lines_recent;       /* samples of the last seconds alone */
    uint32_t lines_function; /* the selected one: id of its name */
    uint32_t lines_file;     /* of its page: id; 0: the one with most samples */
    uint32_t lines_at;       /* line of that, 0: with most samples; or which instruction */
    uint32_t lines_column;   /* columns scrolled */
    sourcetext_t *source;    /* of that page; NULL: sources are not read */
    const sasstext_t *sass;  /* text of instructions; NULL: none, */
    const char *sass_why;    /* and why, where somebody asked for it */
    uint32_t output_back, help_scroll;
    const output_t *output;
    uint32_t hertz; /* pictures a second */
} picture_t;

/* A view of the screen. */
typedef struct view_class {
    const char *name;
    void (*draw)(const picture_t *p, canvas_t *c, rect_t area);
    /* Returns: whether the action meant something here. NULL: it has none. */
    bool (*act)(picture_t *p, action_t action, int page);
} view_class_t;

#define VIEW_CLASS(id, name, ...) extern const view_class_t view_##name;
VIEW_LIST(VIEW_CLASS)
#undef VIEW_CLASS

/* picture.c: by view_id_t. */
const view_class_t *picture_view(view_id_t id);

/* Head, tabs, body, time line and foot. */
void picture_draw(const picture_t *p, canvas_t *c);

enum {
    PICTURE_ALERTS = 3, /* sites with panics that the overview names */
    PICTURE_RUNNING = 2 /* streams of which it says what runs */
};

/* What several views draw. */
style_t picture_level_style(uint32_t level);
/* "14:07:11.042912", with so many digits (0, 3, 6, 9) behind the point; local time. */
const char *picture_time(uint64_t time_ns, int digits, char buffer[32]);
/* "pid4711", "pid?" where it is not known: whose a line is, where rows are of several. */
const char *picture_who(uint32_t pid, char text[16]);
/* "42 s", "3:07", "2:03:07". */
const char *picture_span(uint64_t span_ns, char buffer[32]);
/* "GPU 0 H200", "CPU, 2 workers": text of devices, for canvas_text or put_plain. */
const char *picture_device(const gpurt_model_section_t *s, char buffer[96]);
/* "kernel.cu:12" in so many columns; its end tells more than its beginning. */
int picture_place(canvas_t *c, rect_t area, int row, int column, int width,
                  const char *file, size_t file_room, uint32_t line);
/* The panes that the overview splits its area into. */
void picture_wish(const picture_t *p, layout_wish_t *wish);
/* The panics that are not later than what is shown. */
uint32_t picture_panics(const picture_t *p);

#endif
