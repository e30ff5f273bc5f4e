/* SPDX-License-Identifier: Apache-2.0 */
/* gpufault.h - what a GPU core dump adds up to: which lanes failed, at which instruction,
 * why, and what everybody else was doing. */
#ifndef GPURT_POSTMORTEM_GPUFAULT_H
#define GPURT_POSTMORTEM_GPUFAULT_H

#include "code.h"
#include "culprit.h"
#include "faultkind.h"
#include "sass.h"
#include "standing.h"

/* Lanes that failed in the same way at the same instruction. The hardware marks whole
 * warps: of a marked warp, those are counted that the bad address is told of, or else all
 * that ran when it stopped. */
typedef struct fault {
    const faultkind_t *kind;
    uint32_t exception; /* as the dump has it, 0: concluded from the code */
    uint64_t pc;        /* of the instruction */
    bool exact;         /* the hardware named it; else the lanes stand behind it */
    bool snapshot;      /* nothing failed: where most of the warps stood */
    const char *kernel; /* mangled; the grid's, which may be another than the place's */
    code_place_t place;
    uint64_t lane_count;
    uint32_t warp_count, block_count;
    uint32_t sm; /* its place in the dump's SMs */
    /* the first of them */
    int32_t warp;   /* its place in the dump's warps; GPUCORE_NONE: it had ended */
    uint32_t lanes; /* mask of those of this warp */
    bool vague;     /* of a warp it is not known which of the lanes it was */
    bool narrowed;  /* it is about an address: `culprit` says which lanes, and how sure */
    culprit_t culprit;
    gpucore_lane_t lane;
    uint64_t calls[GPUCORE_CALLS_MAX]; /* return addresses that follow a call */
    uint32_t call_count;
    sass_op_t op;
    bool has_op;
    bool has_address; /* from the registers of the lane */
    bool moved;       /* it ran on before it stopped: registers may have changed */
    uint64_t address;
} fault_t;

/* Warps that stand at the same source line, or instruction where there are no lines, and do
 * the same there. */
typedef struct fault_group {
    code_place_t place;
    uint64_t pc;
    uint32_t warp_count, block_count, last_block;
    uint64_t lane_count;
    standing_t doing;
    bool suspect;  /* of a snapshot: what the others seem to wait for */
    uint32_t warp; /* the first; its place in the dump's warps */
    gpucore_lane_t lane;
} fault_group_t;

enum {
    FAULTS_MAX = 64,
    FAULT_GROUPS_MAX = 64
};

typedef struct fault_book {
    const gpucore_t *core; /* borrowed */
    fault_t *faults;       /* most lanes last; heap */
    fault_group_t *others; /* most warps first, before them suspects; heap */
    uint32_t count, other_count;
    uint32_t left_out; /* faults and groups beyond the room for them */
} fault_book_t;

gpurt_status_t fault_book_fill(fault_book_t *book, const gpucore_t *core,
                               gpurt_error_t *err);
void fault_book_fini(fault_book_t *book);

/* The value of a register of a lane; of RZ 0. Returns: whether the dump has it. */
bool fault_register(const gpucore_t *core, const fault_t *fault, uint32_t number,
                    uint32_t *value);

/* The block of a fault (NULL: its warp had ended), its grid (NULL: not in the dump) and its
 * SM. */
const gpucore_block_t *fault_block(const gpucore_t *core, const fault_t *fault);
const gpucore_grid_t *fault_grid(const gpucore_t *core, const fault_t *fault);
const gpucore_sm_t *fault_sm(const gpucore_t *core, const fault_t *fault);

/* A sentence: "stores 8 bytes to 0x10 in global memory". */
void fault_deed(const fault_t *fault, char *out, size_t room);

#endif
