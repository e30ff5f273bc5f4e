/* SPDX-License-Identifier: Apache-2.0 */
/* top_loop.h - gpurt-top while it runs: on a screen, or printing pictures. */
#ifndef GPURT_TUI_TOP_LOOP_H
#define GPURT_TUI_TOP_LOOP_H

#include "launchee.h"
#include "picture.h"
#include "recording.h"
#include "scrub.h"
#include "source.h"

typedef enum top_end {
    TOP_END_QUIT,  /* the user left, or there is nothing more to show */
    TOP_END_LEAVE, /* the screen goes, the program goes on */
    TOP_END_SIGNAL /* child.stop_signal says which */
} top_end_t;

/* Owner: the program. */
typedef struct top {
    source_t *source;
    recording_t recording;
    launchee_t child;
    bool launched;
    bool exit_at_end; /* the program's end ends the screen */
    picture_t picture;
    output_t output;
    sourcetext_t source_text;
    sasstext_t *sass;            /* NULL: none, */
    char sass_why[SASSTEXT_WHY]; /* and why */
    gpu_capture_t capture;       /* of the program */
    scrub_t scrub;
    logwindow_t *window;      /* of a replay; NULL else */
    uint64_t jumped_ns;       /* a panic that was jumped to and is not selected yet */
    gpurt_modelview_t *fresh; /* as it is */
    gpurt_modelview_t *held;  /* as it was, while the picture is held or looks back */
    uint64_t wanted_ns;       /* position asked of a replay */
    bool news;                /* the source has what somebody waits for */
    bool damage_told;         /* the screen said that the log of a replay is damaged */
} top_t;

/* Reads what the source has and brings the picture up to date. */
void top_refresh(top_t *t);

/* Says to the replay's log what the picture wants of it, and takes what there is. */
void top_window(top_t *t);
/* The same, and waits for it. */
void top_window_finish(top_t *t);

/* top_keys.c: shows a moment of a replay. */
void top_seek(top_t *t, uint64_t time_ns);

/* Does what a key asks for. Returns: whether it asks for the end. */
bool top_key(top_t *t, uint32_t code, int page, top_end_t *end);

/* Draws and reads keys until the end; the screen is open. */
top_end_t top_screen(top_t *t);

/* Waits for descriptors that need care (signals, output, news), at most so long; copies held
 * output to `forward` (-1: keeps it). Returns: whether a key waits on key_fd (-1: none). */
bool top_wait(top_t *t, int key_fd, int forward, uint64_t wait_ns);

/* Moves the GPU core dumps of the program to the working folder, and says so. */
void top_dumps_keep(top_t *t);

#endif
