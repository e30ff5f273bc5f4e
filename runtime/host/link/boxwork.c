/* SPDX-License-Identifier: Apache-2.0 */
#include "boxwork.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void gpurt_boxwork_wake(gpurt_box_t *box)
{
    syscall(SYS_futex, &box->xwork, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
