/* SPDX-License-Identifier: Apache-2.0 */
/* hostcallown.h - what the host keeps of host calls (hostcalls.h): hostcalls.c has their life,
 * hostcallserve.c the thread that serves kernels, hostcallbook.c those that a process has. */
#ifndef GPURT_HOST_HOSTCALLOWN_H
#define GPURT_HOST_HOSTCALLOWN_H

#include "choice.h"

#include <gpurt/atomic.h>
#include <gpurt/hostcalls.h>

#include <pthread.h>

typedef struct gpurt_hostcall_row {
    gpurt_host_function_t *function; /* NULL: there is none */
    void *context;
    uint32_t ask_bytes, answer_bytes;
} gpurt_hostcall_row_t;

/* What a port's lanes ask. Copied: what kernels write into the port is read once. */
typedef struct gpurt_hostcall_question {
    uint32_t function, lanes, ask_bytes, answer_bytes;
    uint64_t argument;
} gpurt_hostcall_question_t;

/* Owner: the book. */
typedef struct gpurt_hostcalls_own {
    const gpurt_opened_t *opened;
    gpurt_hostcalls_t calls;
    char name[GPURT_HOSTCALL_NAME_BYTES];
    uint32_t stop_ms;
    bool serves;       /* the thread is there; written by: who makes and ends it */
    uint32_t xrunning; /* number of the function that runs, and 1; written by: the thread */
    uint64_t xserved;  /* ports; written by: the thread */
    uint64_t xunknown; /* questions; written by: the thread */
    uint32_t users;    /* under the book's lock */
    bool ending;       /* likewise: somebody destroys it */
    pthread_mutex_t lock; /* of what follows, up to the thread's own */
    pthread_t thread;     /* another one follows where a function ends it */
    bool stopped;         /* the thread is to end */
    bool ended;           /* it does, and serves no more */
    gpurt_hostcall_row_t rows[GPURT_HOSTCALL_FUNCTIONS];
    int files[GPURT_HOSTCALLS_FILES]; /* descriptors */
    uint32_t file_count;
    /* The thread's own. */
    gpurt_hostcall_question_t question;        /* that it works at, */
    uint32_t port, turn, rank;                 /* from there, of that lane */
    uint32_t turns[GPURT_HOSTCALL_PORTS_MOST]; /* of the last answers */
    uint32_t answered[GPURT_HOSTCALL_WORDS];   /* as stored */
    char GPURT_ALIGN(64) ask[GPURT_HOSTCALL_AREA];
    char GPURT_ALIGN(64) answer[GPURT_HOSTCALL_AREA];
} gpurt_hostcalls_own_t;

/* Ports that are not free. w: its first part is enough (GPURT_HOSTCALL_WATCHED_BYTES). */
static inline uint32_t gpurt_hostcalls_in_flight(uint32_t ports,
                                                 const gpurt_hostcall_words_t *w)
{
    uint32_t unused = 0;

    for (uint32_t i = 0; i < GPURT_HOSTCALL_WORDS; i++)
        unused += (uint32_t)__builtin_popcount(w->xfree[i]);
    return unused < ports ? ports - unused : 0;
}

/* ---- hostcallserve.c ------------------------------------------------------------------- */
gpurt_status_t gpurt_hostcalls_serve(gpurt_hostcalls_own_t *own, gpurt_error_t *err);
/* Answers what was asked, then ends the thread. timeout_ns: UINT64_MAX, for ever.
 * Returns: GPURT_E_TIMEOUT, and it serves on. */
gpurt_status_t gpurt_hostcalls_unserve(gpurt_hostcalls_own_t *own, uint64_t timeout_ns,
                                       gpurt_error_t *err);
/* Waits until no function runs, stop_ms at most. */
gpurt_status_t gpurt_hostcalls_rest(const gpurt_hostcalls_own_t *own, gpurt_error_t *err);

/* ---- hostcallbook.c -------------------------------------------------------------------- */
/* Gives it its number. Returns: 0, there is no room. */
uint32_t gpurt_hostcalls_book_number(gpurt_hostcalls_own_t *own);
/* Until it is dropped, it stays. Returns: GPURT_E_HANDLE, GPURT_E_FORKED. */
gpurt_status_t gpurt_hostcalls_book_take(const gpurt_hostcalls_t *calls,
                                         gpurt_hostcalls_own_t **own, gpurt_error_t *err);
void gpurt_hostcalls_book_drop(gpurt_hostcalls_own_t *own);
/* As take, for one who destroys it: nobody else takes it then. */
gpurt_status_t gpurt_hostcalls_book_end(const gpurt_hostcalls_t *calls,
                                        gpurt_hostcalls_own_t **own, gpurt_error_t *err);
/* It is not destroyed after all; or it is gone: waits until nobody else has it. */
void gpurt_hostcalls_book_resume(gpurt_hostcalls_own_t *own);
void gpurt_hostcalls_book_strike(gpurt_hostcalls_own_t *own);
/* One of a device, by place; places are below GPURT_HOSTCALLS. Context: it does not end meanwhile.
 * Returns: NULL, there is none. */
gpurt_hostcalls_own_t *gpurt_hostcalls_book_at(uint32_t place, uint32_t device);

/* ---- hostcalls.c, for hostcallpart.c --------------------------------------------------- */
/* Closes its files and frees it, but for what the device has. Returns: GPURT_E_OS, of a file. */
gpurt_status_t gpurt_hostcalls_free(gpurt_hostcalls_own_t *own, gpurt_error_t *err);

#endif
