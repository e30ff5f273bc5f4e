#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# log_arguments.sh LIBRARY CXX...: arguments of messages in C++ that are no numbers of C (enum class, std::byte, bool, classes
# that float takes) did not compile, nor did words in constexpr functions, and a mistake was told in 80 KB. Each compiler takes them, they read as they should, and a
# mistake is one sentence within some lines.
set -euo pipefail
library=$(realpath "$1")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
# shellcheck source=tests/scratch.sh
. "$root/tests/scratch.sh"

cat >right.cc <<'END'
#include <gpurt/device.h>
#include <gpurt/gpurt.h>

#include <atomic>
#include <cstddef>

enum class Color : unsigned char { red, green };
enum class Wide : long long { least = -5000000000 };
enum Plain { one = 1 };
struct Half { /* as __half */
    unsigned short bits;
    operator float() const { return bits / 2.0f; }
    Half operator+() const { return *this; }
};
struct Bits {
    unsigned low : 3;
};
struct Inside {
    static constexpr int most = 7; /* has no address in C++14 */
};
struct args {
    uint32_t n;
};
template <class T> GPURT_DEV void compared(T a, T b)
{
    GPURT_ASSERT_EQ(a, b);
}

/* The words in constexpr functions: of a constant nothing is logged, and what is promised holds. */
GPURT_DEV constexpr int twice(int n)
{
    GPURT_ASSERT(n > 0, "%d", n);
    GPURT_ASSERT_LT(n, 1000, "of %d", n);
    GPURT_INFO("twice %d", n);
    return 2 * n;
}
static_assert(twice(2) == 4, "known to the compiler");
struct Row {
    int cells[4];
    template <class T> constexpr T at(int i) const
    {
        GPURT_CHECK_INDEX(cells, i, 4, "of %d", cells[0]);
        GPURT_CHECK_BOUNDS(i, 4);
        GPURT_LOG_EVERY(3, GPURT_LEVEL_WARN, "at %d", cells[i]);
        if (cells[i] == 9)
            GPURT_UNREACHABLE("nine at %d", i);
        return static_cast<T>(cells[i]);
    }
};
static_assert(Row{{1, 2, 3, 4}}.at<long>(2) == 3, "known to the compiler");

GPURT_KERNEL(k, struct args, p)
{
    Bits bits = {5};
    std::atomic<int> number(9); /* cannot be copied */
    char text[] = "text";

    if (p->n == 3)
        bits.low = (twice(-1) + Row{{1, 2, 3, 4}}.at<int>(3)) & 7;
    compared(Color::red, p->n ? Color::red : Color::green);
    GPURT_INFO("%d %lld", Color::green, Wide::least);
    GPURT_ASSERT(p->n != 1, "%d %d %d %g %lld %d %d %d %d %p %s %c", Color::green, std::byte{7}, true, Half{3},
                 Wide::least, one, bits.low, Inside::most, number, nullptr, "text", text[0]);
    GPURT_ASSERT_LT(Half{5}, Half{static_cast<unsigned short>(p->n)});
}

int main()
{
    gpurt_options_t options = {};
    gpurt_launch_t launch = {};
    gpurt_t *rt = nullptr;

    options.struct_size = sizeof options;
    options.backend = GPURT_BACKEND_CPU;
    launch.grid = {1, 1, 1};
    launch.block = {1, 1, 1};
    if (gpurt_open(&options, &rt, NULL) != GPURT_OK)
        return 1;
    for (uint32_t n = 0; n < 4; n++) {
        struct args args = {n};

        if (gpurt_launch(rt, &launch, k, &args, NULL) != GPURT_OK || gpurt_sync(rt, NULL) != GPURT_E_PANIC)
            return 1;
    }
    return gpurt_close(rt, NULL) != GPURT_OK;
}
END

cat >constant.cc <<'END'
#include <gpurt/device.h>
GPURT_DEV constexpr int half(int n)
{
    GPURT_ASSERT(n % 2 == 0, "%d", n);
    return n / 2; }
constexpr int two = half(4), three = half(7);
int sum() { return two + three; }
END

compile() { "${cxx[@]}" -x c++ -Wall -Wextra -Werror -Wno-missing-field-initializers "-I$root/runtime/include" "$@"; }

refused() { # TEXT STATEMENT
    printf '#include <gpurt/device.h>\n#include <string>\nstruct args { uint32_t n; };\nGPURT_KERNEL(k, struct args, p)\n{\n    (void)p;\n    %s\n}\n' \
        "$2" >wrong.cc
    ! compile -std=c++17 -c wrong.cc -o wrong.o >said 2>&1 || fail "${cxx[*]}: $2 compiles"
    grep -q "error: .*$1" said || fail "${cxx[*]}: $2: no '$1': $(<said)"
    (($(wc -c <said) <= 4000 + 4 * ${#2} && $(grep -c error: said) == 1)) ||
        fail "${cxx[*]}: $2: $(wc -c <said) bytes, $(grep -c error: said) errors: $(head -c 2000 said)"
}

many=$(seq -s, 1 255)
for name in "${@:2}"; do
    [[ $name ]] || continue
    cxx=("$name")
    compile -std=c++17 right.cc -x none "$library" -lpthread -ldl -o right
    ./right >said 2>&1 || fail "$name: ends with $?: $(<said)"
    for text in 'a == b does not hold: 0 and 1' '1 7 1 1.5 -5000000000 1 5 7 9 0x0 text t' 'does not hold: 2.5 and 1' 'n > 0 does not hold: -1'; do
        grep -qF "$text" said || fail "$name: no '$text': $(<said)"
    done
    ! compile -std=c++17 -c constant.cc -o constant.o >said 2>&1 || fail "$name: a constant that breaks a promise compiles"
    [[ $(grep -c 'constant\.cc:6:' said) != 0 && $(grep -c 'error: ' said) != 0 ]] || fail "$name: a constant that breaks a promise: $(<said)"
    refused 'format and arguments do not match' 'GPURT_INFO("%s", p->n);'
    refused 'format and arguments do not match' 'GPURT_ASSERT_LT(p->n, 3, "%s", p->n);'
    refused 'a message has at most 12 arguments' "GPURT_INFO(\"x\", ${many%%,14,*});"
    refused 'a message has at most 12 arguments' "GPURT_INFO(\"x\", ${many%%,65,*});"
    refused 'a message has at most 12 arguments' "GPURT_INFO(\"x\", ${many%%,66,*});"
    refused 'a message has at most 12 arguments' "GPURT_ASSERT(p->n, \"x\", $many);"
    refused 'an argument is a number, an enum, a pointer or a text' 'GPURT_INFO("%d", std::string());'
done
