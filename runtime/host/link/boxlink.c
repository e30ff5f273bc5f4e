/* SPDX-License-Identifier: Apache-2.0 */
#include "boxlink.h"

#include "barebox.h"
#include "drainspawn.h"
#include "environ.h"
#include "handover.h"
#include "hostlink.h"
#include "hostring.h"
#include "launchsite.h"
#include "levelset.h"
#include "number.h"
#include "refuse.h"
#include "sitegate.h"
#include "tell.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DEVICE_SECTION,
    HOST_SECTION,
    SECTIONS
};
enum {
    NAME_SHOWN = 200 /* a longer name of a log stands in no line */
};

/* The box of each open device. Written under the lock of gpurt_open and gpurt_close. */
typedef struct link {
    gpurt_boxmap_t map;
    int drainer;                   /* pipe to a drainer of our own, or -1 */
    bool open;                     /* to a drainer */
    bool bare;                     /* kept for panics alone */
    char more[GPURT_BOXPART_MORE]; /* how a reader sees more of a panic */
    gpurt_boxview_t view;
} link_t;

static link_t links[GPURT_MAX_DEVICES];
static bool parent_logs; /* a process that this one was forked from has a log. Likewise */
static const gpurt_boxpart_t *parts; /* what goes along with a box. Likewise */
static size_t part_count;
static link_t *spokesman; /* whose box has what host code says; or NULL. Likewise */

/* ---- what goes along ------------------------------------------------------------------ */

/* Returns: of the first that fails; what came before it is connected. */
static gpurt_status_t parts_connect(const gpurt_opened_t *opened, link_t *link, bool panics,
                                    gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    for (size_t i = 0; i < part_count && st == GPURT_OK; i++)
        if (parts[i].panics == panics && parts[i].connect)
            st = parts[i].connect(opened, &link->view, err);
    return st;
}

/* The last one first. */
static void parts_disconnect(const gpurt_opened_t *opened, bool panics)
{
    for (size_t i = part_count; i-- > 0;)
        if (parts[i].panics == panics && parts[i].disconnect)
            parts[i].disconnect(opened);
}

/* ---- what is asked for ---------------------------------------------------------------- */

/* The environment's word, or the caller's. */
static const char *choose(const char *name, const char *option)
{
    const char *value = gpurt_env_get(name);

    return value ? value : option && *option ? option : NULL;
}

/* Which of the words it is, in any case; count when it is none. */
static uint32_t word_find(const char *value, const char *const *words, uint32_t count)
{
    uint32_t i = 0;

    while (i < count && strcasecmp(value, words[i]) != 0)
        i++;
    return i;
}

/* name: of who said it. */
static gpurt_status_t levels_read(const char *name, const char *value,
                                  gpurt_levelset_t *levels, gpurt_error_t *err)
{
    gpurt_error_t why = {0};
    gpurt_status_t st = gpurt_levelset_parse(value, levels, &why);

    return st == GPURT_OK ? st : REFUSE(err, st, "%s: %.300s", name, why.text);
}

static gpurt_status_t policy_read(const char *value, uint32_t *policy, gpurt_error_t *err)
{
    static const char *const words[] = {"drop", "overwrite", "block"};
    enum {
        COUNT = sizeof words / sizeof words[0]
    };

    *policy = GPURT_POLICY_DROP_NEWEST;
    if (!value)
        return GPURT_OK;
    *policy = GPURT_POLICY_DROP_NEWEST + word_find(value, words, COUNT);
    if (*policy < GPURT_POLICY_DROP_NEWEST + COUNT)
        return GPURT_OK;
    return REFUSE(err, GPURT_E_INVALID, "GPURT_POLICY=%.32s: say drop, overwrite or block",
                  value);
}

static gpurt_status_t ring_bytes_read(uint32_t option, uint32_t *bytes, gpurt_error_t *err)
{
    const char *value = gpurt_env_get("GPURT_RING_BYTES");
    uint64_t number;

    *bytes = option;
    if (!value)
        return GPURT_OK;
    if (!gpurt_number_read(value, &number) || number == 0 || number > UINT32_MAX)
        return REFUSE(err, GPURT_E_INVALID,
                      "GPURT_RING_BYTES=%.32s: say a number of bytes from 1 to %u", value,
                      UINT32_MAX);
    *bytes = (uint32_t)number;
    return GPURT_OK;
}

