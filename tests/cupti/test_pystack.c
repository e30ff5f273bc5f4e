/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of Python out of made-up structures that publish their offsets as CPython 3.13 does, in a
 * section of this program, whose symbols say nothing: whose frames, which lines, which characters. And
 * of structures with wrong pointers anywhere: no read outside of memory, no walk without an end. */
#include "check.h"
#include "pystack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    FRAMES = 6,
    CODES = 3,
    PUBLISHED = 73,
    DAMAGES = 4000
};

typedef struct fake_code {
    uint64_t head, type, first_line, file, name, table, bytes[32];
} fake_code_t;

typedef struct fake_frame {
    uint64_t code, back, at, owner;
} fake_frame_t;

typedef struct fake_thread {
    uint64_t next, interpreter, frame, id;
} fake_thread_t;

/* All that a walk may come to lies here, on pages of its own. */
typedef struct fake_python {
    uint64_t interpreter_next, interpreter_threads;
    fake_thread_t threads[3];
    fake_frame_t frames[FRAMES];
    fake_code_t codes[CODES];
    uint64_t strings[8][16], table[8];
} fake_python_t;

static struct {
    uint64_t words[PUBLISHED], interpreters;
} runtime __attribute__((section(".PyRuntime"), used));

static fake_python_t *fake;

