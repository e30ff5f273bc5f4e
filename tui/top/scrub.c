/* SPDX-License-Identifier: Apache-2.0 */
#include "scrub.h"

#include <stdlib.h>
#include <string.h>

/* Everything before the history, then the rows in use. */
enum {
    HEAD_BYTES = offsetof(gpurt_model_numbers_t, seconds)
};

struct scrub_moment {
    uint64_t time_ns;
    uint32_t site_count, sm_count;
    uint64_t rows[]; /* head, sites with `other` first, multiprocessors */
};

static uint32_t sms_used(const gpurt_model_numbers_t *n)
{
    uint32_t used = 0;

    for (int i = 0; i < GPURT_MODEL_SECTIONS; i++) {
        uint32_t end = n->sections[i].sm_first + n->sections[i].sm_shown;

        used = end > used && end <= GPURT_MODEL_SMS ? end : used;
    }
    return used;
}

void scrub_keep(scrub_t *s, const gpurt_model_numbers_t *n)
{
    uint32_t sites = n->site_count < GPURT_MODEL_SITES ? n->site_count : GPURT_MODEL_SITES;
    uint32_t sms = sms_used(n);
    size_t site_bytes = sites * sizeof n->sites[0], sm_bytes = sms * sizeof n->sms[0];
    scrub_moment_t **place = &s->moments[s->count % SCRUB_MOMENTS], *m;
    char *to;

    if (n->time_ns / 1000000000u == s->second || n->time_ns == 0)
        return;
    m = malloc(sizeof *m + HEAD_BYTES + sizeof n->sites[0] + site_bytes + sm_bytes);
    if (!m)
        return;
    s->second = n->time_ns / 1000000000u;
    m->time_ns = n->time_ns;
    m->site_count = sites;
    m->sm_count = sms;
    to = (char *)m->rows;
    memcpy(to, n, HEAD_BYTES);
    to += HEAD_BYTES;
    memcpy(to, &n->sites[GPURT_MODEL_SITES], sizeof n->sites[0]);
    to += sizeof n->sites[0];
    memcpy(to, n->sites, site_bytes);
    memcpy(to + site_bytes, n->sms, sm_bytes);
    free(*place);
    *place = m;
    s->count++;
}

bool scrub_show(const scrub_t *s, uint64_t time_ns, gpurt_model_numbers_t *n)
{
    uint64_t first = s->count > SCRUB_MOMENTS ? s->count - SCRUB_MOMENTS : 0;

    for (uint64_t i = s->count; i > first; i--) {
        const scrub_moment_t *m = s->moments[(i - 1) % SCRUB_MOMENTS];
        const char *from = (const char *)m->rows;

        if (m->time_ns > time_ns)
            continue;
        memcpy(n, from, HEAD_BYTES);
        from += HEAD_BYTES;
        memcpy(&n->sites[GPURT_MODEL_SITES], from, sizeof n->sites[0]);
        from += sizeof n->sites[0];
        memset(n->sites, 0, GPURT_MODEL_SITES * sizeof n->sites[0]);
        memcpy(n->sites, from, m->site_count * sizeof n->sites[0]);
        memset(n->sms, 0, sizeof n->sms);
        memcpy(n->sms, from + m->site_count * sizeof n->sites[0],
               m->sm_count * sizeof n->sms[0]);
        return true;
    }
    return false;
}

uint64_t scrub_first_ns(const scrub_t *s)
{
    uint64_t first = s->count > SCRUB_MOMENTS ? s->count - SCRUB_MOMENTS : 0;

    return s->count ? s->moments[first % SCRUB_MOMENTS]->time_ns : 0;
}

void scrub_fini(scrub_t *s)
{
    for (int i = 0; i < SCRUB_MOMENTS; i++)
        free(s->moments[i]);
    memset(s, 0, sizeof *s);
}
