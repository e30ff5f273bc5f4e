#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy, with the rules of .clang-tidy, on the C files that BUILD_DIR compiles, or on the given ones of them.
#
# clang-tidy reads a file once for each of its commands, and many files are compiled for several programs. Here a file
# is read once more only where a macro that it names itself is defined in another way.
#
# The analyzer, which takes most of the time, leaves out what is only a test or a bench: those run under sanitizers. So do
# the slowest rules there: three quarters of the rest, for mistakes that a test shows when it runs.
# Kernels of tests and examples it does read, as it is in them that it sees the headers of the dialect; but shallowly,
# for these are the same headers in each of them: 2 s a file instead of 18. In the product it gives up a function's rarest
# paths at a third of its usual number of states.
set -euo pipefail
build_dir=${1:?usage: lint_tidy.sh BUILD_DIR [FILE...]}
shift
once=$(mktemp -d)
trap 'rm -rf "$once"' EXIT

mapfile -t files < <(python3 - "$build_dir" "$once" <<'PY'
import json, os, re, shlex, sys
seen, kept, names = set(), [], set()
for command in json.load(open(os.path.join(sys.argv[1], "compile_commands.json"))):
    path = os.path.realpath(os.path.join(command["directory"], command["file"]))
    name = os.path.relpath(path)
    if not name.endswith(".c") or name.startswith(".."):
        continue
    words = set(re.findall(r"\w+", open(path, encoding="utf-8").read()))
    flags = (re.match(r"-[DU](\w+)", flag) for flag in shlex.split(command["command"]))
    macros = tuple(flag.string for flag in flags if flag and flag[1] in words)
    if (name, macros) not in seen:
        seen.add((name, macros))
        kept.append(command)
        names.add(name)
json.dump(kept, open(os.path.join(sys.argv[2], "compile_commands.json"), "w"))
print("\n".join(sorted(names)))
PY
)
(($#)) || set -- "${files[@]}"
# clang-tidy also counts the warnings that it holds back: noise.
slowest=-bugprone-infinite-loop,-bugprone-suspicious-string-compare,-bugprone-unused-return-value
slowest+=,-bugprone-misplaced-widening-cast,-misc-redundant-expression
tidy() { # KIND FILE...
    local how=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang)
    case $1 in
    kernels) how+=(--extra-arg=mode=shallow "--checks=$slowest") ;;
    examples) how+=(--extra-arg=mode=shallow) ;;
    tests) how=("--checks=-clang-analyzer-*,$slowest") ;;
    product) how+=(--extra-arg=max-nodes=75000) ;;
    esac
    clang-tidy -p "$once" --quiet "${how[@]}" "${@:2}"
}
export -f tidy
export once slowest

# A process reads several files, since to start one costs as much as a third of a small file. Files that use va_list are
# read alone: version 14 finds a missing va_end in the first file of a process only.
plan() { # FILE...: prints KIND FILE..., a line for each process
    local file kind
    local -A files=() counts=()
    for file; do
        case $file in
        tests/kernels/*) kind=kernels ;;
        examples/*) kind=examples ;;
        tests/*) kind=tests ;;
        *) kind=product ;;
        esac
        if [[ $kind != tests ]] && grep -q '\bva_' "$file"; then
            echo "$kind $file"
            continue
        fi
        files[$kind]+=" $file"
        counts[$kind]=$((${counts[$kind]:-0} + 1))
        if ((counts[$kind] % 8 == 0)); then
            echo "$kind${files[$kind]}"
            files[$kind]=''
        fi
    done
    for kind in "${!files[@]}"; do
        [[ ! ${files[$kind]} ]] || echo "$kind${files[$kind]}"
    done
}
# shellcheck disable=SC2016 # the inner shell's
plan "$@" | xargs -L 1 -P "$(nproc)" bash -c 'tidy "$@"' bash 2> >(
    grep -v 'warnings\? generated\.$' >&2 || true)
