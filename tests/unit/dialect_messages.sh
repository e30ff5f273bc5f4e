#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dialect_messages.sh [LIBRARY]        holds docs/DIALECT.md to what compilers and runs really say
# dialect_messages.sh --show ID [LIBRARY]   prints what they say about one mistake, for who writes the page
#
# The page's tables are the expectations, dialect_mistakes.txt beside this file makes the mistakes. A row that begins with
# **ID** has in its third column, parted by <br>, WHO: `TEXT` or WHO warns: `TEXT` (... for what varies) or WHO: silent.
# WHO is gcc, g++, nvcc, ld, run (these three with flags), race, asan, or a variable that a run is given. A compiler that
# a row leaves out must be silent. Also held: the page's first program works.
#
# LIBRARY is libgpurt.a. What cannot be asked here (no library, no nvcc, no sanitizer) is skipped, in sight.
set -euo pipefail
export LC_ALL=C
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
root=$(realpath "$here/../..")
page=$root/docs/DIALECT.md
nvcc=$(PATH="$PATH:/usr/local/cuda/bin" command -v nvcc || true)
# Other versions have other words. They are held to refusing, or warning, but not to the words.
gcc_quoted=12 nvcc_quoted=13.0

show=
if [[ ${1:-} == --show ]]; then
    show=${2:?usage: dialect_messages.sh --show ID [LIBRARY]}
    shift 2
