/* SPDX-License-Identifier: Apache-2.0 */
#include "publish.h"

#include "procfs.h"

#include <string.h>

void publish_open(publish_t *p, const gpurt_boxmap_t *map, gpurt_drain_options_t *options)
{
    gplog_file_t about;

    memset(p, 0, sizeof *p);
    gpurt_drain_about(map, &about);
    if (options->sink_count == GPURT_DRAIN_SINKS ||
        gpurt_modelshare_create(map->box->identity.pid, &p->share, NULL) != GPURT_OK)
        return;
    if (gpurt_model_create(options->dictionary, &about, &p->model, NULL) != GPURT_OK) {
        gpurt_modelshare_close(p->share);
        p->share = NULL;
        return;
    }
    options->sinks[options->sink_count++] = gpurt_model_sink(p->model);
    gpurt_modelshare_put(p->share, p->model, gpurt_real_ns(), GPURT_MODEL_LIVE);
}

void publish_tick(publish_t *p)
{
    if (p->share)
        gpurt_modelshare_tick(p->share, p->model, gpurt_real_ns(), GPURT_MODEL_LIVE);
}

void publish_close(publish_t *p)
{
    if (p->share)
        gpurt_modelshare_put(p->share, p->model, gpurt_real_ns(), GPURT_MODEL_ENDED);
    gpurt_modelshare_close(p->share);
    gpurt_model_destroy(p->model);
    memset(p, 0, sizeof *p);
}
