#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every lint of sources, or the named ones: lint.sh BUILD_DIR [NAME...]. Ends with the count. `circles` reads libraries, so
# it has to be named here; the test test_circles runs it where those are built.
set -uo pipefail
build_dir=${1:?usage: lint.sh BUILD_DIR [NAME...]}
shift
(($#)) || set -- format scripts tree floors atomics order paths words compilers tidy selftest

passed=0 failed=0 skipped=0
for lint; do
    case $lint in
    tidy) command=(tools/lint_tidy.sh "$build_dir") ;;
    circles) command=(python3 tools/lint_circles.py "$build_dir") ;;
    format | scripts | compilers) command=("tools/lint_$lint.sh") ;;
    *) command=(python3 "tools/lint_$lint.py") ;;
    esac
    start=$SECONDS
    "${command[@]}"
    case $? in
    0) verdict=ok && ((++passed)) ;;
    77) verdict=skipped && ((++skipped)) ;;
    *) verdict=FAILED && ((++failed)) ;;
    esac
    printf 'lint %-10s %s (%d s)\n' "$lint" "$verdict" $((SECONDS - start))
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