/* What was asked of the box: sizes and policies. */
static gpurt_status_t sections_plan(const gpurt_info_t *info,
                                    const gpurt_log_options_t *options,
                                    gpurt_section_plan_t sections[SECTIONS],
                                    gpurt_error_t *err)
{
    gpurt_section_plan_t *device = &sections[DEVICE_SECTION],
                         *host = &sections[HOST_SECTION];
    gpurt_status_t st;

    memset(sections, 0, SECTIONS * sizeof *sections);
    device->kind =
        info->backend == GPURT_BACKEND_CUDA ? GPURT_SECTION_CUDA : GPURT_SECTION_CPU;
    device->device = (uint32_t)info->device;
    device->sm_count = info->sm_count;
    device->warp_slots = info->warp_slots;
    device->name = info->name;
    host->kind = GPURT_SECTION_HOST;
    host->panic_count = 1; /* none: host code has its own ways */
    host->ring_bytes = gpurt_hostring_bytes();
    host->name = "host";
    st = ring_bytes_read(options->ring_bytes, &device->ring_bytes, err);
    if (st == GPURT_OK)
        st = policy_read(choose("GPURT_POLICY", options->policy), &device->policy, err);
    /* Threads share a ring, which has no marks to overwrite by. */
    if (device->policy == GPURT_POLICY_BLOCK)
        host->policy = GPURT_POLICY_BLOCK;
    return st;
}

static gpurt_status_t box_make(const gpurt_opened_t *opened, gpurt_boxmap_t *map,
                               const gpurt_log_options_t *options, gpurt_error_t *err)
{
    gpurt_section_plan_t sections[SECTIONS];
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = SECTIONS, .sections = sections};
    const char *level = choose("GPURT_LEVEL", options->level);
    const char *lowest = gpurt_env_get("GPURT_LEVEL_FLOOR");
    gpurt_levelset_t levels, floor = {0};
    gpurt_status_t st =
        levels_read(gpurt_env_get("GPURT_LEVEL") ? "GPURT_LEVEL" : "log.level",
                    level ? level : "info", &levels, err);

    if (st == GPURT_OK && lowest)
        st = levels_read("GPURT_LEVEL_FLOOR", lowest, &floor, err);
    if (st == GPURT_OK)
        st = sections_plan(&opened->info, options, sections, err);
    sections[DEVICE_SECTION].floor = floor.level;
    if (st == GPURT_OK)
        st = gpurt_boxmap_create(&plan, map, err);
    if (st == GPURT_OK)
        gpurt_levelset_write(map, &levels);
    return st;
}

/* What host code says goes into one box: that of the first device, as long as it is open. */
static void spokesman_choose(void)
{
    for (uint32_t i = 0; i < GPURT_MAX_DEVICES && !spokesman; i++)
        if (links[i].open)
            spokesman = &links[i];
    if (!spokesman)
        return;
    gpurt_hostlink_connect(&spokesman->map, HOST_SECTION);
    gpurt_launchsite_connect();
}

static void spokesman_leave(void)
{
    gpurt_launchsite_disconnect();
    gpurt_hostlink_disconnect();
    spokesman = NULL;
}

static gpurt_status_t link_make(const gpurt_opened_t *opened, link_t *link,
                                const gpurt_log_options_t *options, gpurt_error_t *err)
{
    gpurt_status_t st = box_make(opened, &link->map, options, err);

    if (st != GPURT_OK)
        return st;
    st = opened->ops->box_connect(opened->self, &link->map, DEVICE_SECTION, err);
    if (st == GPURT_OK) {
        st = parts_connect(opened, link, false, err);
        if (st != GPURT_OK)
            opened->ops->box_disconnect(opened->self, &link->map, DEVICE_SECTION);
    }
    if (st != GPURT_OK) {
        gpurt_boxmap_detach(&link->map);
        return st;
    }
    link->open = true;
    if (!spokesman)
        spokesman_choose();
    return GPURT_OK;
}

/* The log of the first device is the file that was named. Returns: whether there is room for
 * the name. */
static bool file_name(const gpurt_opened_t *opened, const char *file, char name[PATH_MAX])
{
    int length;

    if (spokesman != &links[opened->index])
        return gpurt_drainspawn_numbered(file, opened->info.device, name);
    length = snprintf(name, PATH_MAX, "%s", file);
    return length > 0 && length < PATH_MAX;
}

