/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - what rows add up to, the same code for rows from a drain and from a log
 * file.
 *
 * A model takes rows one by one and keeps sums, rates, the panics and the last rows of
 * each class. It has a fixed size and allocates nothing after create. It knows nothing
 * of screens: gpurt_model_view writes what it holds into a view (modelview.h), which
 * modelshare.h publishes. The same rows give the same view, however they came. One
 * thread uses a model. */
#ifndef GPURT_MODEL_H
#define GPURT_MODEL_H

#include "drain.h"
#include "modelview.h"
#include "timesort.h"

typedef struct gpurt_model gpurt_model_t;

/* dictionary: where rows' sites are looked up; borrowed. about: NULL when nobody knows; a
 * model without it counts all rows in the section that is not in the table. */
gpurt_status_t gpurt_model_create(const gpurt_dictionary_t *dictionary,
                                  const gplog_file_t *about, gpurt_model_t **out,
                                  gpurt_error_t *err);
void gpurt_model_destroy(gpurt_model_t *m); /* NULL is allowed */

/* A model that goes on from where the other one is: how a replay steps back. */
gpurt_status_t gpurt_model_copy(const gpurt_model_t *from, gpurt_model_t **out,
                                gpurt_error_t *err);
/* The same into one that exists. */
void gpurt_model_assign(gpurt_model_t *to, const gpurt_model_t *from);

void gpurt_model_put(gpurt_model_t *m, const gpurt_row_t *row);

/* The same of many, in the order given, NULL: as they lie; what neighbours have in common is added
 * up once. rows: where their offsets count from. */
void gpurt_model_put_all(gpurt_model_t *m, const uint8_t *rows, const gpurt_timed_t *order,
                         uint32_t count);

/* From now on rows come out of a black box: all are of the process that `about` names, whatever
 * number of a file they have. */
void gpurt_model_of_box(gpurt_model_t *m);

/* As a sink of a drain; it never fails, so it comes behind those that can. Wants rows
 * by time, because it keeps the last ones. The model is of a box then. */
gpurt_drain_sink_t gpurt_model_sink(gpurt_model_t *m); /* borrowed */

/* Writes what the model holds into *view; range_*_ns are the caller's. The first call
 * needs a zeroed view; later calls with the same view render only lines and texts that
 * are new. now_ns: rates are of the second before it. Returns: bit per part of the view
 * that changed (part 0 always). */
uint32_t gpurt_model_view(const gpurt_model_t *m, uint64_t now_ns, uint32_t state,
                          gpurt_modelview_t *view);

/* A row as a line of a view. pid: of its process; number: what orders it among others. */
void gpurt_model_line_of(const gpurt_dictionary_t *d, const gpurt_row_t *row, uint32_t pid,
                         uint64_t number, gpurt_model_line_t *to);

/* Whether samples of kernels' lines have come. */
bool gpurt_model_is_sampled(const gpurt_model_t *m);

uint64_t gpurt_model_last_ns(const gpurt_model_t *m);

#endif
