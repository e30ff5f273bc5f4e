/* SPDX-License-Identifier: Apache-2.0 */
/* The log as a part of a device, and what goes along with its box. */
#include "boxlink.h"
#include "boxpart.h"
#include "launchlink.h"
#include "levelwatch.h"
#include "logconnect.h"
#include "panictell.h"
#include "panicwait.h"
#include "part.h"
#include "tasktell.h"
#include "threadwait.h"
#include "viewer.h"

static gpurt_status_t levels_connect(const gpurt_opened_t *o, const gpurt_boxview_t *view,
                                     gpurt_error_t *err)
{
    return gpurt_levelwatch_start(view->map, o, err);
}

static void levels_forked(uint32_t index, bool known)
{
    if (known)
        gpurt_levelwatch_forked(index);
    gpurt_levelwatch_forget(index);
}

static gpurt_status_t launches_connect(const gpurt_opened_t *o, const gpurt_boxview_t *view,
                                       gpurt_error_t *err)
{
    (void)err;
    gpurt_launchlink_connect(o, view->map, view->host);
    return GPURT_OK;
}

static void launches_forked(uint32_t index, bool known)
{
    (void)known;
    gpurt_launchlink_forked(index);
}

static gpurt_status_t viewer_connect(const gpurt_opened_t *o, const gpurt_boxview_t *view,
                                     gpurt_error_t *err)
{
    (void)err;
    gpurt_viewer_connect(o, view->map, view->host);
    return GPURT_OK;
}

static gpurt_status_t threads_connect(const gpurt_opened_t *o, const gpurt_boxview_t *view,
                                      gpurt_error_t *err)
{
    (void)err;
    gpurt_threadwait_connect(o, view->map, view->device, view->host);
    return GPURT_OK;
}

static void threads_forked(uint32_t index, bool known)
{
    (void)known;
    gpurt_threadwait_forked(index);
}

static gpurt_status_t tasks_connect(const gpurt_opened_t *o, const gpurt_boxview_t *view,
                                    gpurt_error_t *err)
{
    (void)err;
    gpurt_tasktell_connect(o, view->map, view->device, view->host);
    return GPURT_OK;
}

static void tasks_forked(uint32_t index, bool known)
{
    (void)known;
    gpurt_tasktell_forked(index);
}

static gpurt_status_t waits_connect(const gpurt_opened_t *o, const gpurt_boxview_t *view,
                                    gpurt_error_t *err)
{
    (void)err;
    gpurt_panicwait_open(o, view->map, view->device, view->more);
    return GPURT_OK;
}

static void waits_forked(uint32_t index, bool known)
{
    (void)known;
    gpurt_panicwait_forked(index);
}

static gpurt_status_t lines_connect(const gpurt_opened_t *o, const gpurt_boxview_t *view,
                                    gpurt_error_t *err)
{
    (void)err;
    if (!view->quiet)
        gpurt_panictell_start(o, view->map, view->device, view->more);
    return GPURT_OK;
}

static void lines_forked(uint32_t index, bool known)
{
    (void)known;
    gpurt_panictell_forked(index);
}

static void units_forked(uint32_t index, bool known)
{
    (void)known;
    gpurt_log_forget(index);
}

static const gpurt_boxpart_t parts[] = {
    {false, levels_connect, gpurt_levelwatch_stop, levels_forked},
    {false, launches_connect, gpurt_launchlink_disconnect, launches_forked},
    {false, viewer_connect, gpurt_viewer_disconnect, NULL}, /* its part forks it */
    {false, NULL, NULL, units_forked},
    {false, threads_connect, gpurt_threadwait_disconnect, threads_forked},
    {false, tasks_connect, gpurt_tasktell_disconnect, tasks_forked},
    {true, waits_connect, gpurt_panicwait_close, waits_forked},
    {true, lines_connect, gpurt_panictell_stop, lines_forked},
};

static void log_open(gpurt_opened_t *opened, const gpurt_options_t *options)
{
    gpurt_boxlink_open(opened, options, parts, sizeof parts / sizeof parts[0]);
}

static gpurt_status_t log_close(gpurt_opened_t *opened, gpurt_status_t status,
                                gpurt_error_t *err)
{
    (void)status;
    (void)err;
    gpurt_boxlink_close(opened);
    return GPURT_OK;
}

static void log_forked(uint32_t index, gpurt_opened_t *opened)
{
    if (opened)
        gpurt_boxlink_forked(opened);
    else
        gpurt_boxlink_forget(index);
}

const gpurt_part_t gpurt_part_log = {
    .name = "log", .open = log_open, .close = log_close, .forked = log_forked};
