/* SPDX-License-Identifier: Apache-2.0 */
#include <gpurt/status.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct status_row {
    gpurt_status_t status;
    const char *name, *text;
};

#define ROW(code, text)                    \
    {                                      \
        GPURT_##code, "GPURT_" #code, text \
    }

static const struct status_row rows[] = {
    ROW(OK, "no error"),
    ROW(E_INVALID, "an argument is not valid"),
    ROW(E_NOMEM, "out of memory"),
    ROW(E_OS, "the operating system refused"),
    ROW(E_UNSUPPORTED, "not supported by this back end or device"),
    ROW(E_NOT_READY, "the work has not finished yet"),
    ROW(E_HANDLE, "the handle is not valid"),
    ROW(E_INTERNAL, "internal error of gpurt"),
    ROW(E_CLOSED, "the runtime is not open"),
    ROW(E_OPEN, "the runtime is already open"),
    ROW(E_NO_DEVICE, "no such GPU"),
    ROW(E_DRIVER, "the GPU driver is missing or too old"),
    ROW(E_BUSY, "the GPU is in exclusive use by another process"),
    ROW(E_PROHIBITED, "the GPU's compute mode prohibits its use"),
    ROW(E_BACKEND, "the back end is not part of this program"),
    ROW(E_CUDA, "a CUDA call failed"),
    ROW(E_FORKED, "made before a fork: it is the parent process's"),
    ROW(E_GRID, "the grid size is out of range"),
    ROW(E_BLOCK, "the block size is out of range"),
    ROW(E_SHARED, "more shared memory than a block can have"),
    ROW(E_ARGS, "the argument struct has the wrong size"),
    ROW(E_KERNEL, "the kernel was not built for this back end"),
    ROW(E_CLUSTER, "the cluster size is out of range"),
    ROW(E_COOPERATIVE, "the cooperative grid cannot be resident at once"),
    ROW(E_ROOM, "the service would leave no room for other kernels"),
    ROW(E_SERVICE, "it cannot be done beside a service that runs"),
    ROW(E_FAULT, "a lane faulted"),
    ROW(E_TRAP, "a lane trapped"),
    ROW(E_STACK, "a lane overflowed its stack"),
    ROW(E_DEADLOCK, "deadlock"),
    ROW(E_LIVELOCK, "livelock: every lane spins and none advances"),
    ROW(E_OCCUPANCY, "lanes wait for blocks that cannot become resident"),
    ROW(E_SYNC, "a warp operation or barrier was misused"),
    ROW(E_SCOPE, "an atomic's scope is narrower than its use"),
    ROW(E_DEVICE_LOST, "the device context is lost"),
    ROW(E_CANCELLED, "cancelled"),
    ROW(E_PANIC, "a kernel panicked"),
    ROW(E_TIMEOUT, "it did not come in time"),
    ROW(E_OWNER_DIED, "the lock was taken; its last owner left while it held it"),
    ROW(E_NOT_OWNER, "the lock is not held by the caller"),
    ROW(E_HELD, "it is held or waited for"),
    ROW(E_TRUNCATED, "the file ends too soon"),
    ROW(E_VERSION, "the file is of another version"),
    ROW(E_DAMAGED, "the file is damaged"),
    ROW(E_PART, "the file has no part of that name"),
    ROW(E_MOVED, "memory cannot be had at its old address"),
    ROW(E_FULL, "the channel is full"),
    ROW(E_EMPTY, "the channel is empty"),
    ROW(E_DROPPED, "the channel was full and the message was dropped"),
    ROW(E_CHANNEL_CLOSED, "the channel is closed"),
    ROW(E_NO_FUNCTION, "the host has no function of that number"),
};

static const struct status_row *find_row(gpurt_status_t status)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].status == status)
            return &rows[i];
    return NULL;
}

const char *gpurt_status_name(gpurt_status_t status)
{
    const struct status_row *row = find_row(status);

    return row ? row->name : "GPURT_E_UNKNOWN";
}

const char *gpurt_status_text(gpurt_status_t status)
{
    const struct status_row *row = find_row(status);

    return row ? row->text : "unknown status";
}

/* What the system says of an errno, behind what happened and before what to do about it. */
static void reason_insert(char text[GPURT_ERROR_TEXT], int64_t code)
{
    const char *advice = strstr(text, "; ");
    size_t at = advice ? (size_t)(advice - text) : strlen(text);
    char rest[GPURT_ERROR_TEXT];

    memcpy(rest, text + at, strlen(text + at) + 1);
    snprintf(text + at, GPURT_ERROR_TEXT - at, ": %s%s", strerror((int)code), rest);
}

#undef gpurt_fail /* a macro for the analyser */
gpurt_status_t gpurt_fail(gpurt_error_t *err, gpurt_status_t status, uint32_t origin,
                          int64_t code, const char *fmt, ...)
{
    va_list args;

    if (!err)
        return status;
    err->status = status;
    err->origin = origin;
    err->code = code;
    va_start(args, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    if (origin == GPURT_FROM_ERRNO && code != 0)
        reason_insert(err->text, code);
    return status;
}