fi
library=${1:+$(realpath "$1")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/code" "$work/said" "$work/bin"

# ---- the mistakes as files -----------------------------------------------------------------------------------------
awk -v directory="$work/code/" '
    /^==== / {
        file = directory $2 ".c"
        kind[$2] = $3 ? $3 : "text"
        print "#include <gpurt/device.h>" >file
        if ($3 == "program") print "#include <gpurt/gpurt.h>\n#include <stdio.h>" >file
        print "struct args {\n    uint32_t *words;\n    uint32_t n;\n};" >file
        next
    }
    /^---- / { file = "" }
    file { print >file }
    END {
        for (id in kind) {
            print id "\t" kind[id] >(directory "kinds")
            if (kind[id] == "program") print "#include \"host.h\"" >(directory id ".c")
        }
    }' "$here/dialect_mistakes.txt"

# The rest of a program: opens, launches k or calls host, prints what API and report say.
cat >"$work/code/host.h" <<'C'
#ifndef GRID
#define GRID 1
#endif
#ifndef BLOCK
#define BLOCK 32
#endif
#ifndef LAUNCH
#define LAUNCH
#endif

#ifndef HOST
static gpurt_status_t host(gpurt_t *rt, gpurt_error_t *err)
{
    gpurt_launch_t launch = {.grid = {GRID, 1, 1}, .block = {BLOCK, 1, 1}, LAUNCH};
    static uint32_t words[1024]; /* the mistake host-pointer: it is no device memory */
    struct args args = {words, 1024};
    gpurt_status_t st = gpurt_launch(rt, &launch, k, &args, err);

    if (st == GPURT_OK)
        st = gpurt_sync(rt, err);
    printf("words[0] is 0x%08x\n", words[0]);
    return st;
}
#endif

int main(void)
{
    static char report[1 << 16];
    gpurt_error_t err = {0};
    gpurt_t *rt;
    gpurt_status_t st = gpurt_open(NULL, &rt, &err);

    if (st == GPURT_OK)
        st = host(rt, &err);
    if (st != GPURT_OK)
        printf("%s: %s\n", gpurt_status_name(st), err.text);
    gpurt_report(rt, report, sizeof report);
    fputs(report, stdout);
    gpurt_close(rt, NULL);
    return st == GPURT_OK ? 0 : 1;
}
C

# ---- asking ----------------------------------------------------------------------------------------------------------
headers=(-I"$root/runtime/include" -I.)
gcc_flags=(-std=gnu11 -x c "${headers[@]}")
gxx_flags=(-std=c++17 -x c++ "${headers[@]}" -Wno-missing-field-initializers)
settings=(GPURT_BACKEND=cpu GPURT_WORKERS=2 GPURT_SPIN_LIMIT_MS=200 TSAN_OPTIONS=halt_on_error=1:exitcode=66)
# clang before 18 cannot place its shadow memory under the widest address randomisation.
fixed_addresses=()
if setarch "$(uname -m)" -R true 2>/dev/null; then
    fixed_addresses=(setarch "$(uname -m)" -R)
fi

run_program() { # ID PROGRAM "COMPILER FLAG..." VAR=VALUE...
    local compiler
    read -ra compiler <<<"$3"
    "${compiler[@]}" "${gcc_flags[@]}" -g -O1 "$1.c" -x none "$library" -rdynamic -lpthread -ldl -o "$2" || return
    timeout 60 "${fixed_addresses[@]}" env "${settings[@]}" "${@:4}" "$2"
}

kind_of() { # ID
    awk -v id="$1" '$1 == id { print $2 }' "$work/code/kinds"
}

said_by() { # ID WHO: prints it; ends as WHO does
    local id=$1 who=$2 out=$work/bin/$1.${2//[^a-z0-9]/_} flags pass
    cd "$work/code"
    case $who in
    gcc) gcc "${gcc_flags[@]}" -Wall -Wextra -Wc++-compat -fsyntax-only "$id.c" ;;
    g++) g++ "${gxx_flags[@]}" -Wall -Wextra -fsyntax-only "$id.c" ;;
    nvcc*)
        # Its second pass, for the host, takes most of the time, and reads what g++ is asked about, too.
        read -ra flags <<<"${who#nvcc}"
        pass=-ptx
        [[ $(kind_of "$id") != host ]] || pass=-c
        "$nvcc" -std=c++17 -x cu "${flags[@]:--arch=sm_90}" "${headers[@]}" "$pass" "$id.c" -o "$out.cuda"
        ;;
    ld)
        gcc "${gcc_flags[@]}" -DPART=1 -c "$id.c" -o "$out.1.o" &&
            gcc "${gcc_flags[@]}" -DPART=2 -c "$id.c" -o "$out.2.o" &&
            gcc "$out.1.o" "$out.2.o" "$library" -lpthread -ldl -o "$out"
        ;;
    run*) run_program "$id" "$out" "gcc ${who#run}" ;;
    race) run_program "$id" "$out" "clang -fsanitize=thread" GPURT_SEED=1 ;;
    asan) run_program "$id" "$out" "gcc -fsanitize=address" ;;
    GPURT_*) run_program "$id" "$out" gcc "$who" ;;
    *) echo "who is $who?" && return 1 ;;
    esac 2>&1
}

# Whom a mistake concerns, whether its row names them or not.
whos_of() { # KIND
    case $1 in
    text | host) printf '%s\n' gcc g++ nvcc ;;
    parts) echo ld ;;
    program) echo run ;;
    esac
}

first_lines() { # FILE
    head -n 8 "$1" | cut -c1-200 | sed 's/^/    /'
}

if [[ $show ]]; then
    kind=$(kind_of "$show")
    [[ $kind ]] || { echo "no mistake $show" && exit 1; }
    cat "$work/code/$show.c"
    mapfile -t whos < <(whos_of "$kind")
    [[ $kind != program ]] || whos+=(GPURT_CHECK=strict GPURT_CHECK=scope race asan)
    for who in "${whos[@]}"; do
        printf -- '---- %s\n' "$who"
        (said_by "$show" "$who") | cut -c1-200 | head -n 20 || true
    done
    exit
fi

