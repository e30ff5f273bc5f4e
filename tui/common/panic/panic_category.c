/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_category.h"

#include "plural.h"

#include <stdio.h>

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
    {GPURT_CATEGORY_ADDRESS, "illegal-address", "illegal address",
     "A lane used an address that is not mapped.",
     "Check the index against the size of the array; gpurt-check --asan names the array."},
    {GPURT_CATEGORY_BUS, "bus-error", "bus error",
     "A lane used an address beyond the end of a mapping, or a misaligned one.",
     "Check that mapped files are as long as they are used, and look for a cast to a wider "
     "type."},
    {GPURT_CATEGORY_ARITHMETIC, "arithmetic", "arithmetic fault",
     "A lane divided an integer by zero, or a quotient had no room.",
     "Check the divisor. A GPU gives a number here, and says nothing."},
    {GPURT_CATEGORY_INSTRUCTION, "illegal-instruction", "illegal instruction",
     "A lane came to what is no instruction of this processor.",
     "Look for a call through a bad pointer, and build for this processor."},
    {GPURT_CATEGORY_STACK, "stack-overflow", "stack overflow",
     "A lane's calls need more stack than it has.",
     "Bound the recursion, make local arrays smaller, or raise GPURT_STACK_BYTES; a GPU "
     "has "
     "less."},
    {GPURT_CATEGORY_TRAP, "trap", "trap", "The code ran into gpurt_trap().",
     "Look at the condition that leads here. GPURT_PANIC says why before it stops."},
    {GPURT_CATEGORY_SYNC, "sync", "misused synchronisation",
     "Lanes met at a warp operation or barrier against its rules.",
     "The message names the rule, the report the lanes: give all of a mask the same mask, "
     "and take every thread to the same barrier."},
    {GPURT_CATEGORY_SCOPE, "scope", "scope too narrow",
     "An atomic's scope leaves out a block that uses the same word.",
     "Use dev scope, or sys scope where the host takes part."},
    {GPURT_CATEGORY_ABORT, "abort", "abort",
     "Device code called abort(), or a failed assert() of the C library did.",
     "Standard error has the condition. GPURT_ASSERT keeps the values, and the program."},
    {GPURT_CATEGORY_SHARED, "shared-memory", "no room in shared memory",
     "A block's objects need more shared memory than there is.",
     "Make them smaller, or take dynamic shared memory for the largest."},
    {GPURT_CATEGORY_DEADLOCK, "deadlock", "deadlock",
     "No lane of a block can ever run again.",
     "Every lane of a mask must reach the operation, every thread that has not ended the "
     "barrier: see in the report who came where."},
    {GPURT_CATEGORY_LIVELOCK, "livelock", "livelock",
     "Every lane that can run only waits in a loop.",
     "What they wait for was never written, or its writer is one of them. Where the host "
     "writes it later than that, raise GPURT_SPIN_LIMIT_MS."},
    {GPURT_CATEGORY_OCCUPANCY, "occupancy", "occupancy deadlock",
     "Resident blocks wait for blocks that have no room to begin.",
     "Launch no more blocks than gpurt_occupancy says, or do not wait for later blocks."},
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

const faultkind_t *panic_category_at(uint32_t i)
{
    return i < sizeof categories / sizeof categories[0] ? &categories[i] : NULL;
}

void panic_counts_text(uint64_t all, uint64_t faults, uint64_t hangs,
                       char out[PANIC_COUNTS])
{
    const struct {
        const char *name;
        uint64_t count;
    } kinds[] = {{"panic", all - faults - hangs}, {"fault", faults}, {"hang", hangs}};
    size_t used = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].count || (i == 0 && all == 0))
            used += (size_t)snprintf(out + used, PANIC_COUNTS - used, "%s%llu %s%s",
                                     used ? ", " : "", (unsigned long long)kinds[i].count,
                                     kinds[i].name, gpurt_plural(kinds[i].count, "s"));
}
