/* SPDX-License-Identifier: Apache-2.0 */
#include "boxwork.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

gpurt_box_t *gpurt_boxwork;

void gpurt_boxwork_wake(void)
{
    syscall(SYS_futex, &gpurt_boxwork->xwork, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
