/* SPDX-License-Identifier: Apache-2.0 */
/* plural.h - the end of a word that is counted: "1 record", "2 records". What prints a count
 * for people asks here. */
#ifndef GPURT_BASE_PLURAL_H
#define GPURT_BASE_PLURAL_H

#include <stdint.h>

/* more: "s", "es", "S". */
static inline const char *gpurt_plural(uint64_t count, const char *more)
{
    return count == 1 ? "" : more;
}

#endif
