/* SPDX-License-Identifier: Apache-2.0 */
/* top_bench.h - what a picture costs: replays a log on a terminal that is /dev/null. */
#ifndef GPURT_TUI_TOP_BENCH_H
#define GPURT_TUI_TOP_BENCH_H

/* Prints one row a size. Returns: 0, or 125. */
int top_bench(unsigned long frames, const char *log);

#endif
