/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "hostwaits.h"

#include "hosttime.h"
#include "names.h"
#include "outlet.h"

#include <gpurt/atomic.h>
#include <gpurt/impl/activity.h>
#include <pthread.h>
#include <stdio.h>

enum {
    LEAST_NS = 1000,
    EARLY = 512 /* that are kept until there is a box */
};

typedef struct hostwait {
    launchhook_what_t what;
    uint32_t device;
    uint64_t since_ns, ns;
} hostwait_t;

/* One process. */
static struct {
    uint32_t xon;         /* 1: waits have records; written by: one thread */
    bool asked;           /* fixed before the first launch */
    pthread_mutex_t lock; /* guards what is below; never held while anything else is */
    uint64_t box;         /* whose numbers they are */
    names_t names;
    hostwait_t early[EARLY];
    uint32_t early_count, missed; /* missed: had no room there */
} hostwaits = {.lock = PTHREAD_MUTEX_INITIALIZER};

void hostwaits_start(void)
{
    hostwaits.asked = true;
    hostwaits_turn(true);
}

void hostwaits_turn(bool on)
{
    gpurt_store_relaxed_dev_u32(&hostwaits.xon,
                                on && hostwaits.asked); /* relaxed: a wish */
}

uint64_t hostwaits_now(void)
{
    /* relaxed: as above */
    return gpurt_load_relaxed_dev_u32(&hostwaits.xon) ? gpurt_real_ns() : 0;
}

/* ---- under the lock ------------------------------------------------------------------ */

static void put(const gpurt_hostring_t *ring, const hostwait_t *w)
{
    static const char *const names[] = {[LAUNCHHOOK_STREAM] = "a stream",
                                        [LAUNCHHOOK_CONTEXT] = "the context",
                                        [LAUNCHHOOK_EVENT] = "an event"};
    gpurt_activity_wait_t out = {.ns = gpurt_pair(w->ns)};
    char where[32];

    snprintf(where, sizeof where, "device %u", w->device);
    out.name = names_number(&hostwaits.names, ring, names[w->what], false);
    out.where = names_number(&hostwaits.names, ring, where, false);
    if (!gpurt_hostring_put(ring, GPURT_KIND_WAIT, w->device, w->since_ns, &out))
        gpurt_hostring_lose(ring, 1, GPURT_LOSS_FULL, w->since_ns);
}

static void put_early(const gpurt_hostring_t *ring)
{
    for (uint32_t i = 0; i < hostwaits.early_count; i++)
        put(ring, &hostwaits.early[i]);
    if (hostwaits.missed)
        gpurt_hostring_lose(ring, hostwaits.missed, GPURT_LOSS_FULL, gpurt_real_ns());
    hostwaits.early_count = hostwaits.missed = 0;
}

static void keep_early(const hostwait_t *w)
{
    if (hostwaits.early_count < EARLY)
        hostwaits.early[hostwaits.early_count++] = *w;
    else
        hostwaits.missed++;
}

/* ---- what ends ----------------------------------------------------------------------- */

/* w NULL: none, but those that were kept. */
static void tell(const hostwait_t *w)
{
    uint64_t box;
    const gpurt_hostring_t *ring = outlet_borrow(&box);

    pthread_mutex_lock(&hostwaits.lock);
    if (ring && hostwaits.box != box) {
        names_clear(&hostwaits.names);
        hostwaits.box = box;
    }
    if (ring)
        put_early(ring);
    if (w && ring)
        put(ring, w);
    else if (w)
        keep_early(w);
    pthread_mutex_unlock(&hostwaits.lock);
    if (ring)
        outlet_return();
}

void hostwaits_ended(launchhook_what_t what, uint32_t device, uint64_t since_ns)
{
    const uint64_t now = gpurt_real_ns();
    const hostwait_t w = {what, device, since_ns, now - since_ns};

    if (now >= since_ns + LEAST_NS) /* else it was none, or the clock was set back */
        tell(&w);
}

void hostwaits_stop(void)
{
    if (!hostwaits.asked || !outlet_enter(true)) /* there is a box behind it */
        return;
    outlet_exit();
    tell(NULL);
}
