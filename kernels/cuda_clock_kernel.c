/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU's end of a clock measurement: one thread, bounded by its own clock. */
#include "cuda_clock_mail.h"

#include <gpurt/clock.h>

GPURT_KERNEL(gpurt_clock_kernel, struct gpurt_clock_args, p)
{
    uint64_t start = gpurt_globaltimer(), now = start;

    for (uint32_t trip = p->first; trip != p->first + GPURT_CLOCK_TRIPS; trip++) {
        gpurt_group_t answer;

        /* relaxed: the word is the message. No gpurt_relax: its sleep would be measured. */
        while (gpurt_load_relaxed_sys_u32(&p->mail->xasked) != trip)
            if (gpurt_globaltimer() - start > GPURT_CLOCK_LIMIT_NS ||
                gpurt_load_relaxed_sys_u32(&p->mail->xasked) == GPURT_CLOCK_STOP)
                return;
        now = gpurt_globaltimer();
        answer.tag = trip;
        answer.word[0] = (uint32_t)now;
        answer.word[1] = (uint32_t)(now >> 32);
        answer.word[2] = 0;
        gpurt_group_store(&p->mail->xanswer, answer);
    }
}