# ---- what the page says: ID, WHO, says or warns or silent, TEXT ------------------------------------------------------
awk -F ' [|] ' '/^\| \*\*[a-z0-9-]+\*\* / {
    id = $1
    gsub(/^\| \*\*|\*\*.*/, "", id)
    n = split($3, items, "<br>")
    for (i = 1; i <= n; i++) {
        who = text = items[i]
        if (who ~ /^[^`]* warns: `/) verb = "warns"
        else if (who ~ /: silent$/) verb = "silent"
        else verb = "says"
        sub(/( warns)?: .*/, "", who)
        if (verb == "silent") text = ""
        sub(/^[^`]*/, "", text)
        while (text ~ /^`.*`$/) text = substr(text, 2, length(text) - 2)
        print id "\t" who "\t" verb "\t" text
    }
}' "$page" >"$work/rows"

checked=0 bad=0
complain() {
    printf 'dialect_messages: %s\n' "$*"
    bad=$((bad + 1))
}
same_lists() { # WHAT FILE FILE
    checked=$((checked + 1))
    diff "$2" "$3" >"$work/diff" || complain "$1 differ:"$'\n'"$(grep '^[<>]' "$work/diff")"
}
cut -f1 "$work/rows" | sort -u >"$work/told"
cut -f1 "$work/code/kinds" | sort >"$work/made"
same_lists 'the rows of the page (<) and the mistakes of dialect_mistakes.txt (>)' "$work/told" "$work/made"

# Only there a division by zero faults.
[[ $(uname -m) == x86_64 ]] || sed -i '/^divide-zero\t/d' "$work/rows"

# ---- who is here -----------------------------------------------------------------------------------------------------
declare -A absent=()
miss() { # WHO WHY
    absent[$1]=1
    echo "skipped: $1: $2"
}
try() { # WHO: can a program that is right be run so?
    (said_by right "$1") >"$work/said/right" 2>&1 || miss "$1" "$(grep -m 1 -v '^=*$' "$work/said/right")"
}
cat >"$work/code/right.c" <<'C'
#include <gpurt/device.h>
#include <gpurt/gpurt.h>
#include <stdio.h>
struct args { uint32_t *words; uint32_t n; };
GPURT_KERNEL(k, struct args, p)
{
    p->words[gpurt_lane()] = p->n;
}
#include "host.h"
C
[[ $nvcc ]] || miss nvcc 'it is not installed'
if [[ $library ]]; then
    try run # fails with a library built for a sanitizer: it does not link into a plain program
else
    miss run 'no libgpurt.a was given'
fi
if [[ ${absent[run]:-} ]]; then
    for who in ld race asan; do miss "$who" 'as run'; done
else
    try race
    try asan
fi

is_here() { # WHO
    local word=${1%% *}
    [[ $word != GPURT_* ]] || word=run
    [[ ! ${absent[$word]:-} ]]
}
gcc_exact=yes nvcc_exact=yes
if [[ $(gcc -dumpversion) != "$gcc_quoted" ]]; then
    gcc_exact=
    echo "the words of gcc $(gcc -dumpversion) are not compared: the page quotes gcc $gcc_quoted"
fi
if [[ $nvcc && $("$nvcc" --version) != *"release $nvcc_quoted,"* ]]; then
    nvcc_exact=
    echo "the words of this nvcc are not compared: the page quotes nvcc $nvcc_quoted"
fi
is_exact() { # WHO
    case $1 in
    gcc | g++ | ld) [[ $gcc_exact ]] ;;
    nvcc*) [[ $nvcc_exact ]] ;;
    esac
}

# ---- everything asked, several at once -------------------------------------------------------------------------------
{
    cut -f1,2 "$work/rows"
    while read -r id kind; do
        [[ $kind == program ]] || whos_of "$kind" | sed "s/^/$id\t/"
    done <"$work/code/kinds"
} | sort -u >"$work/questions"

said_file() { # ID WHO
    printf '%s/said/%s.%s' "$work" "$1" "${2//[^a-zA-Z0-9=+-]/_}"
}
ask() { # ID WHO
    local file status=0
    file=$(said_file "$1" "$2")
    (said_by "$1" "$2") >"$file" || status=$?
    echo "$status" >"$file.status"
}
while IFS=$'\t' read -r id who; do
    if [[ -e $work/code/$id.c ]] && is_here "$who"; then
        while (($(jobs -pr | wc -l) >= $(nproc))); do wait -n || true; done
        ask "$id" "$who" &
    fi
done <"$work/questions"
wait

# ---- comparing -------------------------------------------------------------------------------------------------------
holds() { # TEXT LINE: the parts of TEXT between ... stand in LINE, in order
    local rest=$2 part
    while IFS= read -r part; do
        [[ $rest == *"$part"* ]] || return 1
        rest=${rest#*"$part"}
    done <<<"${1//.../$'\n'}"
}
finds() { # VERB TEXT FILE: in one line; that of a warning says so
    local line
    while IFS= read -r line; do
        if [[ $1 != warns || $line == *arning* ]] && holds "$2" "$line"; then
            return 0
        fi
    done <"$3"
    return 1
}
is_loud() { # FILE
    grep -qiE 'error|warning|unimplemented' "$1"
}
is_so() { # WHO VERB TEXT FILE
    local who=$1 verb=$2 text=$3 file=$4 status
    status=$(<"$file.status")
    case $verb in
    silent) ((status == 0)) && ! is_loud "$file" && return ;;
    warns) ((status == 0)) && is_loud "$file" || return ;;
    # A run can end well and show a value. A compiler that does not only warn refuses.
    says) [[ $who == run* || $who == GPURT_* ]] || ((status != 0)) || return ;;
    esac
    [[ $verb != silent ]] || return
    ! is_exact "$who" || finds "$verb" "$text" "$file"
}

while IFS=$'\t' read -r id who verb text; do
    file=$(said_file "$id" "$who")
    [[ -e $file.status ]] || continue
    checked=$((checked + 1))
    is_so "$who" "$verb" "$text" "$file" ||
        complain "$id: the page has \"$who $verb${text:+: $text}\", but $who ends with $(<"$file.status") and says:
$(first_lines "$file")"
done <"$work/rows"

# Whom a row leaves out.
while IFS=$'\t' read -r id who; do
    file=$(said_file "$id" "$who")
    if [[ ! -e $file.status ]] || grep -q "^$id"$'\t'"$who"$'\t' "$work/rows"; then
        continue
    fi
    checked=$((checked + 1))
    if ! is_so "$who" silent '' "$file"; then
        complain "$id: the page has no word of $who, which says:
$(first_lines "$file")"
    fi
done <"$work/questions"

# ---- the first program -----------------------------------------------------------------------------------------------
awk '/^<!-- first\.c:/ { found = 1 } found && /^```c$/ { inside = 1; next } inside && /^```$/ { exit } inside' \
    "$page" >"$work/code/first.c"
first_program() { # WHO COMMAND...
    is_here "$1" || return 0
    checked=$((checked + 1))
    (cd "$work/code" && "${@:2}") >"$work/said/first" 2>&1 || complain "the page's first.c fails with ${*:2:1}:
$(first_lines "$work/said/first")"
}
careful=(-Wall -Wextra -Werror)
end=(-x none "$library" -lpthread -ldl)
first_program run gcc "${gcc_flags[@]}" -Wc++-compat "${careful[@]}" first.c "${end[@]}" -o first
first_program run env GPURT_BACKEND=cpu ./first
first_program run g++ "${gxx_flags[@]}" "${careful[@]}" first.c "${end[@]}" -o first++
first_program run env GPURT_BACKEND=cpu ./first++
first_program nvcc "$nvcc" -std=c++17 -x cu -arch=sm_90 -Werror all-warnings "${headers[@]}" -c first.c -o first.o

printf 'dialect_messages: %d statements of the page checked, %d wrong\n' "$checked" "$bad"
((bad == 0))
