/* SPDX-License-Identifier: Apache-2.0 */
/* hostring.h - the host section's ring from the side of those who write it: any thread of
 * the application, several at once.
 *
 * A position is reserved by one compare-exchange (gpurt_ring_take_shared), so threads
 * share one ring without a lock, and what they wrote survives them. The ring never
 * overwrites. When it is full, put says so and counts nothing: whoever can wait tries
 * again, whoever cannot says gpurt_hostring_lose. */
#ifndef GPURT_HOSTRING_H
#define GPURT_HOSTRING_H

#include <gpurt/impl/activity.h>

#include "boxmap.h"

enum {
    GPURT_HOSTRING_TEXT = 512,   /* bytes of a warning */
    GPURT_HOSTBATCH_GROUPS = 96, /* 16 kernels, or the longest warning */
    GPURT_HOSTRING_WORDS = GPURT_HOSTBATCH_GROUPS * GPURT_GROUP_WORDS -
                           GPURT_RECORD_HEAD_WORDS - GPURT_GROUP_WORDS
};

/* Owner: the caller. Shared with: all threads that write; fixed after init. */
typedef struct gpurt_hostring {
    gpurt_ring_port_t port;
    gpurt_def_t *defs;
    uint32_t *xdefs; /* in the box: slots taken */
    uint32_t def_count;
    uint32_t batch_groups;                /* at most, of several records */
    uint32_t whats[GPURT_ACTIVITY_SITES]; /* first words of their records */
} gpurt_hostring_t;

/* Records on their way to the ring: one place is taken for all of them. Owner: one thread;
 * empty when `count` and `groups` are 0. */
typedef struct gpurt_hostbatch {
    uint32_t count, groups;
    uint8_t sizes[GPURT_HOSTBATCH_GROUPS / 2];                      /* groups of each */
    uint32_t words[GPURT_GROUP_WORDS * GPURT_HOSTBATCH_GROUPS + 1]; /* and a spare one */
} gpurt_hostbatch_t;

/* As GPURT_HOST_RING_BYTES says; 0: the default. What is too large is cut to what a ring can
 * hold. */
uint32_t gpurt_hostring_bytes(void);

/* The plan of a host section, for whoever makes a box; GPURT_HOST_RING_BYTES says how large
 * its ring is. */
void gpurt_hostring_plan(gpurt_section_plan_t *plan);

/* Writers' clock is real time. Context: before the box is handed over. */
void gpurt_hostring_clock(const gpurt_boxmap_t *map, uint32_t section);

/* Defines the sites. GPURT_E_INVALID: the section is not one of host code, or has no room.
 * The map must outlive the ring. */
gpurt_status_t gpurt_hostring_init(gpurt_hostring_t *h, const gpurt_boxmap_t *map,
                                   uint32_t section, gpurt_error_t *err);

/* The first host section of a box; GPURT_BOX_SECTIONS: it has none. */
uint32_t gpurt_hostring_find(const gpurt_boxmap_t *map);

/* One record of a kind of activity.h, `payload` being its struct; of GPURT_KIND_TEXT, a warning
 * in words, the text, which is cut where it is too long. Returns: false when the
 * ring is full; nothing is counted then. Context: any thread, also a signal handler. */
bool gpurt_hostring_put(const gpurt_hostring_t *h, uint32_t kind, uint32_t device,
                        uint64_t time_ns, const void *payload);

/* The same in two steps, for whoever has many. gather returns false when the batch is full, or
 * there is no such kind; write, when the ring is, and then all of the batch stays. time_ns:
 * of the last of them. Until it is written, none of it is there. */
bool gpurt_hostring_gather(const gpurt_hostring_t *h, gpurt_hostbatch_t *b, uint32_t kind,
                           uint32_t device, uint64_t time_ns, const void *payload);
/* Room for the struct instead, which the caller fills before anything else; NULL as above. */
void *gpurt_hostring_room(const gpurt_hostring_t *h, gpurt_hostbatch_t *b, uint32_t kind,
                          uint32_t device, uint64_t time_ns);
bool gpurt_hostring_write(const gpurt_hostring_t *h, gpurt_hostbatch_t *b,
                          uint64_t time_ns);

/* A site more, of records whose words are not a struct of activity.h. Returns: the first word of
 * those records; 0: no room. */
uint32_t gpurt_hostring_define(const gpurt_hostring_t *h,
                               const gpurt_activity_site_t *site);
/* One record of such a site, of at most GPURT_HOSTRING_WORDS words. Returns: as put. */
bool gpurt_hostring_put_words(const gpurt_hostring_t *h, uint32_t what, uint32_t device,
                              uint64_t time_ns, const uint32_t *words, uint32_t count);

/* Counts records that are gone. */
void gpurt_hostring_lose(const gpurt_hostring_t *h, uint32_t count, uint32_t reason,
                         uint64_t time_ns);

/* Defines a string anew each time: callers keep its number. Returns: 0, no room. */
uint32_t gpurt_hostring_string(const gpurt_hostring_t *h, const char *text, size_t bytes);

#endif
