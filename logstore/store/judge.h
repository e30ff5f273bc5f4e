/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - whether the blocks of a log are whole: who walks a file shows them to a judge one
 * by one. It compares the numbers of the frames, what each INDEX names, and what each END says
 * that the frames before it add up to. The only place that says what of a log is damaged:
 * gpurt-log verify, cat and all others ask it through the reader. */
#ifndef GPURT_LOG_JUDGE_H
#define GPURT_LOG_JUDGE_H

#include "scan.h"
#include "sequence.h"

typedef struct gplog_damage {
    uint64_t torn;      /* frames that cannot be read */
    uint64_t missing;   /* frames whose number is not there, and no damaged bytes instead */
    uint64_t doubled;   /* frames left out: their number came before */
    uint64_t misplaced; /* frames behind one with a higher number */
    uint64_t stray_bytes; /* between sound blocks */
    bool index_wrong; /* an INDEX names other blocks than those before it, or is missing */
    bool end_wrong;   /* an END says another sum than that of the frames before it */
} gplog_damage_t;

/* Owner: the caller. Zeroed at first. */
typedef struct gplog_judge {
    gplog_sequence_t sequence;
    gplog_end_t total;  /* of the frames that count; index: offset of the last INDEX */
    gplog_end_t told;   /* the last END that tells of the whole file; frames 0: none */
    gplog_damage_t sum; /* but for stray bytes whose end has not come */
    bool pending;       /* damaged bytes came, and no frame since */
    uint64_t missed;    /* of sequence.missing, what is in sum.torn */
    uint64_t file_at, dict_at;
    uint64_t listed;     /* frames since the last INDEX, */
    uint32_t listed_sum; /* and the checksum of their lines in an INDEX */
} gplog_judge_t;

void gplog_judge_fini(gplog_judge_t *j);

/* The next block, with the damaged bytes before it. *kept: of a FRAME, whether it counts; of
 * others true. Returns: false without memory. */
bool gplog_judge_block(gplog_judge_t *j, const gplog_piece_t *piece, bool *kept);

/* tail: bytes at the end of the file that are no whole block. */
void gplog_judge_damage(const gplog_judge_t *j, uint64_t tail, gplog_damage_t *out);

static inline bool gplog_damage_any(const gplog_damage_t *d)
{
    return d->torn || d->missing || d->doubled || d->misplaced || d->stray_bytes ||
           d->index_wrong || d->end_wrong;
}

#endif
