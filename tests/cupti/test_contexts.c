/* SPDX-License-Identifier: Apache-2.0 */
/* Of which device a context is: what ran there shows it, and before that there may be but one. */
#include "check.h"
#include "contexts.h"

int main(void)
{
    static contexts_t c;

    CHECK_EQ(contexts_device(&c, 2), CONTEXTS_UNKNOWN);
    contexts_show(&c, 1, 3);
    CHECK_EQ(contexts_device(&c, 1), 3);
    CHECK_EQ(contexts_device(&c, 2), 3); /* there is no other */
    contexts_show(&c, 2, 3);
    CHECK_EQ(contexts_device(&c, 7), 3); /* nor now */
    contexts_show(&c, 3, 1);
    CHECK_EQ(contexts_device(&c, 7), CONTEXTS_UNKNOWN);
    CHECK_EQ(contexts_device(&c, 2), 3);
    CHECK_EQ(contexts_device(&c, 3), 1);
    contexts_show(&c, 4, 1);
    CHECK_EQ(contexts_device(&c, 7), CONTEXTS_UNKNOWN);
    contexts_show(&c, 3 + CONTEXTS_MOST, 3); /* has the place of 3 */
    CHECK_EQ(contexts_device(&c, 3), CONTEXTS_UNKNOWN);
    CHECK_EQ(contexts_device(&c, 3 + CONTEXTS_MOST), 3);
    return 0;
}
