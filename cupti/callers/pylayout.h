/* SPDX-License-Identifier: Apache-2.0 */
/* pylayout.h - the CPython of this process: where its list of threads begins, and at which offsets
 * its structures have what frames are read from. Offsets are those of a version's own headers, for
 * 3.8 to 3.12; 3.13 publishes its own in memory, and those are taken. Nothing of the interpreter's
 * is called. */
#ifndef GPURT_CUPTI_PYLAYOUT_H
#define GPURT_CUPTI_PYLAYOUT_H

#include "pylines.h"

#define PYLAYOUT_NONE UINT16_MAX /* for a field that a version lacks */

typedef struct pylayout {
    uint16_t runtime_interpreters;
    uint16_t interpreter_next, interpreter_threads;
    uint16_t thread_next, thread_interpreter, thread_id, thread_frame;
    uint16_t holder_frame; /* thread_frame is of what holds the frame; NONE: of the frame */
    uint16_t frame_back, frame_code, frame_at, frame_owner; /* frame_at: the instruction */
    uint16_t code_first_line, code_file, code_name, code_table;
    uint16_t code_bytes;             /* frame_at is an address behind it; NONE: a number */
    uint16_t text_ascii, text_other; /* where a string's characters begin */
    uint8_t at_unit;                 /* bytes of what frame_at counts */
    uint8_t lines;                   /* pylines_t, of pylines.h */
} pylayout_t;

enum {
    PYLAYOUT_OLDEST = 8, /* 3.8 */
    PYLAYOUT_NEWEST = 13,
    PYLAYOUT_C_OWNER = 3 /* of a frame that stands for C code, since 3.12 */
};

typedef struct pylayout_found {
    pylayout_t of;
    uint64_t interpreters; /* address of the list's head */
    uint64_t code_type;    /* what each code object names as its type; 0: not known */
    uint32_t minor;        /* of 3.minor; 0: not known */
    bool free_threaded;
} pylayout_found_t;

typedef enum pylayout_answer {
    PYLAYOUT_ABSENT,  /* the program has no CPython so far */
    PYLAYOUT_UNKNOWN, /* it has one whose structures are not known: minor says which */
    PYLAYOUT_READY
} pylayout_answer_t;

/* Asks the loader, and where an interpreter hides its symbol the file that it is from. Context: a
 * thread that may wait for the loader. */
pylayout_answer_t pylayout_find(pylayout_found_t *out);

/* The layout of 3.minor. Returns: NULL: none is known by heart. */
const pylayout_t *pylayout_of(uint32_t minor);

#endif
