/* SPDX-License-Identifier: Apache-2.0 */
/* hostcall.h - functions of the host that a running kernel calls: the device's side (hostcalls.h
 * has the host's).
 *
 *     GPURT_HOST_CALL(price, 1, struct item, struct price);     for both sides: name, number,
 *                                                               question, answer
 *     struct args { gpurt_hostcalls_t calls; ... };             made by the host
 *
 *     st = gpurt_host_call(&p->calls, price, &item, &price);    the types are checked
 *
 *   gpurt_host_call(c, name, ask, answer)          waits for the answer
 *   gpurt_host_call_for(c, name, ask, answer, ns)  ... so long at most
 *   gpurt_host_print(c, text)                      a line on the host's standard output
 *   gpurt_host_write(c, file, data, bytes)         behind what a file holds; the host has opened
 *                                                  it (gpurt_hostcalls_file)
 *   gpurt_host_time(c, &ns)                        the host's clock: nanoseconds since 1970
 *
 * All are functions of an expression's value, gpurt_status_t: what the host's function returned,
 * or
 *
 *   GPURT_E_NO_FUNCTION   the host has no function of that number; *answer is zeros
 *   GPURT_E_INVALID       it has one, with a question or an answer of another size
 *   GPURT_E_FULL          no port was free in time: nothing was asked
 *   GPURT_E_TIMEOUT       it was asked, and there is no answer yet: the function may run still,
 *                         its answer goes nowhere. *answer is as it was
 *   GPURT_E_CANCELLED     the caller's block was: it leaves at its next safe point, likewise
 *   GPURT_E_HANDLE        no host calls, or ones that were destroyed
 *
 * Lanes that make the same call together ask in one port, up to 128 bytes for each; a lane with
 * more has one for itself, up to 4,096 bytes. The host takes the questions of a port in the order
 * of the lanes. Their time limit is the lowest lane's. What a lane wrote before its call is seen
 * by the function where the host can reach it, and the other way round.
 * Context: device code, any lane. */
#ifndef GPURT_HOSTCALL_H
#define GPURT_HOSTCALL_H

#include <gpurt/impl/hostcallcore.h>

/* ---- typed --------------------------------------------------------------------------- */

/* Type gpurt_hostcall_of_name: a function of the host's, its number and its types. */
#define GPURT_HOST_CALL(name, number, ask_type, answer_type)                           \
    GPURT_STATIC_ASSERT((number) >= 0 && (number) < GPURT_HOSTCALL_BUILT_IN,           \
                        "GPURT_HOST_CALL: numbers are 0 to 239");                      \
    GPURT_STATIC_ASSERT(sizeof(ask_type) <= GPURT_HOSTCALL_ASK_MOST &&                 \
                            sizeof(answer_type) <= GPURT_HOSTCALL_ANSWER_MOST,         \
                        "GPURT_HOST_CALL: a question has 4096 bytes, an answer 4088"); \
    typedef union gpurt_hostcall_of_##name {                                           \
        ask_type *question;                                                            \
        answer_type *reply;                                                            \
        char (*function)[(number) + 1];                                                \
    } gpurt_hostcall_of_##name;                                                        \
    GPURT_DEV gpurt_status_t gpurt_hostcall_do_##name(                                 \
        const gpurt_hostcalls_t *calls, const ask_type *ask, answer_type *answer,      \
        uint64_t ns, gpurt_site_t *place, const char *here)                            \
    {                                                                                  \
        return gpurt_hostcall_typed(calls, number, ask, (uint32_t)sizeof *ask, answer, \
                                    (uint32_t)sizeof *answer, ns, place, here);        \
    }

