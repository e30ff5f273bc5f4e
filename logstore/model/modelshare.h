/* SPDX-License-Identifier: Apache-2.0 */
/* modelshare.h - a view of a model in shared memory: the drainer writes it, any number
 * of gpurt-tops of the same user read it, none of them disturbs the drain.
 *
 * The memory is a 0600 file, $XDG_RUNTIME_DIR/gpurt/PID of the program that is watched
 * (where that variable is not set: /dev/shm/gpurt-UID/PID), or has no name. A program has a
 * model for each of its boxes: the second is PID.1, and so on, in no order. Each part of
 * the view has a sequence lock of its own, so a reader copies what changed. A share is
 * used by one thread; writer and readers have one each. */
#ifndef GPURT_MODELSHARE_H
#define GPURT_MODELSHARE_H

#include "model.h"

typedef struct gpurt_modelshare gpurt_modelshare_t;

enum {
    GPURT_MODELSHARE_ALL = 1023
}; /* bits of all parts */

/* The writer's end of a box's model. NULL: memory without a name, for readers in this process.
 * A file that a dead writer left is replaced; GPURT_E_BUSY: another writer that lives shows
 * that box. */
gpurt_status_t gpurt_modelshare_create(const gpurt_box_identity_t *box,
                                       gpurt_modelshare_t **out, gpurt_error_t *err);
/* Readers' ends of what living writers show of a process, the oldest box first. Returns: how
 * many, at most `room`. */
uint32_t gpurt_modelshare_find(uint32_t pid, gpurt_modelshare_t **out, uint32_t room);
/* A reader's end more, in the process that has one or the writer's. */
gpurt_status_t gpurt_modelshare_join(const gpurt_modelshare_t *end,
                                     gpurt_modelshare_t **out, gpurt_error_t *err);
/* The writer's file goes, its memory stays until the last reader is gone. NULL is
 * allowed. */
void gpurt_modelshare_close(gpurt_modelshare_t *s);

/* Publishes the parts whose bits are set. */
void gpurt_modelshare_publish(gpurt_modelshare_t *s, const gpurt_modelview_t *view,
                              uint32_t parts);

/* Publishes a model now, or (tick) when a tenth of a second has passed since the last time;
 * a drain loop calls it each round. */
void gpurt_modelshare_put(gpurt_modelshare_t *s, const gpurt_model_t *m, uint64_t now_ns,
                          uint32_t state);
bool gpurt_modelshare_tick(gpurt_modelshare_t *s, const gpurt_model_t *m, uint64_t now_ns,
                           uint32_t state);

/* Panics of a section that a drain has seen the count of, and not the record: at once, by the
 * drain's thread, while another may use the writer's end (gpurt_drain_sink_t.alarm). */
void gpurt_modelshare_alarm(gpurt_modelshare_t *s, uint32_t section, uint32_t coming);
/* Of all sections. */
uint32_t gpurt_modelshare_coming(const gpurt_modelshare_t *s);

/* What a replay can reach, for later puts. */
void gpurt_modelshare_range(gpurt_modelshare_t *s, uint64_t first_ns, uint64_t last_ns);

/* Copies the parts that changed since this end's last read into *view, which starts zeroed.
 * A part that is being written all the time is left for the next read.
 * Returns: bits of the parts that were copied. */
uint32_t gpurt_modelshare_read(gpurt_modelshare_t *s, gpurt_modelview_t *view);

/* Which box of its process it is: when that was made. */
uint64_t gpurt_modelshare_box_ns(const gpurt_modelshare_t *s);

/* Whether nothing will come any more: its last picture is there, or the writer is gone. */
bool gpurt_modelshare_over(const gpurt_modelshare_t *s);

#endif
