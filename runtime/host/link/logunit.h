/* SPDX-License-Identifier: Apache-2.0 */
/* logunit.h - the translation units of CUDA code in this process, each with a log port of
 * its own in the GPU's constant memory (logport.h).
 *
 * Units come and go with the programs and plugins that hold them; whoever fills their
 * ports walks them, and asks for the count to see whether more have come. */
#ifndef GPURT_HOST_LOGUNIT_H
#define GPURT_HOST_LOGUNIT_H

#include <gpurt/impl/logport.h>

/* How many were ever added. Context: host, any thread; lock-free. */
uint32_t gpurt_log_unit_count(void);

/* Calls visit for each unit until one says false; none is added or removed meanwhile.
 * Context: host, any thread; visit must not load or unload code. */
void gpurt_log_unit_each(bool (*visit)(void *context, const gpurt_log_unit_t *unit),
                         void *context);

/* gpurt_open was called: what units log has a place to go, or the caller knows why not. Where
 * somebody records a program that used a GPU and never called it, a line says so at the end. */
void gpurt_log_unit_opened(void);

#endif