/* In C++ the parameters' types say so. */
#if defined(__cplusplus)
#    define GPURT_HOSTCALL_IS_(name, member, p) true
#else
#    define GPURT_HOSTCALL_IS_(name, member, p)        \
        __builtin_types_compatible_p(__typeof__(*(p)), \
                                     __typeof__(*((gpurt_hostcall_of_##name *)0)->member))
#endif

#define gpurt_host_call_for(c, name, ask, answer, ns)                            \
    __extension__({                                                              \
        GPURT_PLACE(gpurt_place_, "calls the host");                             \
        GPURT_STATIC_ASSERT(GPURT_HOSTCALL_IS_(name, question, ask),             \
                            "this host function's question has another type");   \
        GPURT_STATIC_ASSERT(GPURT_HOSTCALL_IS_(name, reply, answer),             \
                            "this host function's answer has another type");     \
        gpurt_hostcall_do_##name(c, ask, answer, ns, &gpurt_place_, GPURT_HERE); \
    })
#define gpurt_host_call(c, name, ask, answer) \
    gpurt_host_call_for(c, name, ask, answer, UINT64_MAX)

/* place: of the caller, for who looks at waits (waits.h); here: its line, for reports of the CPU
 * back end. */
GPURT_DEV gpurt_status_t gpurt_hostcall_typed(const gpurt_hostcalls_t *calls,
                                              uint32_t function, const void *ask,
                                              uint32_t ask_bytes, void *answer,
                                              uint32_t answer_bytes, uint64_t ns,
                                              gpurt_site_t *place, const char *here)
{
    gpurt_hostcall_t call = {calls, ask, answer, function, ask_bytes, answer_bytes,
                             false, 0,   ns,     0,        place,     here};

    return gpurt_hostcall_run(&call);
}

/* ---- built in ------------------------------------------------------------------------ */

#define GPURT_HOSTCALL_AT_(function, text, ...)           \
    __extension__({                                       \
        GPURT_PLACE(gpurt_place_, text);                  \
        function(__VA_ARGS__, &gpurt_place_, GPURT_HERE); \
    })
#define gpurt_host_print(c, text) \
    GPURT_HOSTCALL_AT_(gpurt_hostcall_print_at, "prints by the host", c, text)
#define gpurt_host_write(c, file, data, bytes) \
    GPURT_HOSTCALL_AT_(gpurt_hostcall_write_at, "writes by the host", c, file, data, bytes)
#define gpurt_host_time(c, ns) \
    GPURT_HOSTCALL_AT_(gpurt_hostcall_time_at, "asks the host's time", c, ns)

/* Bytes of any number, by a lane alone. */
GPURT_DEVN gpurt_status_t gpurt_hostcall_bytes(const gpurt_hostcalls_t *calls,
                                               uint32_t function, uint64_t argument,
                                               const void *data, uint32_t bytes,
                                               gpurt_site_t *place, const char *here)
{
    gpurt_hostcall_t call = {calls, data,     NULL,       function, bytes, 0,
                             true,  argument, UINT64_MAX, 0,        place, here};

    return gpurt_hostcall_run(&call);
}

/* Up to 4,096 bytes; a longer text is refused. */
GPURT_DEV gpurt_status_t gpurt_hostcall_print_at(const gpurt_hostcalls_t *calls,
                                                 const char *text, gpurt_site_t *place,
                                                 const char *here)
{
    uint32_t bytes = 0;

    while (bytes <= GPURT_HOSTCALL_ASK_MOST && text[bytes])
        bytes++;
    return gpurt_hostcall_bytes(calls, GPURT_HOSTCALL_PRINT, 0, text, bytes, place, here);
}

/* In pieces of 4,096 bytes: what others write may come between them. At the first that fails it
 * ends. */
GPURT_DEV gpurt_status_t gpurt_hostcall_write_at(const gpurt_hostcalls_t *calls,
                                                 uint32_t file, const void *data,
                                                 size_t bytes, gpurt_site_t *place,
                                                 const char *here)
{
    const char *from = (const char *)data;
    gpurt_status_t st = GPURT_OK;

    while (bytes && st == GPURT_OK) {
        uint32_t n = bytes < GPURT_HOSTCALL_ASK_MOST ? (uint32_t)bytes
                                                     : (uint32_t)GPURT_HOSTCALL_ASK_MOST;

        st = gpurt_hostcall_bytes(calls, GPURT_HOSTCALL_WRITE, file, from, n, place, here);
        from += n;
        bytes -= n;
    }
    return st;
}

GPURT_DEV gpurt_status_t gpurt_hostcall_time_at(const gpurt_hostcalls_t *calls,
                                                uint64_t *ns, gpurt_site_t *place,
                                                const char *here)
{
    return gpurt_hostcall_typed(calls, GPURT_HOSTCALL_TIME, NULL, 0, ns,
                                (uint32_t)sizeof *ns, UINT64_MAX, place, here);
}

#endif
