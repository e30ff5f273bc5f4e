/* SPDX-License-Identifier: Apache-2.0 */
/* panichang.h - work that goes on and on behind a panic. In existing CUDA C++ a thread that ended
 * may be waited for by code that counts arrivals, or polls a flag. Nobody can tell that from
 * work that is long, so the first is told, and ended only where the user has set a limit.
 *
 * Context: one thread, that which tells panics. It alone calls into the device here. */
#ifndef GPURT_HOST_PANICHANG_H
#define GPURT_HOST_PANICHANG_H

#include "choice.h"

#define GPURT_PANICHANG_TELL_NS  2000000000ull /* behind the panic */
#define GPURT_PANICHANG_GRACE_NS 3000000000ull /* behind what ends it, for it to end */

/* Of an open device. Owner: panictell.c. */
typedef struct gpurt_panichang {
    const gpurt_opened_t *opened;
    uint64_t limit_ns; /* 0: none */
    uint64_t since_ns; /* work was marked, which runs still; 0: none is */
    uint64_t next_ns;  /* no mark before */
    uint32_t seen;     /* panics, at the last mark */
    bool told, ended;
} gpurt_panichang_t;

/* Reads GPURT_PANIC_LIMIT, in seconds. Context: gpurt_open; no kernel hangs yet. */
void gpurt_panichang_init(gpurt_panichang_t *h, const gpurt_opened_t *opened);

/* failed: panics so far that nobody handles. May end the process, where a limit is set and the
 * device does not end its work. */
void gpurt_panichang_look(gpurt_panichang_t *h, uint32_t failed, uint64_t now_ns);

#endif
