/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - what a program notes so that a panic's report can tell it.
 *
 *   GPURT_CONTEXT("request", id)            the warp works for this; a later value of the same
 *   GPURT_CONTEXT_END("request")            name takes its place
 *   GPURT_WINDOW("table", pointer, bytes)   show this memory, up to 256 bytes of it, around a
 *   GPURT_WINDOW_END("table")               pointer among the panic's operands
 *   GPURT_FRAME();                          at the begin of a function: name it among the
 *                                           frames, until it returns
 *
 * Context: device code. Names are literals. A value is of any type that a log call takes, a
 * string a constant. Notes are a warp's, the value of the first lane that comes: a warp is what
 * runs, and a block has them too, because all its warps pass the same line. Values that differ
 * by lane belong into the panic's operands, which are kept for each. Frames are a thread's own.
 * Eight contexts, four windows, eight frames; others are counted. They end with the warp.
 *
 * Without a panic a note costs a call and some stores to the GPU's memory, and where none is
 * made nothing at all. A unit that includes this file has the runtime set aside 3 KiB a warp
 * slot when it opens the black box; before that, notes are nowhere. */
#ifndef GPURT_CONTEXT_H
#define GPURT_CONTEXT_H

#include <gpurt/impl/operand.h>
#include <gpurt/impl/trail.h>

#if GPURT_ON_CUDA
static __attribute__((constructor)) void gpurt_trail_wanted(void)
{
    gpurt_log_unit.trails = 1;
}
#endif

#define GPURT_TRAIL_BY_LEADER_(call)                         \
    do {                                                     \
        if (gpurt_log_port.trails) {                         \
            const uint32_t gpurt_mask_ = gpurt_activemask(); \
                                                             \
            if (gpurt_is_leader(gpurt_mask_))                \
                call;                                        \
            gpurt_syncwarp(gpurt_mask_);                     \
        }                                                    \
    } while (0)

#define GPURT_CONTEXT(name, value) \
    GPURT_TRAIL_BY_LEADER_(        \
        gpurt_trail_note("" name, GPURT_ARG_TYPE(value), GPURT_OPERAND_BITS(value)))
#define GPURT_CONTEXT_END(name) GPURT_TRAIL_BY_LEADER_(gpurt_trail_forget("" name))
#define GPURT_WINDOW(name, pointer, bytes) \
    GPURT_TRAIL_BY_LEADER_(gpurt_trail_look("" name, pointer, bytes))
#define GPURT_WINDOW_END(name) GPURT_TRAIL_BY_LEADER_(gpurt_trail_look("" name, NULL, 0))

#define GPURT_FRAME_SITE_ \
    static const gpurt_frame_site_t gpurt_f_ = {__func__, __FILE__, __LINE__}
#if defined(__cplusplus)
struct gpurt_frame {
    gpurt_frame_mark_t mark;
#    if GPURT_ON_CUDA
    __device__
#    endif
        ~gpurt_frame()
    {
        gpurt_frame_leave(&mark);
    }
};
#    define GPURT_FRAME()  \
        GPURT_FRAME_SITE_; \
        const gpurt_frame gpurt_frame_ = {gpurt_frame_enter(&gpurt_f_)}
#else
#    define GPURT_FRAME()                                         \
        GPURT_FRAME_SITE_;                                        \
        gpurt_frame_mark_t gpurt_frame_                           \
            __attribute__((cleanup(gpurt_frame_leave), unused)) = \
                gpurt_frame_enter(&gpurt_f_)
#endif

#endif
