/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_category.h"

#include <gpurt/impl/box.h>

#include <stddef.h>

static const faultkind_t categories[] = {
    {GPURT_CATEGORY_PANIC, "panic", "panic", "Device code stopped itself: GPURT_PANIC.",
     "Read the message and what the warp logged before it."},
    {GPURT_CATEGORY_ASSERT, "assert", "assertion failed",
     "A condition that the author relied on did not hold.",
     "Look at the operands and at what the warp logged before it. GPURT_ASSERT_EQ and the "
     "like keep both sides by themselves."},
    {GPURT_CATEGORY_COMPARE, "compare", "comparison failed",
     "Two values were not in the relation that the author relied on.",
     "See by the lanes' values which side is wrong, and look for where it was last "
     "written."},
    {GPURT_CATEGORY_BOUNDS, "bounds", "index out of bounds",
     "An index was not below the count of elements, or negative.",
     "Where the index grows with the lane, the launch has more threads than there are "
     "elements: return before the access. A huge index is a negative one without a sign."},
    {GPURT_CATEGORY_UNREACHABLE, "unreachable", "unreachable code reached",
     "A lane came to a place where the author expected none.",
     "Look at the switch or branch above it: a case is missing, or its value was "
     "overwritten."},
    {GPURT_CATEGORY_RUNTIME, "runtime", "misuse of the runtime",
     "A part of gpurt found that it was used against its rules.",
     "The message names the rule."},
    {GPURT_CATEGORY_USER, "user", "panic of the program's own kind",
     "The program has categories of its own: GPURT_PANIC_AS.",
     "The program's documentation says what this category asks for."},
};

const faultkind_t *panic_category(uint32_t category)
{
    uint32_t kind = category >= GPURT_CATEGORY_USER      ? GPURT_CATEGORY_USER
                    : category >= GPURT_CATEGORY_RUNTIME ? GPURT_CATEGORY_RUNTIME
                                                         : category;

    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++)
        if (categories[i].number == kind)
            return &categories[i];
    return &categories[0];
}
