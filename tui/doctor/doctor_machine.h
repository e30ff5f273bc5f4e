/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_machine.h - the machine that gpurt-doctor looks at: files, environment, programs,
 * and what a child process learnt from the driver.
 *
 * With a root, everything is looked up below it, so that a folder can stand in for a
 * machine: ROOT/proc/version, ROOT/lib/libcuda.so.1. What is no file comes from lines
 * "NAME VALUE" of ROOT/facts: shm_bytes, shm_free, memfd_errno, cpus.
 * Whatever may hang runs in a child with a deadline. */
#ifndef GPURT_TUI_DOCTOR_MACHINE_H
#define GPURT_TUI_DOCTOR_MACHINE_H

#include "child.h"

#include <limits.h>
#include <stdio.h>

/* Said to ourselves, with the root behind it: become the child that asks the driver. */
#define DOCTOR_PROBE_WORD "probe-driver"

enum {
    DOCTOR_GPUS = 16,
    DOCTOR_NAME = 96
};

typedef struct doctor_gpu {
    int major, minor;    /* compute capability */
    int mode;            /* as CUcomputemode: 0 default, 2 prohibited, 3 exclusive */
    int sms, sm_threads; /* multiprocessors, and threads one of them holds */
    char name[DOCTOR_NAME];
} doctor_gpu_t;

/* What the child said. All zero where nothing could be asked. */
typedef struct doctor_driver {
    bool asked, late, crashed; /* late: it hangs in `step` */
    bool loaded;               /* libcuda is there */
    int init;                  /* CUresult of cuInit */
    int cuda_version;          /* 13000 for 13.0 */
    int gpu_count;             /* as the driver counts; `gpus` holds the first ones */
    int cupti;                 /* version of its API, 0 none */
    char step[DOCTOR_NAME];
    char why[DOCTOR_NAME * 2]; /* why libcuda could not be loaded */
    char version[DOCTOR_NAME]; /* "580.65.06"; "" unknown */
    char cupti_path[PATH_MAX];
    doctor_gpu_t gpus[DOCTOR_GPUS];
} doctor_driver_t;

/* Owner: the caller. */
typedef struct doctor_machine {
    const char *root;    /* "": the real one */
    const char *self;    /* our own program file: asks the driver in a child */
    uint64_t timeout_ns; /* for one child */
    uint64_t box_bytes;  /* what a box takes; 0: as its defaults are */
    child_watch_t *watch;
    doctor_driver_t driver;
} doctor_machine_t;

/* ROOT and path in one. */
void doctor_path(const doctor_machine_t *m, const char *path, char out[PATH_MAX]);
bool doctor_exists(const doctor_machine_t *m, const char *path);

/* The beginning of a text file, terminated. Returns: false where there is none. */
bool doctor_read(const doctor_machine_t *m, const char *path, char *text, size_t room);

/* The number behind `key` at the start of a line of a file. */
bool doctor_number(const doctor_machine_t *m, const char *path, const char *key,
                   uint64_t *out);

/* A line of ROOT/facts; false without a root. */
bool doctor_fact(const doctor_machine_t *m, const char *name, uint64_t *out);

/* NULL when unset or empty. */
const char *doctor_env(const char *name);

/* Looks a program up in PATH. */
bool doctor_which(const char *name, char out[PATH_MAX]);

/* Runs `path --version` and keeps the beginning of what it printed.
 * Returns: false when it could not run, failed or was late. */
bool doctor_ask_version(const doctor_machine_t *m, const char *path, char *text,
                        size_t room);

/* Fills m->driver by a child. */
void doctor_ask_driver(doctor_machine_t *m);

/* Bytes of a box for this machine's devices. */
uint64_t doctor_box_bytes(const doctor_machine_t *m);

/* The child: prints what doctor_ask_driver reads. doctor_probe.c. */
int doctor_probe(const char *root);

#endif
