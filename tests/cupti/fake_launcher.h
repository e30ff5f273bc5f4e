/* SPDX-License-Identifier: Apache-2.0 */
/* fake_launcher.h - what handles of the stand-in for the driver point to. */
#ifndef FAKE_LAUNCHER_H
#define FAKE_LAUNCHER_H

#include <cuda.h>

typedef struct fake_function {
    const char *name;
    int is_kernel; /* of a library: cuFuncGetName does not know it */
    int ms;        /* that a launch takes, as its code is loaded */
} fake_function_t;

typedef struct fake_stream {
    int busy, captures, gone; /* gone: a question about it ends the program */
    int holds, waits;         /* holds: a wait for it lasts so long; waits: it has begun */
    CUresult answer;          /* to a question, unless it is CUDA_SUCCESS */
} fake_stream_t;

/* About streams, so far. */
typedef struct fake_questions {
    int all, spoilt; /* spoilt: while a stream was captured */
} fake_questions_t;
fake_questions_t fake_launcher_questions(void);

/* Questions for a function's name, so far. */
int fake_launcher_names(void);

/* What streams have, beside calls of other threads. */
int fake_launcher_look(const int *what);
void fake_launcher_set(int *what, int value);

/* As the driver starts: loads what CUDA_INJECTION64_PATH names. Returns: whether there is one. */
int fake_launcher_start(void);

#endif
