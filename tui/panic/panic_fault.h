/* SPDX-License-Identifier: Apache-2.0 */
/* panic_fault.h - what a GPU core dump knows of one fault, for people and for programs. */
#ifndef GPURT_TUI_PANIC_FAULT_H
#define GPURT_TUI_PANIC_FAULT_H

#include "json.h"
#include "panic_line.h"

/* What happened: cause, instruction, registers, calls, launch. */
void panic_fault_facts(const panic_dump_t *dump, const fault_t *fault,
                       const panic_style_t *style);
/* What the others were doing, and what to do about it. */
void panic_fault_rest(const panic_dump_t *dump, const fault_t *fault,
                      const panic_style_t *style);

/* The object "fault" of docs/PANIC_JSON.md. */
void panic_fault_json(gpurt_json_t *j, const char *key, const panic_dump_t *dump,
                      const fault_t *fault);

#endif
