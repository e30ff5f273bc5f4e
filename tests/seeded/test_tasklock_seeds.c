/* SPDX-License-Identifier: Apache-2.0 */
/* Locks of tasks, a schedule a seed: tasks of all levels write the same plain words, each awaiting
 * in the middle, and some end with the lock. */
#include "seeds.h"

#include "tasklock_stage.h"

int main(int argc, char **argv)
{
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 30); seeds_next(&s, 2);)
        tasklock_storm(1 + s.seed % 2, 1 + s.seed / 2 % 2, 3 + s.seed % 4, 2,
                       s.seed / 4 % 3);
    return 0;
}
