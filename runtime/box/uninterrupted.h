/* SPDX-License-Identifier: Apache-2.0 */
/* uninterrupted.h - a call with a time limit ends when its process is stopped and goes on
 * (signal(7)): it is made again. */
#ifndef GPURT_UNINTERRUPTED_H
#define GPURT_UNINTERRUPTED_H

#include <errno.h>
#include <sys/types.h>

#define UNINTERRUPTED(call)                 \
    __extension__({                         \
        ssize_t got_;                       \
        do                                  \
            got_ = (call);                  \
        while (got_ < 0 && errno == EINTR); \
        got_;                               \
    })

#endif
