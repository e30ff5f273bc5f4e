#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy, with the rules of .clang-tidy, on the C files that BUILD_DIR compiles, or on the given ones of them.
#
# clang-tidy reads a file once for each of its commands, and many files are compiled for several programs. Here a file
# is read once more only where a macro that it names itself is defined in another way.
#
# The analyzer goes through a function's paths until it has seen so many states, 225,000 of its own accord. What is only
# a test or a bench gets a third; kernels of tests do not, as it is in them that it sees the headers of the dialect.
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
        if name.startswith("tests/") and not name.startswith("tests/kernels/"):
            command["command"] += " -Xclang -analyzer-config -Xclang max-nodes=75000"
        kept.append(command)
        names.add(name)
json.dump(kept, open(os.path.join(sys.argv[2], "compile_commands.json"), "w"))
print("\n".join(sorted(names)))
PY
)
(($#)) || set -- "${files[@]}"
# clang-tidy also counts the warnings that it holds back: noise.
printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" clang-tidy -p "$once" --quiet 2> >(
    grep -v 'warnings\? generated\.$' >&2 || true)
