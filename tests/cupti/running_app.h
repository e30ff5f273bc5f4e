/* SPDX-License-Identifier: Apache-2.0 */
/* running_app.h - launches that end in each way that there is, and such as do not. */
#ifndef GPURT_TESTS_RUNNING_APP_H
#define GPURT_TESTS_RUNNING_APP_H

/* Those that end, then some that stay for so long. */
void running_ends(long ms);
/* One that stays for so long, then ends. */
void running_late(long ms);
/* One that ends with the program. */
void running_last(long ms);
/* So many at once. */
void running_many(long count);
/* One behind another for so long, of two names, slower while they have records. Says how many. */
void running_windows(long ms);
/* Graphs of two nodes by turns with a kernel, for so long. Says how many graphs. */
void running_mixed(long ms);
void running_graphs(long ms);
/* And with code that is sampled. */
void running_busy(long count);
/* A kernel of which there are samples, and one behind it. */
void running_hang(long ms);

#endif
