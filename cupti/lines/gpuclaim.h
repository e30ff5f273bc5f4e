/* SPDX-License-Identifier: Apache-2.0 */
/* gpuclaim.h - which program's warps are sampled on a GPU. CUPTI takes a second one without a word, gives it
 * no samples, and crashes in it as the program ends (docs/CUPTI.md): so the second does not ask CUPTI.
 *
 * A claim is the name of an abstract socket, which the system takes back from a process that dies, unless a
 * child has inherited it: a child drops it. It holds within a network namespace. One thread at a time. */
#ifndef GPURT_CUPTI_GPUCLAIM_H
#define GPURT_CUPTI_GPUCLAIM_H

#include <gpurt/base.h>

enum {
    GPUCLAIM_UUID = 16 /* bytes */
};

/* Owner: the caller; fd -1 at first. */
typedef struct gpuclaim {
    int fd; /* -1: not ours */
} gpuclaim_t;

/* A claim that is ours already stays. Returns: whether it is ours, or nobody can say; else *holder is the
 * process that has it, 0 where it is not known. */
bool gpuclaim_take(gpuclaim_t *c, const uint8_t uuid[GPUCLAIM_UUID], uint32_t *holder);
void gpuclaim_drop(gpuclaim_t *c);

/* Sends those home who asked for the holder: they know by now, and others have room. Waits for nobody. */
void gpuclaim_answer(const gpuclaim_t *c);

/* Of the driver's device of that number. Returns: false: the driver does not tell. */
bool gpuclaim_uuid(uint32_t device, uint8_t uuid[GPUCLAIM_UUID]);

#endif
