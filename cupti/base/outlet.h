/* SPDX-License-Identifier: Apache-2.0 */
/* outlet.h - where the collector's records go: the host ring of the process's box.
 *
 * The box is made when there is something to say, not before: a program that never uses
 * its GPU leaves none behind. If the program has opened gpurt by then, its box is used;
 * otherwise one is made and given to the drainer that GPURT_DRAIN names, or to a
 * gpurt-drain of our own for GPURT_LOG, as gpurt_open does. Any thread of the collector
 * uses the outlet. */
#ifndef GPURT_CUPTI_OUTLET_H
#define GPURT_CUPTI_OUTLET_H

#include "hostring.h"

/* Whether anybody asked for records. Context: once, as the driver is initialised. */
bool outlet_wanted(void);

/* Somebody asks for the box, whatever the environment says. Context: before any of the
 * below. */
void outlet_ask(const char *drainer);

/* Between enter and exit nobody else writes, and names stay valid. last: the program ends, a
 * box that it was about to make is not waited for any more. Returns: false when there is no
 * box to be had; exit is then not called. */
bool outlet_enter(bool last);
void outlet_exit(void);

/* One record: in the ring with some others, at the latest at exit. They wait for room up to
 * two seconds while a drainer takes records away; then they are counted as lost, and so are
 * those behind them, without a wait, until there is room again. */
void outlet_put(uint32_t kind, uint32_t device, uint64_t time_ns, const void *payload);
/* The same for who fills the struct in its place, before the next call. A kind of activity.h. */
void *outlet_room(uint32_t kind, uint32_t device, uint64_t time_ns);
void outlet_warn(uint64_t time_ns, const char *text);
void outlet_lose(uint64_t count, uint32_t reason, uint64_t time_ns);

/* The ring for a thread of the program, which waits for nothing: while it is borrowed the box
 * stays. *box tells boxes apart: strings are numbered in one of them. Returns: NULL, there is
 * none; then there is nothing to return. */
const gpurt_hostring_t *outlet_borrow(uint64_t *box);
void outlet_return(void);

/* Tells the box that is open from those before. Context: any thread. */
uint64_t outlet_box(void);
/* The box and who reads it, from one to the next: what is told once is told once to each. 0:
 * there is none. Context: any thread. */
uint64_t outlet_place(void);
/* False also where the program has closed it, and nobody has entered since. Context: any
 * thread; the next moment may be another matter. */
bool outlet_is_open(void);

/* Whether it was told that there is no log. Context: any thread. */
bool outlet_is_refused(void);

/* Whether somebody waits for the box, so that making one costs no drainer and no file. */
bool outlet_is_recorded(void);

/* The number of a text; the same text has the same one. Kernel names are shown as people
 * write them. */
uint32_t outlet_name(const char *text, bool is_kernel);

/* Whether a text of the box that is open had no room. Context: between enter and exit. */
bool outlet_names_are_full(void);
#define OUTLET_NAMES_FULL "no room for more names: what is new has none"

/* Closes the box that we made and waits, at most 5 s, for a gpurt-drain of our own. */
void outlet_close(void);

/* In a child after fork: nothing is written any more. Context: that child. */
void outlet_leave(void);

#endif
