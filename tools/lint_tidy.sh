#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy, with the rules of .clang-tidy, on the C files that BUILD_DIR compiles, or on the given ones of them.
set -euo pipefail
build_dir=${1:?usage: lint_tidy.sh BUILD_DIR [FILE...]}
shift

if (($# == 0)); then
    mapfile -t files < <(python3 - "$build_dir" <<'PY'
import json, os, sys
commands = json.load(open(os.path.join(sys.argv[1], "compile_commands.json")))
names = {os.path.relpath(os.path.realpath(c["file"])) for c in commands}
print("\n".join(sorted(n for n in names if n.endswith(".c") and not n.startswith(".."))))
PY
    )
    set -- "${files[@]}"
fi
# clang-tidy also counts the warnings that it holds back: noise.
printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" clang-tidy -p "$build_dir" --quiet 2> >(
    grep -v 'warnings\? generated\.$' >&2 || true)
