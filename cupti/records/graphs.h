/* SPDX-License-Identifier: Apache-2.0 */
/* graphs.h - of how many nodes the graphs are that the program launches. CUPTI's record of
 * a launch does not say; the driver is asked as each graph is instantiated, which takes it
 * some microseconds. */
#ifndef GPURT_CUPTI_GRAPHS_H
#define GPURT_CUPTI_GRAPHS_H

#include "cupti_api.h"

#include <stdbool.h>

/* About the subscriber's callback, of CUPTI_CB_DOMAIN_RESOURCE; graphs_watch enables it.
 * Context: any thread of the program, inside of its call. */
void graphs_told(CUpti_CallbackId id, const CUpti_ResourceData *resource);

/* Again does no harm. Context: with the driver loaded. */
void graphs_watch(const cupti_api_t *api, CUpti_SubscriberHandle subscriber);

/* Of a graph by its number in records. Returns: 0 where it is not known: instantiated
 * before we came, or long ago and many since. Context: any thread. */
uint32_t graphs_nodes(uint32_t graph);

/* Graphs that kernels launch. CUPTI takes memory of each GPU for them, and time as CUDA starts, and
 * is to be asked before that: a program that is woken up runs by then. Context: once. */
void graphs_by_device_want(const cupti_api_t *api);

/* Returns: whether one has come that kernels may launch, and nobody wanted them; once. Context:
 * one thread. */
bool graphs_by_device_missed(void);

#endif
