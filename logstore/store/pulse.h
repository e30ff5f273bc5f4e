/* SPDX-License-Identifier: Apache-2.0 */
/* pulse.h - whether a log that has no END may still grow: what a writer does so that this can be
 * told, and how readers tell it.
 *
 * A writer holds a lock of its open file (F_OFD_SETLK) and says so in the FILE block. The kernel
 * drops the lock with the last descriptor, however the writer ends; asking for it takes nothing,
 * so no question keeps another writer out. A box lives as long as its program, so while a program
 * runs that the log recorded another drainer may go on where the one before died.
 *
 * Nothing is concluded of a file that was written where the lock cannot be seen from here: on
 * another machine, by a writer that got no lock, on a file system that has none. */
#ifndef GPURT_LOG_PULSE_H
#define GPURT_LOG_PULSE_H

#include "format.h"

typedef enum gplog_pulse_state {
    GPLOG_PULSE_UNKNOWN,
    GPLOG_PULSE_WRITTEN, /* a writer has it open */
    GPLOG_PULSE_LEFT,    /* none has, but a program runs that it recorded */
    GPLOG_PULSE_DEAD     /* nobody is left who has more to say */
} gplog_pulse_state_t;

typedef struct gplog_process {
    uint32_t pid;
    uint64_t start_ticks;
} gplog_process_t;

/* What the FILE blocks say of it. Owner: the reader; zeroed at first. */
typedef struct gplog_pulse {
    gplog_process_t *list; /* that were recorded; heap */
    uint32_t count, room;
    gpurt_box_identity_t last;
    bool held; /* the last one was written under the lock */
    bool full; /* there was no memory for one of the list */
} gplog_pulse_t;

/* Context: the writer, alone with its file. Returns: whether the lock is held. */
bool gplog_pulse_hold(int fd);

/* held: the FILE block says that its writer held the lock. */
void gplog_pulse_note(gplog_pulse_t *p, const gplog_file_t *about, bool held);
void gplog_pulse_fini(gplog_pulse_t *p);

/* fd: any of the file that was not opened by its writer. *pid: of LEFT, the program. */
gplog_pulse_state_t gplog_pulse_feel(const gplog_pulse_t *p, int fd, uint32_t *pid);

#endif
