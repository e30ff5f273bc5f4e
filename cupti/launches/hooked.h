/* SPDX-License-Identifier: Apache-2.0 */
/* hooked.h - launches as libgpurt-launch.so tells of them (launchhook.h), without CUPTI: what runs, and
 * how often what was launched; and waits of the host (hostwaits.h). There is no record that tells of an end: streams are asked
 * (streamends.h), and waits of the host are seen. */
#ifndef GPURT_CUPTI_HOOKED_H
#define GPURT_CUPTI_HOOKED_H

#include <gpurt/base.h>

/* Returns: false: the library is not in this process. Context: before any launch; once. */
bool hooked_start(bool running, bool counted);
bool hooked_is_on(void);

/* What this file took of the program's time, by some of its launches: to count and to watch them. */
typedef struct hooked_spent {
    uint64_t counting_ns, counted, watching_ns, watched;
} hooked_spent_t;
hooked_spent_t hooked_spent(void);

/* Launches are watched from now on, as they are at first, or no more; then those that were are dropped.
 * One that was under way may come in behind: call it once more. Nothing where what runs is not asked for.
 * Context: one thread. */
void hooked_watch(bool watches);

/* Context: the program ends. */
void hooked_stop(void);

/* In a child after fork: nothing is told any more. */
void hooked_leave(void);

#endif