/* A file has one drainer: where the parent's still writes it, that of a forked child writes one
 * beside it, with the child's number. */
static gpurt_status_t drainer_start(const gpurt_opened_t *opened, link_t *link,
                                    const char *file, gpurt_error_t *err)
{
    char name[PATH_MAX], own[PATH_MAX];
    gpurt_status_t st;

    if (!file_name(opened, file, name))
        return REFUSE(err, GPURT_E_INVALID, "GPURT_LOG: the name is too long");
    st = gpurt_drainspawn_start(name, link->map.fd, &link->drainer, err);
    if (st != GPURT_OK && parent_logs &&
        gpurt_drainspawn_numbered(name, (long)getpid(), own) &&
        gpurt_drainspawn_start(own, link->map.fd, &link->drainer, NULL) == GPURT_OK) {
        memcpy(name, own, sizeof name);
        st = GPURT_OK;
    }
    if (gpurt_drainspawn_prints(name))
        snprintf(link->more, sizeof link->more,
                 "GPURT_LOG=run.gplog, then gpurt-panic show run.gplog");
    else if (strlen(name) <= NAME_SHOWN)
        snprintf(link->more, sizeof link->more, "gpurt-panic show %.*s", NAME_SHOWN, name);
    return st;
}

static void GPURT_PRINTF(2, 3) why_add(gpurt_info_t *info, const char *format, ...)
{
    size_t used = strlen(info->why);
    va_list arguments;

    used += (size_t)snprintf(info->why + used, sizeof info->why - used, "; ");
    va_start(arguments, format);
    if (used < sizeof info->why)
        vsnprintf(info->why + used, sizeof info->why - used, format, arguments);
    va_end(arguments);
}

static void wish_judge(gpurt_status_t status, const gpurt_error_t *err)
{
    if (status != GPURT_OK)
        gpurt_tell("%s", err->text);
}

/* Nobody records: what the environment asks of a log is judged all the same, so that a slip is
 * told when it is made and not when somebody misses a message. */
static void wishes_judge(void)
{
    static const char *const levels[] = {"GPURT_LEVEL", "GPURT_LEVEL_FLOOR"};
    gpurt_error_t err = {0};
    gpurt_levelset_t set;
    uint32_t number;

    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (gpurt_env_get(levels[i]))
            wish_judge(levels_read(levels[i], gpurt_env_get(levels[i]), &set, &err), &err);
    wish_judge(policy_read(gpurt_env_get("GPURT_POLICY"), &number, &err), &err);
    wish_judge(ring_bytes_read(0, &number, &err), &err);
}

/* The log that was asked for; where there can be none, that is said. */
static void log_open(gpurt_opened_t *opened, link_t *link,
                     const gpurt_log_options_t *options)
{
    gpurt_info_t *info = &opened->info;
    const char *drainer = gpurt_env_get("GPURT_DRAIN");
    const char *file = choose("GPURT_LOG", options->file), *why;
    gpurt_error_t err = {0};
    gpurt_status_t st;
    bool made;

    if (!drainer && !file) {
        wishes_judge();
        return;
    }
    link->drainer = -1;
    snprintf(link->more, sizeof link->more,
             "gpurt-panic show LOG, LOG being the file that is recorded");
    st = link_make(opened, link, options, &err);
    made = st == GPURT_OK;
    if (st == GPURT_OK && drainer)
        st = gpurt_handover_give(&link->map, &err);
    else if (st == GPURT_OK)
        st = drainer_start(opened, link, file, &err);
    if (st == GPURT_OK) {
        opened->box = link->map.box;
        return;
    }
    gpurt_boxlink_close(opened);
    why = err.text[0] ? err.text : gpurt_status_text(st);
    why_add(info, "no log: %s", why);
    /* Without a free descriptor it was not reached; those of the box are free by now. */
    if (drainer && (!made || err.code == EMFILE || err.code == ENFILE))
        gpurt_handover_refuse(why);
    if (made && !drainer)
        gpurt_tell("nothing is logged: %s%s: %s",
                   gpurt_env_get("GPURT_LOG") ? "GPURT_LOG=" : "log.file ", file, why);
    else
        gpurt_tell("nothing is logged: %s", why);
}

