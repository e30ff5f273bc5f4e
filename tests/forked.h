/* SPDX-License-Identifier: Apache-2.0 */
/* forked.h - how a child of fork() ends by exit() in a test whose parent has threads.
 *
 * LeakSanitizer takes the allocator's locks at exit. One that a thread of the parent held at the fork
 * is never given back in the child, which then waits for ever. So the child leaves that check out; all
 * else that happens at exit happens. Include it in one file of a program. */
#ifndef GPURT_TESTS_FORKED_H
#define GPURT_TESTS_FORKED_H

#include <stdbool.h>
#include <stdlib.h>

static bool forked_ends;

int __lsan_is_turned_off(void); /* the sanitizer asks it; nobody does without one */

int __lsan_is_turned_off(void)
{
    return forked_ends;
}

static inline _Noreturn void forked_exit(int status)
{
    forked_ends = true;
    exit(status);
}

#endif
