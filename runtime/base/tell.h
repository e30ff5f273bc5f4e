/* SPDX-License-Identifier: Apache-2.0 */
/* tell.h - the few lines that the library writes to standard error by itself: a panic of device
 * code, and what the environment asks for and does not get. All else is a status, or a text
 * that the caller gets.
 *
 * A line is one write(2) of at most GPURT_TELL_BYTES. It begins with "gpurt: ", and what a
 * terminal would obey in it is escaped. A pipe that nobody reads holds nobody up: the line is
 * dropped after 100 ms. It raises no signal. A program with rights that its user has not
 * (setuid) writes none. */
#ifndef GPURT_TELL_H
#define GPURT_TELL_H

#include <gpurt/base.h>

enum {
    GPURT_TELL_BYTES = 1024,
    GPURT_TELL_MOST = 32 /* lines of gpurt_tell a process; the last one says so */
};

/* Each text once a process. Context: host, any thread. */
void gpurt_tell(const char *fmt, ...) GPURT_PRINTF(1, 2);

/* The number that a variable of the environment is set to; one that is none is told of. Returns:
 * `otherwise` then, and where value is NULL or "". */
uint64_t gpurt_tell_number(const char *name, const char *value, uint64_t otherwise);

/* The same for callers that bound their number themselves. */
void gpurt_tell_always(const char *fmt, ...) GPURT_PRINTF(1, 2);

/* The escapes: control characters, what hides or turns others, what is not UTF-8. Cut to the
 * room, in front of three dots. Returns: the length. */
size_t gpurt_tell_plain(char *to, size_t room, const char *text);

#endif