static void bare_open(gpurt_opened_t *opened, link_t *link)
{
    gpurt_error_t err = {0};

    if (!opened->ops->box_connect) /* a back end that has no panics */
        return;
    snprintf(link->more, sizeof link->more,
             "gpurt-record -o run.gplog -- PROGRAM, then gpurt-panic show run.gplog");
    if (gpurt_barebox_open(opened, &link->map, &err) != GPURT_OK) {
        gpurt_tell("panics of kernels are not told: %s", err.text);
        return;
    }
    link->bare = true;
    opened->box = link->map.box;
}

/* What is not understood is told, and the program's wish counts. */
static uint32_t panics_read(uint32_t option)
{
    static const char *const words[] = {"tell", "quiet", "off"};
    const char *value = gpurt_env_get("GPURT_PANICS");
    uint32_t which = value ? word_find(value, words, 3) : option;

    if (which <= GPURT_PANICS_OFF)
        return which;
    gpurt_tell("GPURT_PANICS=%.32s: say tell, quiet or off", value);
    return option;
}

void gpurt_boxlink_open(gpurt_opened_t *opened, const gpurt_options_t *options,
                        const gpurt_boxpart_t *along, size_t count)
{
    link_t *link = &links[opened->index];
    const char *off = gpurt_env_get("GPURT_OFF");
    uint32_t panics = panics_read(options->panics);

    parts = along;
    part_count = count;
    link->view = (gpurt_boxview_t){.map = &link->map,
                                   .device = DEVICE_SECTION,
                                   .host = HOST_SECTION,
                                   .quiet = panics != GPURT_PANICS_TELL,
                                   .more = link->more};
    if (gpurt_env_withholds())
        why_add(&opened->info,
                "variables of the environment are not read, as the program is "
                "setuid or its file has capabilities");
    if (off && strcmp(off, "0") != 0)
        return;
    log_open(opened, link, &options->log);
    if (panics == GPURT_PANICS_OFF)
        return;
    if (!opened->box)
        bare_open(opened, link);
    if (opened->box)
        (void)parts_connect(opened, link, true, NULL);
}

static void bare_close(gpurt_opened_t *opened, link_t *link)
{
    opened->box = NULL;
    gpurt_barebox_close(opened, &link->map);
    link->bare = false;
}

void gpurt_boxlink_close(gpurt_opened_t *opened)
{
    link_t *link = &links[opened->index];

    parts_disconnect(opened, true);
    if (link->bare)
        bare_close(opened, link);
    if (!link->open)
        return;
    opened->box = NULL;
    parts_disconnect(opened, false);
    if (spokesman == link)
        spokesman_leave();
    opened->ops->box_disconnect(opened->self, &link->map, DEVICE_SECTION);
    gpurt_store_release_sys_u32(&link->map.box->xlife, GPURT_LIFE_CLOSED); /* B4.rel */
    gpurt_boxmap_detach(&link->map);
    gpurt_drainspawn_wait(link->drainer);
    link->open = false;
    if (!spokesman)
        spokesman_choose();
}

static void link_forget(uint32_t index, bool known)
{
    link_t *link = &links[index];

    for (size_t i = part_count; i-- > 0;)
        if (parts[i].forked)
            parts[i].forked(index, known);
    if (spokesman == link) {
        gpurt_launchsite_disconnect();
        spokesman = NULL;
    }
    parent_logs |= link->open;
    memset(link, 0, sizeof *link);
}

void gpurt_boxlink_forget(uint32_t index)
{
    link_forget(index, false);
}

/* Sites of host code forget their numbers, those of kernels by the back end. */
void gpurt_boxlink_forked(gpurt_opened_t *opened)
{
    link_t link = links[opened->index];

    if (link.open && spokesman == &links[opened->index])
        gpurt_sitegate_forget(&link.map, HOST_SECTION);
    if (opened->ops->forked)
        opened->ops->forked(opened->self, link.map.box ? &link.map : NULL, DEVICE_SECTION);
    link_forget(opened->index, true);
    if (link.open && link.drainer >= 0)
        close(link.drainer);
    link.map.owner = false; /* a file in its place is the parent's */
    gpurt_boxmap_detach(&link.map);
    opened->box = NULL;
}

/* relaxed: a count */
uint32_t gpurt_boxlink_panics(const gpurt_opened_t *opened)
{
    return opened->box
               ? gpurt_load_relaxed_sys_u32(&opened->box->sections[DEVICE_SECTION].xpanics)
               : 0;
}
