/* SPDX-License-Identifier: Apache-2.0 */
/* device_app.h - what devices of a program did, as CUPTI tells it: so much of each kind that the
 * tests know what it adds up to. */
#ifndef GPURT_TESTS_DEVICE_APP_H
#define GPURT_TESTS_DEVICE_APP_H

void device_mixed(void);
void device_copies(void);
void device_nested(void);
void device_static_names(void);

void device_several(void);
void device_two_waits(void);

void device_graphs(void);
void device_host_graph(void);
void device_nodes(void);
void device_graphs_of_graphs(void);

void device_pools(void);
void device_managed(void);
void device_unmanaged(void);

void device_bad_times(void);
void device_bad_moments(void);

#endif
