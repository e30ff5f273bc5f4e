/* SPDX-License-Identifier: Apache-2.0 */
/* outfile.h - opens the files that a user names for output: logs, exports, reports, checkpoints.
 *
 * A file there must be ours: what belongs to another user, he reads, cuts and changes. A symbolic
 * link at the end of the name is followed when it is ours or root's. Terminals, pipes, devices and
 * what leads through /proc are opened as they are; so is a FIFO, of ours or root's. One to write that
 * nobody opens to read within two seconds is refused.
 * Owner and kind are asked of the open file; only then anything of it is cut off. Folders on the
 * way are the user's own choice. */
#ifndef GPURT_BASE_OUTFILE_H
#define GPURT_BASE_OUTFILE_H

#include <gpurt/status.h>

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

typedef enum gpurt_outfile_how {
    GPURT_OUTFILE_NEW,     /* to write; must not exist */
    GPURT_OUTFILE_REPLACE, /* to write; what it holds is cut off */
    GPURT_OUTFILE_APPEND,  /* to write behind what it holds */
    GPURT_OUTFILE_LOG      /* to read and write; what it holds stays */
} gpurt_outfile_how_t;

enum {
    GPURT_OUTFILE_OWN = 0600 /* rights of what nobody else may read */
};

/* rights: of a file that is made, less the umask. One that exists keeps its own.
 * Returns: a descriptor, or -1; err then says what to do, and code is an errno. */
int gpurt_outfile_open(const char *path, gpurt_outfile_how_t how, mode_t rights,
                       gpurt_error_t *err);

/* Likewise. *made: it was not there before, and no other process made it. */
int gpurt_outfile_make(const char *path, gpurt_outfile_how_t how, mode_t rights, bool *made,
                       gpurt_error_t *err);

/* Removes a file that was made here: the one of that name, behind links that may be followed, while
 * it still is the one that fd has open. A link stays. */
void gpurt_outfile_remove(const char *path, int fd);

/* Whether both names lead to one file. */
bool gpurt_outfile_same(const char *one, const char *other);

/* As gpurt_outfile_open, to write. NULL: it failed. */
FILE *gpurt_outfile_stream(const char *path, gpurt_outfile_how_t how, mode_t rights,
                           gpurt_error_t *err);

/* Where a file would be that is to take the place of `path` by rename(2): behind links that may be
 * followed. Whatever stands there is a regular file of ours, or nothing does. */
gpurt_status_t gpurt_outfile_place(const char *path, char *place, size_t room,
                                   gpurt_error_t *err);

/* Rights for what is made of that file: who could not read it reads no copy. */
mode_t gpurt_outfile_rights_like(const char *path);

#endif