static uint64_t address(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

static void publish(void)
{
    static const struct {
        uint32_t word;
        size_t offset;
    } of[] = {{5, 8 * PUBLISHED},
              {8, offsetof(fake_python_t, interpreter_next)},
              {9, offsetof(fake_python_t, interpreter_threads)},
              {21, offsetof(fake_thread_t, next)},
              {22, offsetof(fake_thread_t, interpreter)},
              {23, offsetof(fake_thread_t, frame)},
              {24, offsetof(fake_thread_t, id)},
              {29, offsetof(fake_frame_t, back)},
              {30, offsetof(fake_frame_t, code)},
              {31, offsetof(fake_frame_t, at)},
              {33, offsetof(fake_frame_t, owner)},
              {35, offsetof(fake_code_t, file)},
              {37, offsetof(fake_code_t, name)},
              {38, offsetof(fake_code_t, table)},
              {39, offsetof(fake_code_t, first_line)},
              {43, offsetof(fake_code_t, bytes)},
              {70, 40}};

    memcpy(&runtime.words[0], "xdebugpy", 8);
    runtime.words[1] = 0x030d00f0;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        runtime.words[of[i].word] = of[i].offset;
    runtime.interpreters = address(fake);
}

/* A compact str of 1, 2 or 4 bytes a character; ascii: behind the shorter head. */
static uint64_t string_put(uint32_t place, uint32_t kind, bool ascii, const void *text,
                           uint64_t length)
{
    uint64_t *at = fake->strings[place];

    at[2] = length;
    ((uint32_t *)at)[8] = kind << 2 | 1u << 5 | (ascii ? 1u << 6 : 0);
    memcpy((uint8_t *)at + (ascii ? 40 : 56), text, length * kind);
    return address(at);
}

static void frame_put(uint32_t place, uint32_t code, uint64_t byte, uint64_t owner)
{
    fake->frames[place] =
        (fake_frame_t){address(&fake->codes[code]),
                       place + 1 < FRAMES ? address(&fake->frames[place + 1]) : 0,
                       address(fake->codes[code].bytes) + byte, owner};
}

/* Threads: one without frames, this one, one that another waits in. */
static void make(void)
{
    static const uint16_t named[] = {'/', 0x20ac, '.', 'p', 'y'};
    static const uint32_t far[] = {'f', 0x1f600};
    static const uint8_t table[] = {0x80, 0x00, 0xd8, 0x08,
                                    0x09}; /* the line, then one more */

    memset(fake, 0, sizeof *fake);
    memcpy((uint8_t *)fake->table + 32, table, sizeof table);
    fake->table[2] = sizeof table;
    fake->codes[0] = (fake_code_t){.first_line = 7,
                                   .file = string_put(0, 1, true, "/a/train.py", 11),
                                   .name = string_put(1, 1, true, "step", 4),
                                   .table = address(fake->table)};
    fake->codes[1] = (fake_code_t){.first_line = 30,
                                   .file = string_put(2, 2, false, named, 5),
                                   .name = string_put(3, 4, false, far, 2),
                                   .table = address(fake->table)};
    fake->codes[2] =
        (fake_code_t){.first_line = 50,
                      .file = string_put(4, 1, true, "/x/site-packages/t.py", 21),
                      .name = string_put(5, 1, true, "call", 4),
                      .table = address(fake->table)};
    frame_put(0, 2, 0, 0);
    frame_put(1, 2, 2, 0);
    frame_put(2, 0, 2, PYLAYOUT_C_OWNER); /* an entry from C: not shown */
    frame_put(3, 0, 2, 0);
    frame_put(4, 2, 0, 0); /* a library's, further out */
    frame_put(5, 1, 1000, 0);
    fake->interpreter_threads = address(&fake->threads[0]);
    for (uint32_t i = 0; i < 3; i++)
        fake->threads[i] = (fake_thread_t){i < 2 ? address(&fake->threads[i + 1]) : 0,
                                           address(fake), 0, 1000 + i};
    fake->threads[1].frame = address(&fake->frames[0]);
}

#define TEXT                                                                             \
    "/x/site-packages/t.py:50 call < /x/site-packages/t.py:51 call < /a/train.py:8 step" \
    " < ... < /\xe2\x82\xac.py:? f\xf0\x9f\x98\x80"

static void check_frames(const pylayout_found_t *python)
{
    char text[PYSTACK_TEXT];
    pystack_t stack, other;

    CHECK(pystack_read(python, 1001, true, &stack));
    CHECK_EQ(stack.count, FRAMES - 1);
    CHECK(!stack.waits);
    pystack_write(python, &stack, text);
    CHECK_MSG(strcmp(text, TEXT) == 0, "%s", text);

    /* A thread without frames shows those of the one that has some. */
    CHECK(pystack_read(python, 1000, true, &other));
    CHECK(other.waits && other.count == stack.count);
    CHECK(pystack_hash(&other) != pystack_hash(&stack));

    /* Of two, those of the one that was seen in Python before, as it launched. */
    fake->threads[2].frame = address(&fake->frames[3]);
    CHECK(pystack_read(python, 1000, true, &other));
    CHECK_EQ(other.count, FRAMES - 1);
    CHECK(pystack_read(python, 1002, true, &other));
    CHECK(!other.waits && other.count == 3);
    CHECK(pystack_read(python, 1000, true, &other));
    CHECK_EQ(other.count, 3);

    /* Another instruction is another stack. */
    fake->frames[3].at += 2;
    CHECK(pystack_read(python, 1001, true, &other));
    CHECK(pystack_hash(&other) != pystack_hash(&stack));

    /* Nobody has frames. */
    fake->threads[1].frame = fake->threads[2].frame = 0;
    CHECK(!pystack_read(python, 1001, true, &other));
}

/* A thread's list, and frames, that come to no end. */
static void check_rings(const pylayout_found_t *python)
{
    char text[PYSTACK_TEXT];
    pystack_t stack;

    fake->threads[2].next = address(&fake->threads[0]);
    fake->frames[FRAMES - 1].back = address(&fake->frames[0]);
    CHECK(pystack_read(python, 1001, true, &stack));
    CHECK_EQ(stack.count, PYSTACK_FRAMES);
    pystack_write(python, &stack, text);
    fake->frames[0].owner = PYLAYOUT_C_OWNER; /* nothing but frames of C */
    fake->frames[0].back = address(&fake->frames[0]);
    CHECK(!pystack_read(python, 1001, true, &stack));
}

static uint64_t wrong(uint64_t *seed, const void *gone)
{
    const uint64_t ways[] = {0,
                             1,
                             UINT64_MAX,
                             address(gone),
                             address(gone) - 8,
                             address(fake) + *seed % sizeof *fake,
                             *seed,
                             1ull << 47};

    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return ways[*seed >> 61];
}

/* Words of all structures are wrong, one to four at a time. */
static void check_damage(const pylayout_found_t *python, const void *gone)
{
    const uint64_t words = sizeof *fake / 8;
    uint64_t seed = 1, shown = 0;

    for (uint32_t i = 0; i < DAMAGES; i++) {
        char text[PYSTACK_TEXT];
        pystack_t stack;

        make();
        for (uint32_t k = 0; k <= i % 4; k++) {
            const uint64_t value = wrong(&seed, gone);

            ((uint64_t *)fake)[(seed >> 20) % words] = value;
        }
        if (!pystack_read(python, 1000 + i % 3, i % 2, &stack))
            continue;
        CHECK(stack.count <= PYSTACK_FRAMES);
        pystack_write(python, &stack, text);
        CHECK(strlen(text) < PYSTACK_TEXT);
        shown += strcmp(text, TEXT) == 0;
    }
    CHECK(shown > 0); /* most words are of none of these frames */
}

static uint32_t line(pylines_t kind, const char *table, size_t bytes, int32_t byte)
{
    peek_t p;

    peek_begin(&p);
    return pylines_find(&p, kind, address(table), bytes, 1, byte);
}

/* One function, as the compilers of 3.8, 3.10 and 3.12 have it. */
static void check_lines(void)
{
    static const char deltas[] =
        "\x00\x01\x04\x02\x04\x01\x02\x01\x02\xff\x04\x7f\x00\x7f\x00\x31";
    static const char ranges[] =
        "\x04\x01\x04\x02\x02\x01\x02\x01\x04\xff\x00\x7f\x00\x7f\x08\x31";
    static const char places[] = "\x80\x00\xd8\x08\x09\x80\x41\xe1\x07\x08\xd8\x0d\x0e\xd8"
                                 "\x0d\x0e\xf1\x03\x01\x0e\x0f"
                                 "\x88\x01\xf4\x5e\x09\x00\x0c\x0d\x88\x51\x8b\x34\x80\x4b";
    static const struct {
        int32_t byte;
        uint32_t line, place; /* place: of 3.12, whose code is longer */
    } wanted[] = {{-1, 1, 1}, {0, 2, 1},    {2, 2, 2},     {4, 4, 2},
                  {6, 4, 4},  {9, 5, 4},    {10, 6, 5},    {12, 5, 6},
                  {14, 5, 5}, {16, 308, 5}, {23, 308, 308}};

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const int32_t byte = wanted[i].byte;

        CHECK_EQ(line(PYLINES_DELTAS, deltas, sizeof deltas - 1, byte), wanted[i].line);
        CHECK_EQ(line(PYLINES_RANGES, ranges, sizeof ranges - 1, byte), wanted[i].line);
        CHECK_EQ(line(PYLINES_LOCATIONS, places, sizeof places - 1, byte), wanted[i].place);
    }
    CHECK_EQ(line(PYLINES_RANGES, ranges, sizeof ranges - 1, 24), 0);
    CHECK_EQ(line(PYLINES_LOCATIONS, places, sizeof places - 1, 42), 0);
    CHECK_EQ(line(PYLINES_LOCATIONS, NULL, 40, 2), 0);
}

