/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - the writer of JSON: all of gpurt's goes through it, to a file or into memory.
 *
 * It puts the commas and escapes the strings. Texts come from devices, files and other programs:
 * what is no UTF-8 becomes U+FFFD; control characters, and such as hide or turn others, become
 * escapes. Who calls sees to it that what begins also ends, and that keys stand in objects only.
 * Context: one thread writes to the file meanwhile. */
#ifndef GPURT_BASE_JSON_H
#define GPURT_BASE_JSON_H

#include <gpurt/base.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    GPURT_JSON_ROOM = 512
};

/* Owner: the caller. Never copied: `at` may point into it. */
typedef struct gpurt_json {
    FILE *out; /* NULL: memory alone */
    char *at;
    size_t room, used; /* at[used] is 0 */
    uint32_t depth;
    bool any;    /* the object or array has a value: a comma comes before the next one */
    bool spaced; /* a blank behind commas and colons; the caller may set it */
    bool cut;    /* the memory was too small: the text is no JSON */
    char own[GPURT_JSON_ROOM];
} gpurt_json_t;

/* The file has all of it when the outermost value has ended. Errors stay with it (ferror). */
void gpurt_json_file(gpurt_json_t *j, FILE *out);
/* At most room - 1 bytes, ended by a 0. */
void gpurt_json_memory(gpurt_json_t *j, char *at, size_t room);

/* The first argument after the writer is the value's name in its object; NULL in an array, and of
 * the outermost one. */
void gpurt_json_object(gpurt_json_t *j, const char *key);
void gpurt_json_object_end(gpurt_json_t *j);
void gpurt_json_array(gpurt_json_t *j, const char *key);
void gpurt_json_array_end(gpurt_json_t *j);

void gpurt_json_null(gpurt_json_t *j, const char *key);
void gpurt_json_bool(gpurt_json_t *j, const char *key, bool value);
void gpurt_json_number(gpurt_json_t *j, const char *key, uint64_t value);
void gpurt_json_signed(gpurt_json_t *j, const char *key, int64_t value);
/* null where it is not known. */
void gpurt_json_known(gpurt_json_t *j, const char *key, bool known, uint64_t value);
/* So many digits behind the point. What is not finite is null: JSON has no word for it. */
void gpurt_json_decimal(gpurt_json_t *j, const char *key, double value, int digits);
/* 1234567 is 1234.567: exact, where a double is not. */
void gpurt_json_thousandths(gpurt_json_t *j, const char *key, uint64_t value);
/* [x,y,z] */
void gpurt_json_triple(gpurt_json_t *j, const char *key, uint32_t x, uint32_t y,
                       uint32_t z);

/* A string "0x1f". */
void gpurt_json_hex(gpurt_json_t *j, const char *key, uint64_t value);
void gpurt_json_text(gpurt_json_t *j, const char *key, const char *text);
/* null where it is NULL. */
void gpurt_json_text_known(gpurt_json_t *j, const char *key, const char *text);
void gpurt_json_bytes(gpurt_json_t *j, const char *key, const char *text, size_t bytes);
/* A field of a fixed size, whose text may fill it. */
#define gpurt_json_field(j, key, field) \
    gpurt_json_bytes(j, key, field, strnlen(field, sizeof(field)))
/* A string of at most GPURT_JSON_ROOM - 1 bytes; the rest is cut off. */
void gpurt_json_printf(gpurt_json_t *j, const char *key, const char *fmt, ...)
    GPURT_PRINTF(3, 4);
/* Text that is JSON already. */
void gpurt_json_raw(gpurt_json_t *j, const char *key, const char *json, size_t bytes);

/* A line ends: behind the outermost value, or before the end of what stands in lines. */
void gpurt_json_newline(gpurt_json_t *j);
/* The next value begins a line, behind the indent. */
void gpurt_json_line(gpurt_json_t *j, const char *indent);

#endif
