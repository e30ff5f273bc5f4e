/* SPDX-License-Identifier: Apache-2.0 */
#include "pulse.h"

#include "procfs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The whole file: nobody else has locks on it. */
bool gplog_pulse_hold(int fd)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(fd, F_OFD_SETLK, &all) == 0;
}

/* ---- what is noted ------------------------------------------------------------------- */

static bool is_noted(const gplog_pulse_t *p, const gpurt_box_identity_t *id)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (p->list[i].pid == id->pid && p->list[i].start_ticks == id->start_ticks)
            return true;
    return false;
}

static bool has_room(gplog_pulse_t *p)
{
    uint32_t room = p->room ? 2 * p->room : 8;
    void *more;

    if (p->count < p->room)
        return true;
    more = realloc(p->list, room * sizeof *p->list);
    if (!more)
        return false;
    p->list = more;
    p->room = room;
    return true;
}

void gplog_pulse_note(gplog_pulse_t *p, const gplog_file_t *about, bool held)
{
    const gpurt_box_identity_t *id = &about->identity;

    p->held = held;
    if (id->pid == 0)
        return; /* a recorder that has seen no program yet */
    if (memcmp(p->last.boot_id, id->boot_id, sizeof id->boot_id) != 0)
        p->count = 0; /* programs of another boot */
    p->last = *id;
    if (is_noted(p, id))
        return;
    if (has_room(p))
        p->list[p->count++] = (gplog_process_t){id->pid, id->start_ticks};
    else
        p->full = true;
}

void gplog_pulse_fini(gplog_pulse_t *p)
{
    free(p->list);
    *p = (gplog_pulse_t){0};
}

/* ---- what follows -------------------------------------------------------------------- */

typedef enum place {
    PLACE_OTHER, /* or not known */
    PLACE_HERE,
    PLACE_HERE_BEFORE /* this machine, which was started anew since */
} place_t;

static place_t place_of(const gpurt_box_identity_t *id)
{
    static const uint8_t none[sizeof id->boot_id];
    char host[GPURT_BOX_NAME] = "";
    uint8_t boot[sizeof id->boot_id];

    gpurt_boot_id(boot);
    if (memcmp(boot, none, sizeof none) == 0 || memcmp(id->boot_id, none, sizeof none) == 0)
        return PLACE_OTHER;
    if (memcmp(boot, id->boot_id, sizeof boot) == 0)
        return PLACE_HERE;
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        return PLACE_OTHER;
    return strncmp(host, id->host, sizeof host) == 0 ? PLACE_HERE_BEFORE : PLACE_OTHER;
}

gplog_pulse_state_t gplog_pulse_feel(const gplog_pulse_t *p, int fd, uint32_t *pid)
{
    struct flock all = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    place_t place;

    *pid = 0;
    if (!p->held || fcntl(fd, F_OFD_GETLK, &all) != 0)
        return GPLOG_PULSE_UNKNOWN;
    if (all.l_type != F_UNLCK)
        return GPLOG_PULSE_WRITTEN;
    place = place_of(&p->last);
    if (place != PLACE_HERE || p->full)
        return place == PLACE_HERE_BEFORE ? GPLOG_PULSE_DEAD : GPLOG_PULSE_UNKNOWN;
    for (uint32_t i = 0; i < p->count; i++)
        if (gpurt_process_alive(p->list[i].pid, p->list[i].start_ticks)) {
            *pid = p->list[i].pid;
            return GPLOG_PULSE_LEFT;
        }
    return GPLOG_PULSE_DEAD;
}
