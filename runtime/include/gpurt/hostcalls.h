/* SPDX-License-Identifier: Apache-2.0 */
/* hostcalls.h - functions of the host that running kernels call: the host's side (hostcall.h has
 * the device's).
 *
 *     GPURT_HOST_CALL(price, 1, struct item, struct price);      (in a header of both sides)
 *
 *     GPURT_HOST_FUNCTION(price, context, ask, answer)           a function of one question
 *     {
 *         answer->cents = lookup(context, ask->number);
 *         return GPURT_OK;                                       the kernel's call returns this
 *     }
 *
 *     gpurt_hostcalls_create(rt, NULL, &args.calls, &err);
 *     gpurt_hostcalls_add(rt, &args.calls, price, table, &err);  context: what it is given
 *     ... launch ...
 *     gpurt_hostcalls_destroy(rt, &args.calls, &err);
 *
 * One thread of the runtime's serves the kernels: it looks for 50 us behind the last question,
 * then sleeps between looks, a sixteenth of the silence so far, 4 ms at most. It runs all functions, one
 * after the other; one that takes long keeps the others waiting. A function may call gpurt, but
 * must not wait for a kernel that waits for the host. It returns: one that calls pthread_exit is told
 * of on standard error and taken away, and its callers get GPURT_E_NO_FUNCTION.
 * Context of all calls: host, any thread. */
#ifndef GPURT_HOSTCALLS_H
#define GPURT_HOSTCALLS_H

#include <gpurt/gpurt.h>
#include <gpurt/hostcall.h>

enum {
    GPURT_HOSTCALLS = 64,      /* at a time in a process */
    GPURT_HOSTCALLS_FILES = 64 /* of one of them */
};

/* Zero means the default everywhere. */
typedef struct gpurt_hostcalls_options {
    uint32_t struct_size; /* sizeof(gpurt_hostcalls_options_t), or 0 */
    uint32_t ports;   /* questions at a time, of a warp each; at most 128, the default */
    uint32_t stop_ms; /* how long destroy and gpurt_close wait for a function; 5000 */
    const char *name; /* for errors, the log and the screen; copied. NULL: its number */
} gpurt_hostcalls_options_t;

/* While kernels call, its parts are of different moments. */
typedef struct gpurt_hostcalls_status {
    char name[GPURT_HOSTCALL_NAME_BYTES];
    uint32_t ports, in_flight; /* those that kernels have */
    uint64_t calls, groups;    /* questions of lanes, of ports */
    uint64_t waits;            /* groups that found no port at once */
    uint64_t late, cancelled;  /* lanes that left before the answer */
    uint64_t refused;          /* lanes that asked nothing */
    uint64_t unknown; /* questions to functions that are not there, or with other sizes */
    uint64_t used_ns; /* processor time of the thread that serves */
} gpurt_hostcalls_status_t;

/* One question. answer: zeros. Context: the thread that serves. */
typedef gpurt_status_t gpurt_host_function_t(void *context, const void *ask, void *answer);

GPURT_BEGIN_DECLS

gpurt_status_t gpurt_hostcalls_create(gpurt_t *rt, const gpurt_hostcalls_options_t *options,
                                      gpurt_hostcalls_t *out, gpurt_error_t *err);

/* What gpurt_hostcalls_add calls. function NULL: takes the number's function away; one that runs
 * runs on. Also while kernels call. */
gpurt_status_t gpurt_hostcalls_add_function(gpurt_t *rt, const gpurt_hostcalls_t *calls,
                                            uint32_t number, uint32_t ask_bytes,
                                            uint32_t answer_bytes,
                                            gpurt_host_function_t *function, void *context,
                                            gpurt_error_t *err);

/* A file for gpurt_host_write: what it holds is cut off. It is closed with the host calls.
 * *file: its number. */
gpurt_status_t gpurt_hostcalls_file(gpurt_t *rt, const gpurt_hostcalls_t *calls,
                                    const char *path, uint32_t *file, gpurt_error_t *err);

gpurt_status_t gpurt_hostcalls_status(gpurt_t *rt, const gpurt_hostcalls_t *calls,
                                      gpurt_hostcalls_status_t *out, gpurt_error_t *err);

/* Answers what was asked, then ends. Context: no kernel uses it. NULL and a description of zeros:
 * nothing. Returns: GPURT_E_TIMEOUT when a function does not return: all stays as it was. */
gpurt_status_t gpurt_hostcalls_destroy(gpurt_t *rt, gpurt_hostcalls_t *calls,
                                       gpurt_error_t *err);

GPURT_END_DECLS

/* A function of the types that GPURT_HOST_CALL gave it; its body follows. */
#define GPURT_HOST_FUNCTION(name, context, ask, answer)                                   \
    static gpurt_status_t gpurt_host_typed_##name(                                        \
        void *context, const __typeof__(*((gpurt_hostcall_of_##name *)0)->question) *ask, \
        __typeof__(*((gpurt_hostcall_of_##name *)0)->reply) *answer);                     \
    static gpurt_status_t gpurt_host_function_##name(                                     \
        void *gpurt_context_, const void *gpurt_ask_, void *gpurt_answer_)                \
    {                                                                                     \
        return gpurt_host_typed_##name(                                                   \
            gpurt_context_,                                                               \
            (const __typeof__(*((gpurt_hostcall_of_##name *)0)->question) *)gpurt_ask_,   \
            (__typeof__(*((gpurt_hostcall_of_##name *)0)->reply) *)gpurt_answer_);        \
    }                                                                                     \
    static gpurt_status_t gpurt_host_typed_##name(                                        \
        void *context, const __typeof__(*((gpurt_hostcall_of_##name *)0)->question) *ask, \
        __typeof__(*((gpurt_hostcall_of_##name *)0)->reply) *answer)

#define gpurt_hostcalls_add(rt, calls, name, context, err)                          \
    gpurt_hostcalls_add_function(                                                   \
        rt, calls, (uint32_t)sizeof *((gpurt_hostcall_of_##name *)0)->function - 1, \
        (uint32_t)sizeof *((gpurt_hostcall_of_##name *)0)->question,                \
        (uint32_t)sizeof *((gpurt_hostcall_of_##name *)0)->reply,                   \
        gpurt_host_function_##name, context, err)

#endif
