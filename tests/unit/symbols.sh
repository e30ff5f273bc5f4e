#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# symbols.sh LIBRARY...: no two of our libraries define the same global symbol. A program that links both would get the
# one that the linker meets first, without a word.
set -euo pipefail
command -v nm >/dev/null || { echo 'SKIP: no nm (Debian: binutils)' && exit 77; }
(($# > 1)) || { echo 'symbols.sh: name at least two libraries' >&2 && exit 2; }
doubled=$(for library; do
    nm --defined-only --extern-only "$library" | awk 'NF == 3 && $2 ~ /[BDRT]/ { print $3 }' | sort -u
done | sort | uniq -d)
[[ ! $doubled ]] || {
    echo "defined in two libraries: $doubled"
    exit 1
}
