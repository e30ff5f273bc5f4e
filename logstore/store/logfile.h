/* SPDX-License-Identifier: Apache-2.0 */
/* logfile.h - a log file that is written: blocks one behind another, each there in whole or not
 * at all, and where those are that the next index and the end will name. Knows what an earlier
 * run left in it; nothing of how rows become a frame. Used by the writer alone, of which one
 * thread writes. */
#ifndef GPURT_LOGFILE_H
#define GPURT_LOGFILE_H

#include "dictionary.h"
#include "format.h"
#include "judge.h"

/* Owner: the writer. Zeroed and begun by init. */
typedef struct logfile {
    int fd;    /* -1: none */
    bool held; /* a lock tells readers that we live */
    bool torn; /* records could not be written, and nobody has them any more */
    bool made; /* the file was not there before */
    bool ours; /* no other process writes it */
    bool cut;  /* another process has cut off some of what was written */
    uint64_t device, inode;
    char *path;                   /* as it was opened; NULL: the file has no name */
    uint64_t offset;              /* end of its sound part: where the next block goes */
    uint64_t bytes;               /* written since open */
    gplog_judge_t judge;          /* of what an earlier run left */
    gplog_end_t total;            /* of all frames; frames: the number of the next one */
    uint64_t about_at;            /* the last FILE */
    gplog_file_t about;           /* all that the file names */
    gplog_index_entry_t *entries; /* of frames since the last index; GPLOG_INDEX_EVERY */
    uint32_t entry_count;
} logfile_t;

void logfile_init(logfile_t *f);
/* known: goes on behind what is there, whose definitions are put into it, and cuts what is torn;
 * NULL: the file must be empty. */
gpurt_status_t logfile_open(logfile_t *f, const char *path, gpurt_dictionary_t *known,
                            gpurt_error_t *err);
void logfile_fini(logfile_t *f);
/* Takes back what was written since open. A file that open made is removed. */
void logfile_undo(logfile_t *f);

/* A block with a copy of body. */
gpurt_status_t logfile_block(logfile_t *f, uint32_t type, const void *body, size_t bytes,
                             gpurt_error_t *err);
/* A FRAME with its rows, sealed; it will be in the next index, which must have room. */
gpurt_status_t logfile_frame(logfile_t *f, const void *block, size_t bytes,
                             gpurt_error_t *err);
/* Names who is recorded, beside those that the file names already. */
gpurt_status_t logfile_about(logfile_t *f, const gplog_file_t *about, gpurt_error_t *err);
/* The frames since the last one. dict_at: the block that has all definitions before it. */
gpurt_status_t logfile_index(logfile_t *f, uint64_t dict_at, gpurt_error_t *err);

/* The last block, behind an index. */
gpurt_status_t logfile_end(logfile_t *f, gpurt_error_t *err);

/* Whether that frame is in this file, whole, whoever wrote it. */
bool logfile_holds(const logfile_t *f, const gpurt_box_intent_t *place);
/* Whether it is still the file of that name, with all that was written. Returns: GPURT_OK, or what
 * became of it and of so many records. */
gpurt_status_t logfile_stands(logfile_t *f, uint64_t records, gpurt_error_t *err);

#endif
