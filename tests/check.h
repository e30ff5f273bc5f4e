/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - what a test program says: CHECK this, or SKIP.
 *
 * The first check that fails prints its place and the values and ends the process with
 * 1, from any thread. A test passes by returning 0 from main. Host code only. */
#ifndef GPURT_TESTS_CHECK_H
#define GPURT_TESTS_CHECK_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a sanitizer is in: it takes signals and memory of its own. clang says so by
 * __has_feature, gcc by macros. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define CHECK_SANITIZED 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#        define CHECK_SANITIZED 1
#    endif
#endif
#ifndef CHECK_SANITIZED
#    define CHECK_SANITIZED 0
#endif

enum {
    CHECK_FAILED = 1,
    CHECK_SKIPPED = 77
};

/* _Exit: other threads of the test may still be at work on what exit would take apart. */
static inline void __attribute__((noreturn, format(printf, 3, 4)))
check_end(int code, const char *place, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fflush(stdout);
    fprintf(stderr, "%s: %s: ", place, code == CHECK_SKIPPED ? "skipped" : "FAILED");
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    _Exit(code);
}

static inline const char *check_text(const char *text)
{
    return text ? text : "(null)";
}

#define CHECK_STRING_(x) #x
#define CHECK_STRING(x)  CHECK_STRING_(x)
#define CHECK_HERE       (__FILE__ ":" CHECK_STRING(__LINE__))

#define SKIP(...) check_end(CHECK_SKIPPED, CHECK_HERE, __VA_ARGS__)

/* CHECK(i < n), or with words of the test's own: CHECK_MSG(i < n, "row %u", row) */
#define CHECK(condition) CHECK_MSG(condition, "%s", #condition)
#define CHECK_MSG(condition, ...) \
    ((condition) ? (void)0 : check_end(CHECK_FAILED, CHECK_HERE, __VA_ARGS__))

/* Integers of any type, statuses too: printed signed and in hex. */
#define CHECK_EQ(actual, expected)                                                  \
    do {                                                                            \
        const int64_t check_a_ = (int64_t)(actual), check_e_ = (int64_t)(expected); \
        CHECK_MSG(check_a_ == check_e_,                                             \
                  "%s is %lld (0x%llx), expected %s = %lld (0x%llx)", #actual,      \
                  (long long)check_a_, (unsigned long long)check_a_, #expected,     \
                  (long long)check_e_, (unsigned long long)check_e_);               \
    } while (0)

#define CHECK_STR(actual, expected)                                                  \
    do {                                                                             \
        const char *check_a_ = check_text(actual), *check_e_ = check_text(expected); \
        CHECK_MSG(strcmp(check_a_, check_e_) == 0, "%s is \"%s\", expected \"%s\"",  \
                  #actual, check_a_, check_e_);                                      \
    } while (0)

#define CHECK_CONTAINS(actual, part)                                                       \
    do {                                                                                   \
        const char *check_a_ = check_text(actual), *check_p_ = check_text(part);           \
        CHECK_MSG(strstr(check_a_, check_p_), "%s is \"%s\", which lacks \"%s\"", #actual, \
                  check_a_, check_p_);                                                     \
    } while (0)

#endif
