/* SPDX-License-Identifier: Apache-2.0 */
/* status.h - errors as values.
 *
 * A fallible call returns gpurt_status_t; a cold one also takes an optional gpurt_error_t that
 * says in one line what happened and what to do. The library never exits or aborts, and what it
 * prints gpurt.h names.
 * Numbers are frozen: they reach log files and other programs. */
#ifndef GPURT_STATUS_H
#define GPURT_STATUS_H

#include <gpurt/base.h>

typedef int32_t gpurt_status_t;

enum {
    GPURT_OK = 0,
    /* any call */
    GPURT_E_INVALID = -1,     /* an argument cannot be right */
    GPURT_E_NOMEM = -2,       /* host or device memory exhausted */
    GPURT_E_OS = -3,          /* the operating system refused; code is errno */
    GPURT_E_UNSUPPORTED = -4, /* this back end or device cannot do it */
    GPURT_E_NOT_READY = -5,   /* asked-for work has not finished yet */
    GPURT_E_HANDLE = -6,      /* a handle that never was, or was released */
    GPURT_E_INTERNAL = -7,    /* gpurt broke its own rule: report it */
    /* life of the runtime */
    GPURT_E_CLOSED = -10,     /* the runtime is not open */
    GPURT_E_OPEN = -11,       /* the runtime is open already */
    GPURT_E_NO_DEVICE = -12,  /* no GPU, or none with that number */
    GPURT_E_DRIVER = -13,     /* GPU driver missing or older than the toolkit */
    GPURT_E_BUSY = -14,       /* device in exclusive use by another process */
    GPURT_E_PROHIBITED = -15, /* device's compute mode forbids every context */
    GPURT_E_BACKEND = -16,    /* the back end asked for is not in this program */
    GPURT_E_CUDA = -17,       /* another CUDA error; code is the cudaError_t */
    GPURT_E_FORKED = -18,     /* it was made before a fork: it is the parent's */
    /* a launch refused before it began */
    GPURT_E_GRID = -20,
    GPURT_E_BLOCK = -21,
    GPURT_E_SHARED = -22,
    GPURT_E_ARGS = -23,
    GPURT_E_KERNEL = -24, /* the kernel was not built for this back end */
    GPURT_E_CLUSTER = -25,
    GPURT_E_COOPERATIVE = -26, /* more blocks than can be resident at once */
    GPURT_E_ROOM = -27,        /* a service would leave no room for other kernels */
    GPURT_E_SERVICE = -28,     /* it cannot be done beside a service that runs */
    /* a kernel that failed while it ran */
    GPURT_E_FAULT = -30, /* illegal address, division fault, illegal instruction */
    GPURT_E_TRAP = -31,  /* gpurt_trap */
    GPURT_E_STACK = -32, /* a lane overflowed its stack */
    GPURT_E_DEADLOCK = -33,
    GPURT_E_LIVELOCK = -34,
    GPURT_E_OCCUPANCY = -35,   /* waits for blocks that cannot become resident */
    GPURT_E_SYNC = -36,        /* misuse of a warp operation or barrier */
    GPURT_E_SCOPE = -37,       /* a narrow-scope atomic on an address others use */
    GPURT_E_DEVICE_LOST = -38, /* the context is dead: the process must restart */
    /* work that was given up while all else goes on */
    GPURT_E_CANCELLED = -40, /* it was told to stop, or whom it waited for was */
    GPURT_E_PANIC = -41,     /* a panic ended it, or a part of it */
    GPURT_E_TIMEOUT = -42,   /* it did not come in time */
    /* locks; others are GPURT_E_TIMEOUT, _CANCELLED, _DEADLOCK, _HANDLE and _INVALID */
    GPURT_E_OWNER_DIED = -43, /* taken, but who had it before left in the middle */
    GPURT_E_NOT_OWNER = -44,  /* given back by one that does not hold it */
    GPURT_E_HELD = -45,       /* destroyed while it is held or waited for */
    /* a checkpoint that cannot be used */
    GPURT_E_TRUNCATED = -50, /* the file ends too soon */
    GPURT_E_VERSION = -51,   /* of another version */
    GPURT_E_DAMAGED = -52,   /* its checksums do not fit */
    GPURT_E_PART = -53,      /* it has no part of that name */
    GPURT_E_MOVED = -54,     /* a heap cannot have its old address back */
    /* a channel; others are GPURT_E_HANDLE, _INVALID, _TIMEOUT and _CANCELLED */
    GPURT_E_FULL = -60,           /* no room, and none was waited for */
    GPURT_E_EMPTY = -61,          /* no message, and none was waited for */
    GPURT_E_DROPPED = -62,        /* no room: the message was dropped, as the policy says */
    GPURT_E_CHANNEL_CLOSED = -63, /* nothing can be sent; all that was sent is received */
    /* a host call; others are GPURT_E_FULL, _TIMEOUT, _CANCELLED, _HANDLE and _INVALID */
    GPURT_E_NO_FUNCTION = -70 /* the host has no function of that number */
};

/* Where gpurt_error_t.code comes from. */
enum {
    GPURT_FROM_GPURT = 0,
    GPURT_FROM_ERRNO = 1,
    GPURT_FROM_CUDA = 2
};

enum {
    GPURT_ERROR_TEXT = 368
};

/* Owner: the caller, who may pass NULL everywhere instead. Written once, by the failing call. */
typedef struct gpurt_error {
    gpurt_status_t status;
    uint32_t origin;             /* GPURT_FROM_* */
    int64_t code;                /* errno or cudaError_t, 0 when origin is gpurt */
    char text[GPURT_ERROR_TEXT]; /* one line: what happened; what to do */
} gpurt_error_t;

GPURT_BEGIN_DECLS

/* "GPURT_E_GRID"; a number that is no status gives "GPURT_E_UNKNOWN". */
const char *gpurt_status_name(gpurt_status_t status);

/* One short sentence for people. */
const char *gpurt_status_text(gpurt_status_t status);

/* Fills *err when err is not NULL and returns status, so that a failing path is one line.
 * The text of an errno is added by itself, before "; ".
 * Context: host, any thread. */
gpurt_status_t gpurt_fail(gpurt_error_t *err, gpurt_status_t status, uint32_t origin,
                          int64_t code, const char *fmt, ...) GPURT_PRINTF(5, 6);

GPURT_END_DECLS

/* The analyser of clang-tidy sees one file at a time: it is told what comes back. */
#ifdef __clang_analyzer__
#    define gpurt_fail(err, status, ...) (gpurt_fail(err, status, __VA_ARGS__), status)
#endif

#endif