/* Whole, across windows, up to where memory ends and not behind it. */
static void check_peek(const uint8_t *end)
{
    static uint8_t from[3 * PEEK_WINDOW], to[sizeof from];
    peek_t p;

    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (uint8_t)(i * 7 + i / 256);
    for (size_t skip = 0; skip < 2 * PEEK_WINDOW; skip += 511) {
        peek_begin(&p);
        CHECK(peek_bytes(&p, address(from) + skip, to, sizeof from - skip));
        CHECK(memcmp(to, from + skip, sizeof from - skip) == 0);
    }
    CHECK(peek_bytes(&p, address(end) - 8, to, 8));
    CHECK(!peek_bytes(&p, address(end) - 8, to, 9));
    CHECK(!peek_bytes(&p, UINT64_MAX - 3, to, 8)); /* around the end of all addresses */
}

/* Published by a version that is read, by a later one, by one without the lock. */
static void check_versions(pylayout_found_t *python)
{
    CHECK_EQ(pylayout_find(python), PYLAYOUT_READY);
    CHECK_EQ(python->minor, 13);
    runtime.words[1] = 0x030e00f0;
    CHECK_EQ(pylayout_find(python), PYLAYOUT_UNKNOWN);
    CHECK_EQ(python->minor, 14);
    runtime.words[1] = 0x030d00f0;
    runtime.words[2] = 1;
    CHECK_EQ(pylayout_find(python), PYLAYOUT_UNKNOWN);
    CHECK(python->free_threaded);
    runtime.words[2] = 0;
    CHECK_EQ(pylayout_find(python), PYLAYOUT_READY);
}

int main(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t bytes = (sizeof *fake + page - 1) / page * page;
    pylayout_found_t python;
    uint8_t *pages;

    if (!peek_works())
        SKIP("the kernel copies nothing: process_vm_readv is refused here");
    pages = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                 -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK_EQ(munmap(pages + bytes, page), 0);
    fake = (fake_python_t *)(void *)(pages + bytes -
                                     sizeof *fake); /* ends where memory does */
    check_peek(pages + bytes);
    publish();
    check_versions(&python);
    make();
    check_frames(&python);
    make();
    check_rings(&python);
    check_damage(&python, pages + bytes);
    check_lines();
    return 0;
}
