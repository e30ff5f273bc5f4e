/* SPDX-License-Identifier: Apache-2.0 */
/* exittext.h - how a process ended, in words: the one place that says it. */
#ifndef GPURT_BASE_EXITTEXT_H
#define GPURT_BASE_EXITTEXT_H

#include <gpurt/base.h>

/* wait_status: as of waitpid. *out: "exit status 3", "killed by SIGKILL", or "killed by signal 40"
 * for one that has no name. */
void gpurt_exit_text(int wait_status, char *out, size_t room);

#endif
