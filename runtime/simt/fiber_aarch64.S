/* SPDX-License-Identifier: Apache-2.0 */
/* void simt_place_switch(void **save (x0), void *to (x1))
 *
 * Saves x19-x30, d8-d15 and the floating-point control register in one 176-byte frame that has
 * the same layout on both stacks, so the unwind rules stay true across the change of sp. */
#if defined(__aarch64__) && !defined(GPURT_FIBER_UCONTEXT)
        .text
        .p2align 4
        .globl  simt_place_switch
        .hidden simt_place_switch
        .type   simt_place_switch, %function
simt_place_switch:
        .cfi_startproc
        hint    #34
        sub     sp, sp, #176
        .cfi_adjust_cfa_offset 176
        stp     x19, x20, [sp]
        stp     x21, x22, [sp, #16]
        stp     x23, x24, [sp, #32]
        stp     x25, x26, [sp, #48]
        stp     x27, x28, [sp, #64]
        stp     x29, x30, [sp, #80]
        .cfi_rel_offset x29, 80
        .cfi_rel_offset x30, 88
        stp     d8, d9, [sp, #96]
        stp     d10, d11, [sp, #112]
        stp     d12, d13, [sp, #128]
        stp     d14, d15, [sp, #144]
        mrs     x9, fpcr
        str     x9, [sp, #160]
        mov     x10, sp
        str     x10, [x0]
        mov     sp, x1
        ldr     x9, [sp, #160]
        msr     fpcr, x9
        ldp     x19, x20, [sp]
        ldp     x21, x22, [sp, #16]
        ldp     x23, x24, [sp, #32]
        ldp     x25, x26, [sp, #48]
        ldp     x27, x28, [sp, #64]
        ldp     x29, x30, [sp, #80]
        .cfi_restore x29
        .cfi_restore x30
        ldp     d8, d9, [sp, #96]
        ldp     d10, d11, [sp, #112]
        ldp     d12, d13, [sp, #128]
        ldp     d14, d15, [sp, #144]
        add     sp, sp, #176
        .cfi_adjust_cfa_offset -176
        ret
        .cfi_endproc
        .size   simt_place_switch, .-simt_place_switch

        .p2align 4
        .globl  simt_place_begin
        .hidden simt_place_begin
        .type   simt_place_begin, %function
simt_place_begin:
        .cfi_startproc
        .cfi_undefined x30
        hint    #36
        blr     x19
        brk     #1
        .cfi_endproc
        .size   simt_place_begin, .-simt_place_begin
#endif
        .section .note.GNU-stack, "", %progbits
