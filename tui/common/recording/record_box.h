/* SPDX-License-Identifier: Apache-2.0 */
/* record_box.h - the boxes that a recorder drains into one log file: one for each device that
 * each process of the application has open. */
#ifndef GPURT_TUI_RECORD_BOX_H
#define GPURT_TUI_RECORD_BOX_H

#include "drain.h"
#include "hang_join.h"
#include "kernel_hang.h"
#include "liveprint.h"
#include "lobby.h"
#include "logsink.h"
#include "panic_hook.h"
#include "publish.h"
#include "stall.h"
#include "writer.h"

enum {
    RECORD_BOXES = 64
};

typedef struct record_box {
    gpurt_boxmap_t map;
    publish_t *publish;   /* NULL: it is not */
    gpurt_drain_t *drain; /* NULL: a free place */
    gpurt_logbox_t log;
    hang_watch_t watch;
    kernel_hang_t kernel_hang;
    liveprint_t print;
} record_box_t;

/* Owner: the program. */
typedef struct record_boxes {
    record_box_t box[RECORD_BOXES];
    gpurt_writer_t *writer;      /* NULL: there is no log, and rows are printed alone */
    gpurt_dictionary_t words;    /* without a writer, of all boxes */
    const liveprint_to_t *print; /* borrowed; NULL: rows are not printed */
    gpurt_scribe_t *scribe;      /* of the writer; NULL: the drains write by themselves */
    gpurt_lobby_t lobby;
    uint32_t seen;      /* boxes so far */
    uint32_t unread;    /* boxes that could not be read, or not to their end */
    uint32_t strangers; /* that came to the socket and were not heard */
    bool spin;
    panic_tap_t tap;                  /* hook NULL: none */
    stall_t *stall;                   /* borrowed; NULL: none */
    uint64_t hang_ns;                 /* a wait that is too long; 0: the default */
    const char *teller;               /* name of the program that tells of deadlocks and of
                                         strangers; NULL: nobody reads what it says */
    gplog_file_t about[RECORD_BOXES]; /* of the last boxes, by `seen` */
    gpurt_error_t err;                /* why, of the last that was not read */
} record_boxes_t;

void record_boxes_init(record_boxes_t *b, gpurt_writer_t *writer, bool spin);
/* The same with a socket, for applications to hand their boxes to. */
gpurt_status_t record_boxes_open(record_boxes_t *b, gpurt_writer_t *writer, bool spin,
                                 gpurt_error_t *err);
void record_boxes_close(record_boxes_t *b);

/* Waits until the writer is at rest: its caller may use it until the next round. */
void record_boxes_settle(const record_boxes_t *b);

/* The map is given away. GPURT_E_BUSY: another drainer has the box. Why is in b->err. */
gpurt_status_t record_boxes_add(record_boxes_t *b, gpurt_boxmap_t map);
/* Takes in a box that an application holds out, if one does. */
void record_boxes_accept(record_boxes_t *b);
/* Who was recorded under a pid, with the sections of all its boxes; of one that is not among
 * the last boxes, with the sections of the last. Returns: whether there was a box. */
bool record_boxes_about(const record_boxes_t *b, uint32_t pid, gplog_file_t *out);

/* One round of each; finishes those whose application is gone. Returns: rows. */
uint64_t record_boxes_round(record_boxes_t *b);
uint32_t record_boxes_count(const record_boxes_t *b);
/* Whether there is a box, or somebody has come who may have one. */
bool record_boxes_pending(const record_boxes_t *b);
/* While a silence lasts that is too long: tells, for each box, of everybody who waits too
 * long. Returns: whether somebody will soon have waited so long. */
bool record_boxes_waits(record_boxes_t *b, uint32_t silence);
/* Tells of kernels that have not ended for too long, where that was asked for (hang_ns). dumps: the
 * driver is asked for a dump of them next. Returns: how many. */
uint32_t record_boxes_kernels(record_boxes_t *b, bool dumps);
/* The application is gone: takes who comes until nobody does, and reads all to its end. */
void record_boxes_end(record_boxes_t *b);
/* Sleeps as the drains suggest. */
void record_boxes_rest(record_boxes_t *b);

#endif
