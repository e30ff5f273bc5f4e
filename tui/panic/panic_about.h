/* SPDX-License-Identifier: Apache-2.0 */
/* panic_about.h - the parts of a panic's report that its record tells beyond place and
 * values: what was promised, the launch, what the program had noted, memory. */
#ifndef GPURT_TUI_PANIC_ABOUT_H
#define GPURT_TUI_PANIC_ABOUT_H

#include "json.h"
#include "panic_line.h"

/* Begins a line of the report with its name. */
void panic_field(panic_line_t *line, const panic_style_t *style, const char *name);
/* One operand: its value, and an integer in hexadecimal too. */
void panic_add_value(gpurt_text_t *out, const gpurt_dictionary_t *d, uint32_t type,
                     uint64_t value);

/* Category and condition; nothing for a fault. */
void panic_about_promise(const gpurt_dictionary_t *d, const panic_facts_t *f,
                         const panic_style_t *style);
/* Function, kernel, launch. */
void panic_about_launch(const gpurt_dictionary_t *d, const panic_facts_t *f,
                        const panic_style_t *style);
/* Task, context, frames, what is held. */
void panic_about_notes(const gpurt_dictionary_t *d, const panic_facts_t *f,
                       const panic_style_t *style);
/* The operands, of the first lane and of each. */
void panic_about_values(const gpurt_dictionary_t *d, const panic_facts_t *f,
                        const panic_style_t *style);
/* Windows of memory, as hexadecimal numbers. */
void panic_about_memory(const gpurt_dictionary_t *d, const panic_facts_t *f,
                        const panic_style_t *style);
/* What the executor of the CPU back end reported; nothing where it did not. */
void panic_about_report(const panic_facts_t *f, const panic_style_t *style);
void panic_about_remedy(const panic_facts_t *f, const panic_style_t *style);

/* The same as fields of a JSON object. */
void panic_about_json(gpurt_json_t *j, const gpurt_dictionary_t *d, const panic_facts_t *f);
/* type, text and bits of a value. */
void panic_value_json(gpurt_json_t *j, const gpurt_dictionary_t *d, uint32_t type,
                      uint64_t value);

#endif
