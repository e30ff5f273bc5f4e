/* SPDX-License-Identifier: Apache-2.0 */
/* void simt_place_switch(void **save /rdi/, void *to /rsi/)
 *
 * Both stacks hold the same frame when the stack pointer changes hands, so one set of unwind
 * rules is true on either side of it, and a debugger that stops in the middle sees the caller. */
#if defined(__x86_64__) && !defined(GPURT_FIBER_UCONTEXT)
        .text
        .p2align 4
        .globl  simt_place_switch
        .hidden simt_place_switch
        .type   simt_place_switch, @function
simt_place_switch:
        .cfi_startproc
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r15, 0
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        stmxcsr (%rsp)
        fnstcw  4(%rsp)
        movq    %rsp, (%rdi)
        movq    %rsi, %rsp
        ldmxcsr (%rsp)
        fldcw   4(%rsp)
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbp
        ret
        .cfi_endproc
        .size   simt_place_switch, .-simt_place_switch

/* Where a new fiber begins: the entry function waits in r12. An undefined return address ends
 * the backtrace here. */
        .p2align 4
        .globl  simt_place_begin
        .hidden simt_place_begin
        .type   simt_place_begin, @function
simt_place_begin:
        .cfi_startproc
        .cfi_undefined rip
        callq   *%r12
        ud2
        .cfi_endproc
        .size   simt_place_begin, .-simt_place_begin
#endif
        .section .note.GNU-stack, "", @progbits
