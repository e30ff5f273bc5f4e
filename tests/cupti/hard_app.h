/* SPDX-License-Identifier: Apache-2.0 */
/* hard_app.h - what a program does that is hard for who watches it: threads, processes that it
 * starts or becomes, launches as they are made, others who want the same, silence, and its end. */
#ifndef GPURT_TESTS_HARD_APP_H
#define GPURT_TESTS_HARD_APP_H

void hard_threads(void);
void hard_many(void);
void hard_stopped(long count);

void hard_fork(void);
void hard_fork_on(void);
void hard_fork_exec(char **argv, int waits);
void hard_fork_first(void);

/* count 0: by many threads. Does not return. */
void hard_launches(long count);
void hard_launch_many(long count);

void hard_stolen(void);
void hard_stolen_back(void);
void hard_stolen_out(void);
void hard_taken_before(void);
void hard_taken(void);
void hard_chained(long count);
void hard_idle(void);

void hard_end(const char *mode, char **argv);

#endif
