#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiler atomics, fences and volatile are named in atomic.h alone; warp and block intrinsics in dialect_cuda.h; what
reads the environment, or starts a program by name, in environ.c, of what runs in other people's programs; what makes a
file, in outfile.c; JSON is written in json.c."""
import re

from lint_files import Report, lines_of, matching, without_comments

ATOMICS = re.compile(
    r"\b(__atomic_\w+|__nv_atomic_\w+|__sync_(?:fetch|add|sub|or|and|xor|nand|bool|val|lock|synchronize)\w*"
    r"|atomic(?:Add|Sub|CAS|Exch|Min|Max|And|Or|Xor|Inc|Dec)\w*|__threadfence\w*|_Atomic|atomic_\w+_explicit)\b")
INTRINSICS = re.compile(
    r"\b(__syncthreads\w*|__syncwarp|__ballot_sync|__(?:any|all)_sync|__shfl_\w*sync|__match_\w+_sync"
    r"|__reduce_\w+_sync|__activemask|__nanosleep|__trap)\b")
VOLATILE = re.compile(r"(?<!asm )(?<!__asm__ )\b(?:volatile|__volatile__)\b(?!\s+sig_atomic_t)")

ENVIRON = re.compile(
    r"\b(environ\b(?!\.)|(?:(?:__)?(?:secure_)?getenv|posix_spawnp?|exec[lv]p?e?|execvpe|fexecve|execveat|popen|system)(?=\s*\())")

OUTFILE = re.compile(r"\b(O_CREAT|creat(?=\s*\()|fopen(?=\s*\([^;\"]*\"[wa]))")
JSON = re.compile(r'\\" ?:|\{\\"')  # a key, or the begin of an object, in a string

# Who else may, and why.
ATOMICS_TOO = {
    "runtime/include/gpurt/atomic.h": "this is where they are named",
    "tests/gpu/": "compares the wrappers with the bare intrinsics, instruction by instruction",
    "tests/bench/bench_atomic_bare_kernels.c": "CUDA's own, which bench_atomic has beside gpurt's",
}
INTRINSICS_TOO = {
    "runtime/include/gpurt/impl/dialect_cuda.h": "this is where they are named",
    "tests/gpu/": "compares the wrappers with the bare intrinsics, instruction by instruction",
}
ENVIRON_IN = ("runtime/", "cupti/")
ENVIRON_TOO = {
    "runtime/base/environ.c": "this is where they are named",
    "runtime/include/gpurt/impl/logport.h": "runs where gpurt is not linked: its one line depends on it, nothing else",
}
PRODUCT = ("runtime/", "logstore/", "tui/", "postmortem/", "cupti/")
OUTFILE_TOO = {
    "runtime/base/outfile.c": "this is where they are named",
    "runtime/box/boxmap.c": "a box where there is no memfd: O_EXCL, under a name of its own",
    "logstore/model/modelshare.c": "a model in a folder that is ours: O_EXCL, under a name of its own",
}
JSON_TOO = {
    "runtime/base/json.c": "this is where it is written",
}
VOLATILE_TOO = {
    "runtime/include/gpurt/atomic.h": "the types of TSan's own interface",
    "runtime/schedule/": "the types of TSan's own interface",
    "runtime/simt/sanitizer.c": "the types of TSan's own interface",
    "tests/": "keeps a compiler from leaving out the plain access that a test is about",
}


def allowed(name, table):
    return any(name == path or (path.endswith("/") and name.startswith(path)) for path in table)


report = Report()
for name in matching("*.c", "*.h", "*.cu", "*.cuh"):
    for number, line in enumerate(without_comments(name), 1):
        for found in ATOMICS.findall(line) if not allowed(name, ATOMICS_TOO) else ():
            report.say(name, number, f"{found} outside atomic.h", "use gpurt_<op>_<order>_<scope>_<type>")
        for found in INTRINSICS.findall(line) if not allowed(name, INTRINSICS_TOO) else ():
            report.say(name, number, f"{found} outside dialect_cuda.h", "use its name in warp.h or block.h")
        for found in ENVIRON.findall(line) if name.startswith(ENVIRON_IN) and not allowed(name, ENVIRON_TOO) else ():
            report.say(name, number, f"{found} outside environ.c", "use gpurt_env_get or gpurt_env_spawn: setuid programs run this")
        if VOLATILE.search(line) and not allowed(name, VOLATILE_TOO):
            report.say(name, number, "volatile orders nothing between threads", "use an atomic of atomic.h")
    for number, line in enumerate(lines_of(name), 1):  # with strings: they say what a file is opened for
        for found in OUTFILE.findall(line) if name.startswith(PRODUCT) and not allowed(name, OUTFILE_TOO) else ():
            report.say(name, number, f"{found} outside outfile.c", "use gpurt_outfile_open: a file there may be another user's")
        if JSON.search(line) and name.startswith(PRODUCT) and not allowed(name, JSON_TOO):
            report.say(name, number, "JSON by hand", "use json.h, which escapes strings and puts the commas")
report.end()
