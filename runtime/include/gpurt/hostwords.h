/* SPDX-License-Identifier: Apache-2.0 */
/* hostwords.h - words between the host and a kernel that runs: the host's side (hostword.h has
 * the device's).
 *
 * A word lies in memory of gpurt_host_create and is 4 bytes, aligned. Only one side stores a
 * word, so each direction has a word of its own. What one side wrote before it stored, the other
 * sees behind its wait.
 * Context: host, any thread. */
#ifndef GPURT_HOSTWORDS_H
#define GPURT_HOSTWORDS_H

#include <gpurt/gpurt.h>

GPURT_BEGIN_DECLS

/* Kernels that wait for the word go on: at once where they poll, woken where they sleep. */
gpurt_status_t gpurt_hostword_store(gpurt_t *rt, uint32_t *word, uint32_t value,
                                    gpurt_error_t *err);

/* Waits until the word is not `old`: polls for some 50 microseconds, then sleeps between looks,
 * a sixteenth of the wait so far, 4 ms at most. timeout_ns: UINT64_MAX, for ever. value: NULL, or what the word is.
 * Returns: GPURT_E_TIMEOUT when it is still `old` then. */
gpurt_status_t gpurt_hostword_wait(gpurt_t *rt, const uint32_t *word, uint32_t old,
                                   uint64_t timeout_ns, uint32_t *value,
                                   gpurt_error_t *err);

GPURT_END_DECLS

#endif
