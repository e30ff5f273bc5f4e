/* SPDX-License-Identifier: Apache-2.0 */
#include "warpstate.h"

#include <stddef.h>
#include <string.h>

static const warpstate_t states[] = {
    {"barrier", "waits at a barrier",
     "other warps of its block are not there yet (__syncthreads, bar.sync): even out their "
     "work, or look for one that never comes"},
    {"branch_resolving", "waits for a branch",
     "the next instruction is not known yet: fewer jumps, longer loop bodies"},
    {"dispatch_stall", "waits for the dispatcher",
     "it could issue and was held back: conflicts of registers or units"},
    {"drain", "waits for its last stores",
     "it has ended, and memory has not taken all that it wrote: wider or fewer stores"},
    {"gmma", "waits for tensor cores", "a matrix operation of its group is under way"},
    {"imc_miss", "waits for a constant",
     "constants missed their cache: lanes of a warp should read the same ones"},
    {"lg_throttle", "waits to ask for global memory",
     "the queue of loads and stores is full: wider accesses, or fewer"},
    {"long_scoreboard", "waits for global memory",
     "a load from global or local memory, or an atomic, is on its way: better locality, "
     "loads that are asked for earlier, more warps; in a loop that polls, the flag"},
    {"math_pipe_throttle", "waits for an arithmetic unit",
     "other warps use it: it is busy, which may be what you want"},
    {"membar", "waits at a fence",
     "__threadfence or an ordered atomic waits for stores: a narrower scope"},
    {"mio_throttle", "waits to ask for shared memory",
     "the queue of shared memory and special functions is full: fewer, wider accesses"},
    {"misc", "waits for something else", "CUPTI says no more"},
    {"no_instructions", "waits for its code",
     "instructions missed their cache: long code, far jumps, or a kernel that just began"},
    {"not_selected", "could go on, another warp did",
     "there are warps enough for this scheduler"},
    {"selected", "issues", "an instruction went out: this is work"},
    {"short_scoreboard", "waits for shared memory",
     "or for a special function (exp, sin, division): conflicts of banks, or many of "
     "them"},
    {"sleeping", "sleeps",
     "__nanosleep: a loop that polls; look for who should have woken it"},
    {"tex_throttle", "waits to ask for a texture", "the queue of textures is full"},
    {"wait", "waits for the instruction before",
     "its fixed time is not over: more independent instructions, or more warps"},
    {"warpgroup_arrive", "waits for its warp group",
     "wgmma: other warps of the group are not there yet"},
};

const warpstate_t *warpstate_find(const char *reason)
{
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (strcmp(states[i].reason, reason) == 0)
            return &states[i];
    return NULL;
}
