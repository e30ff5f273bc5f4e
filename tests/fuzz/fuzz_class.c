/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_class - the definition of a class of objects, fed anything: what is read keeps the promises
 * of classdef.h, and a row of that class is printed as text and as JSON. */
#include "check.h"
#include "classdef.h"
#include "fuzz.h"
#include "objectrow.h"

#include <string.h>

enum {
    VALUES = 500 /* that the row has, out of the same bytes */
};

static bool is_plain(const char *text, size_t room)
{
    size_t length = strnlen(text, room);

    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return length < room;
}

static void class_check(const gpurt_classdef_t *d)
{
    uint32_t values = 0;

    CHECK(d->field_count <= GPURT_CLASS_FIELDS && d->value_count <= GPURT_CLASS_VALUES);
    CHECK(d->name[0] && is_plain(d->name, sizeof d->name));
    CHECK(d->plural[0] && is_plain(d->plural, sizeof d->plural));
    for (uint32_t i = 0; i < d->field_count; i++) {
        const gpurt_classdef_field_t *f = &d->fields[i];

        CHECK(f->name[0] && is_plain(f->name, sizeof f->name));
        CHECK(is_plain(f->unit, sizeof f->unit) && is_plain(f->words, sizeof f->words));
        CHECK(gpurt_classdef_find(d, f->name) == f);
        CHECK(f->of == 0 || (f->of <= i && d->fields[f->of - 1].kind == GPURT_FIELD_LIMIT));
        CHECK(f->kind != GPURT_FIELD_TEXT || f->first < GPURT_OBJECT_TEXTS);
        CHECK(f->first == values && f->count > 0);
        values += gpurt_field_values(f->kind, f->count);
    }
    CHECK_EQ(values, d->value_count);
}

/* Strings are what the dictionary has: the class's own text, as a site, and once as a string. */
static void row_print(const gpurt_classdef_t *d, const uint8_t *data, size_t size,
                      const gpurt_dictionary_t *dictionary)
{
    static char text[GPURT_OBJECTROW_JSON];
    static uint32_t words[2 * VALUES];
    gpurt_objectrow_t o = {.def = *d, .dictionary = dictionary, .words = words, .id = 1};
    gpurt_json_t json;
    gpurt_text_t out;

    for (uint32_t i = 0; i < 2 * VALUES; i++)
        words[i] = size ? data[i % size] % 3 : 0; /* 1 and 2 are in the dictionary */
    o.first = size ? data[0] % 64 : 0;
    o.first = o.first < d->value_count ? o.first : 0;
    o.count = d->value_count - o.first < VALUES ? d->value_count - o.first : VALUES;
    gpurt_text_init(&out, text, sizeof text);
    gpurt_objectrow_text(&o, &out);
    gpurt_json_memory(&json, text, sizeof text);
    gpurt_objectrow_json(&o, &json, NULL);
    CHECK(!json.cut && text[json.used - 1] == '}');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t bytes = size < UINT16_MAX ? (uint32_t)size : UINT16_MAX;
    char *text = malloc(bytes ? bytes : 1); /* without an end, so that reading on is seen */
    gpurt_site_info_t info = {.kind = GPURT_DEF_SITE, .format_bytes = bytes};
    gpurt_dictionary_t dictionary = {0};
    gpurt_classdef_t d;

    CHECK(text);
    memcpy(text, data, bytes);
    info.format = text;
    info.file = info.module = "";
    if (gpurt_classdef_read(&d, text, bytes)) {
        class_check(&d);
        CHECK(gpurt_dictionary_add(&dictionary, &info));
        info.kind = GPURT_DEF_STRING;
        CHECK(gpurt_dictionary_add(&dictionary, &info));
        row_print(&d, data, bytes, &dictionary);
    }
    gpurt_dictionary_fini(&dictionary);
    free(text);
    return 0;
}

uint8_t *fuzz_seed(uint32_t index, size_t *size)
{
    static const char *const seeds[] = {
        "a as\n",
        ("arena arenas\nheap reference words=heap parent\nname text\nslots limit\n"
         "used gauge of=slots\nbytes gauge unit=B trouble\nall counter\nbad fault\nmost "
         "peak\n"),
        ("kettle kettles\nstate state words=cold,warm,hot\nsince time\nx shade later=word\n"
         "waits histogram unit=ns count=20\nmap cells count=1000\n")};
    uint8_t *seed;

    if (index >= sizeof seeds / sizeof seeds[0])
        return NULL;
    *size = strlen(seeds[index]);
    seed = malloc(*size);
    CHECK(seed);
    memcpy(seed, seeds[index], *size);
    return seed;
}
