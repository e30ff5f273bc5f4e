#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Can each lint fail? Plants one mistake a time in an empty tree and wants the lint to name its file and line, and
wants the mended text to pass."""
import os
import shutil
import subprocess
import sys
import tempfile

TOOLS = os.path.dirname(os.path.abspath(__file__))
SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n"
STORE = "gpurt_store_release_sys_u32(&x, 1);"
LOAD = "gpurt_load_acquire_sys_u32(&x);"
PAIR = {"runtime/simt/a.c": f"{STORE} /* R1.rel */\n", "runtime/simt/b.c": f"{LOAD} /* R1.acq */\n",
        "docs/MEMORY_ORDER.md": "| R1 | why |\n"}

# A sentence of 31 words, and a short one; the subject of a commit, which no file holds.
WORDY = " ".join(["word"] * 20) + " {}" + " ".join(["word"] * 11) + ".\n"
PLAIN = "A lane waits. "
SUBJECT = "subject of a commit"
FIGURE = {"docs/measured/targets.tsv": "figure\ttarget\tunit\trows\tcase\tpeer\nf\t<= 2\tms\ta\tc\t-\n",
          "docs/measured/a.tsv": "# date: 2026-01-01\nb\tc\t1000\tus\t-\t-\t-\n"}

# Two public headers, and the list that gives them floors.
WARP, BASE = "runtime/include/gpurt/warp.h", "runtime/include/gpurt/base.h"
HEADERS = {"runtime/include/CMakeLists.txt": "gpurt_public_headers(FLOOR 0\n    base.h)\n"
           "gpurt_public_headers(FLOOR 2 # kernels\n    warp.h)\n"}

# lint, file and line it must name, what its report says, the tree with the mistake, the tree without it
CASES = [
    ("tree", "a.c:1:", "licence", {"a.c": "int a;\n"}, {"a.c": SPDX + "int a;\n"}),
    ("tree", "a.c:2:", "blanks", {"a.c": SPDX + "int a; \n"}, {"a.c": SPDX + "int a;\n"}),
    ("tree", "a.c:2:", "newline", {"a.c": SPDX + "int a;"}, {"a.c": SPDX + "int a;\n"}),
    ("tree", "y/a.h:1:", "second", {"x/a.h": SPDX, "y/a.h": SPDX}, {"x/a.h": SPDX, "y/b.h": SPDX}),
    ("tree", "run.gplog:1:", "no text", {"run.gplog": "a\0b"}, {"tests/run.gplog": "a\0b"}),
    ("tree", "Cap.c:1:", "file name", {"Cap.c": SPDX}, {"cap.c": SPDX}),
    ("floors", "runtime/base/a.c:1:", "floor 0 includes",
     {"runtime/base/a.c": '#include "simt.h"\n', "runtime/simt/simt.h": ""},
     {"runtime/host/a.c": '#include "simt.h"\n', "runtime/simt/simt.h": ""}),
    ("floors", "runtime/include/gpurt/base.h:2:", "floor 0 includes",
     {**HEADERS, BASE: "\n#include <gpurt/warp.h>\n", WARP: ""},
     {**HEADERS, WARP: "\n#include <gpurt/base.h>\n", BASE: ""}),
    ("floors", "tui/a.c:1:", "private to its room",
     {"tui/a.c": '#include "simt.h"\n', "runtime/simt/simt.h": ""},
     {"tui/a.c": '#include "b.h"\n', "tui/common/b.h": ""}),
    ("floors", "runtime/include/gpurt/new.h:1:", "in no room",
     {**HEADERS, "runtime/include/gpurt/new.h": ""}, {**HEADERS, WARP: ""}),
    ("atomics", "runtime/a.c:2:", "outside atomic.h",
     {"runtime/a.c": "\n__atomic_load_n(p, 0);\n"}, {"runtime/a.c": "/*\n__atomic_load_n */\n"}),
    ("atomics", "examples/a.c:1:", "outside dialect_cuda.h",
     {"examples/a.c": "__syncthreads();\n"}, {"runtime/include/gpurt/impl/dialect_cuda.h": "__syncthreads();\n"}),
    ("atomics", "tui/a.c:1:", "volatile",
     {"tui/a.c": "volatile int stop;\n"}, {"tui/a.c": "volatile sig_atomic_t stop;\n"}),
    ("atomics", "runtime/a.c:2:", "getenv outside environ.c",
     {"runtime/a.c": "\na = getenv(\"A\");\n"}, {"runtime/base/environ.c": "\na = getenv(\"A\");\n"}),
    ("atomics", "cupti/a.c:1:", "secure_getenv outside environ.c",
     {"cupti/a.c": "a = secure_getenv(b);\n"}, {"tui/a.c": "a = secure_getenv(b);\n"}),
    ("atomics", "runtime/a.c:1:", "posix_spawnp outside environ.c",
     {"runtime/a.c": "posix_spawnp(a, b, c, d, e, f);\n"}, {"runtime/a.c": "posix_spawn_file_actions_t io;\n"}),
    ("atomics", "tui/a.c:1:", "fopen outside outfile.c",
     {"tui/a.c": "f = fopen(path, \"we\");\n"}, {"tui/a.c": "f = fopen(path, \"re\");\n"}),
    ("atomics", "logstore/a.c:1:", "O_CREAT outside outfile.c",
     {"logstore/a.c": "fd = open(p, O_RDWR | O_CREAT, 0600);\n"}, {"tests/a.c": "fd = open(p, O_RDWR | O_CREAT, 0600);\n"}),
    ("atomics", "tui/a.c:2:", "JSON by hand",
     {"tui/a.c": "\nfputs(\",\\\"a\\\":1\", out);\n"}, {"tests/a.c": "\nfputs(\",\\\"a\\\":1\", out);\n"}),
    ("atomics", "logstore/a.c:1:", "JSON by hand",
     {"logstore/a.c": "fputs(\"{\\\"\", out);\n"}, {"logstore/a.c": "puts(\"it says \\\"no\\\"\");\n"}),
    ("paths", "docs/A.md:1:", "leads nowhere", {"docs/A.md": "[b](docs/B.md)\n", "docs/B.md": ""},
     {"docs/A.md": "[b](B.md#part), [c](https://c.org/d)\n", "docs/B.md": ""}),
    ("paths", "docs/A.md:2:", "tests/gone.c is not in the tree",
     {"docs/A.md": "\nsee `tests/gone.c`\n", "tests/a.c": ""},
     {"docs/A.md": "```\n`tests/gone.c`\n```\nsee `tests/{a,b}.c`, `tests/a` and `gone/`\n", "tests/a.c": "", "tests/b.c": ""}),
    ("paths", "README.md:1:", "gone.h is not in the tree", {"README.md": "`gone.h:3`\n"},
     {"README.md": "`a.h:3`, `gpurt/a.h`\n", "runtime/include/gpurt/a.h": ""}),
    ("paths", "a.c:1:", "docs/GONE.md is not in the tree", {"a.c": "/* docs/GONE.md */\n"},
     {"a.c": "/* docs/A.md */\n", "docs/A.md": ""}),
    ("paths", "docs/README.md:1:", "docs/a/B.md is not linked",
     {"docs/README.md": "[a](a/A.md)\n", "docs/a/A.md": "", "docs/a/B.md": ""},
     {"docs/README.md": "[a](a/A.md#part), [b](a/B.md)\n", "docs/a/A.md": "", "docs/a/B.md": ""}),
    ("paths", "tui/a.c:2:", "GPURT_A is not in docs",
     {"tui/a.c": "\na = look(\"GPURT_A\");\n", "docs/ENVIRONMENT.md": ""},
     {"tui/a.c": "\na = look(\"GPURT_A\");\n", "docs/ENVIRONMENT.md": "| `GPURT_A` | 1 |\n"}),
    ("paths", "docs/ENVIRONMENT.md:3:", "no source names GPURT_B",
     {"cupti/a.h": "#define B \"GPURT_A=%s\"\n", "docs/ENVIRONMENT.md": "\n\n| `GPURT_A`, `GPURT_B` | 1 |\n"},
     {"cupti/a.h": "#define B \"GPURT_A=%s\" \"GPURT_E_OS\"\n", "docs/ENVIRONMENT.md": "| `GPURT_A` |\n"}),
    ("words", "docs/A.md:2:", "31 words", {"docs/A.md": "\n" + WORDY.format("") + PLAIN * 30},
     {"docs/A.md": "# " + WORDY.format("") + "\n```\n" + WORDY.format("") + "\n```\n" + WORDY.format("ends. And ") + PLAIN * 30}),
    ("words", "docs/A.md:1:", "26 words", {"docs/A.md": PLAIN * 10 + "A " + " ".join(["word"] * 25) + ".\n"},
     {"docs/A.md": PLAIN * 19 + "A " + " ".join(["word"] * 25) + ".\n"}),
    ("words", "docs/A.md:1:", "2001 words", {"docs/A.md": "One two three. " * 667}, {"docs/DIALECT.md": "One two three. " * 667}),
    ("words", "docs/A.md:2:", 'opener "Who finds', {"docs/A.md": "- A lane is told.\n- Who finds it waits.\n"},
     {"docs/A.md": "- Who finds it?\n- A lane that finds it waits. It waits.\n"}),
    ("words", "docs/A.md:1:", 'opener "Of a warp', {"docs/A.md": "Of a warp that ends all is told.\n"},
     {"docs/A.md": "| Of a warp |\n"}),
    ("words", "docs/measured/README.md:1:", "not current",
     {**FIGURE, "docs/measured/README.md": ""}, {"docs/measured/README.md": ""}),
    ("words", "docs/measured/glance.tsv: g:", "no such figure",
     {**FIGURE, "docs/measured/glance.tsv": "use\tcost\tfigure\nlog\ta call\tg\n"}, {"docs/measured/glance.tsv": ""}),
    ("words", "1:", "characters of subject", {SUBJECT: "docs: " + "long " * 14}, {SUBJECT: "docs: " + "long " * 13}),
    ("words", "1:", "write `room: change`", {SUBJECT: "Change a thing"}, {SUBJECT: "tools, docs: change a thing"}),
    ("order", "runtime/simt/a.c:1:", "without a label", {**PAIR, "runtime/simt/a.c": STORE + "\n"}, PAIR),
    ("order", "runtime/simt/b.c:1:", "has no R1.rel", {**PAIR, "runtime/simt/a.c": ""}, PAIR),
    ("order", "runtime/simt/a.c:1:", "not in docs", {**PAIR, "docs/MEMORY_ORDER.md": ""}, PAIR),
    ("order", "docs/MEMORY_ORDER.md:2:", "R2 is nowhere",
     {**PAIR, "docs/MEMORY_ORDER.md": "| R1 | why |\n| R2 | gone |\n"}, PAIR),
    ("format", "a.c:1:", "clang-format", {"a.c": "int  a;\n"}, {"a.c": "int a;\n"}),
    ("scripts", "a.sh:3:", "SC", {"a.sh": "#!/bin/sh\na=1\necho $1 \"$a\"\n"},
     {"a.sh": "#!/bin/sh\na=1\necho \"$1\" \"$a\"\n"}),
    ("scripts", "a.py", "SyntaxError", {"a.py": "if\n"}, {"a.py": "a = 1\n"}),
    ("compilers", "runtime/include/gpurt/a.h:1:", "refused as c ",
     {"runtime/include/gpurt/a.h": "uint32_t a;\n"},
     {"runtime/include/gpurt/a.h": "#include <stdint.h>\nextern uint32_t a;\n"}),
    ("compilers", "runtime/include/gpurt/a.h:1:", "refused as cxx ",
     {"runtime/include/gpurt/a.h": "extern int *restrict a;\n"},
     {"runtime/include/gpurt/a.h": "extern int *__restrict a;\n"}),
    ("compilers", "tests/k.c:1:", "refused as cxx ",
     {"tests/k.c": "extern void *p;\nextern int *q;\n#define GPURT_KERNEL(n) void n(void)\n"
                   "GPURT_KERNEL(k);\nvoid k(void)\n{\n    q = p;\n}\n"},
     {"tests/k.c": "extern void *p;\nextern int *q;\n#define GPURT_KERNEL(n) void n(void)\n"
                   "GPURT_KERNEL(k);\nvoid k(void)\n{\n    q = (int *)p;\n}\n"}),
    ("tidy", "a.c:3:", "clang-analyzer",
     {"a.c": "int a(int *p)\n{\n    return p ? 0 : *p;\n}\n"}, {"a.c": "int a(int *p)\n{\n    return p ? *p : 0;\n}\n"}),
]


def command(lint, root):
    if lint == "tidy":
        return [os.path.join(TOOLS, "lint_tidy.sh"), root, "a.c"]
    if lint in ("format", "scripts", "compilers"):
        return [os.path.join(TOOLS, f"lint_{lint}.sh")]
    return [sys.executable, os.path.join(TOOLS, f"lint_{lint}.py")]


def commit(root, subject):
    git = ["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a"]
    subprocess.run([*git[:3], "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", subject], check=True)


def run(lint, tree):
    with tempfile.TemporaryDirectory() as root:
        if SUBJECT in tree:
            commit(root, tree[SUBJECT])
        for name, text in tree.items():
            os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
            with open(os.path.join(root, name), "w") as file:
                file.write(text)
        for rules in (".clang-format", ".clang-tidy"):
            shutil.copy(os.path.join(TOOLS, "..", rules), root)
        with open(os.path.join(root, "compile_commands.json"), "w") as file:
            file.write('[{"directory": "%s", "file": "a.c", "command": "cc -c a.c"}]\n' % root)
        done = subprocess.run(command(lint, root), cwd=root, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


bad = 0
for lint, place, words, wrong, right in CASES:
    status, output = run(lint, wrong)
    if status == 77:
        print(f"not shown to fail, it skips: {lint}")
        continue
    if status == 0 or place not in output or words not in output:
        print(f"tools/lint_{lint}: a planted mistake passes: it should report {place} ... {words}; it said:\n{output}")
        bad += 1
    status, output = run(lint, right)
    if status != 0:
        print(f"tools/lint_{lint}: refuses the mended text of {place} {words}; it said:\n{output}")
        bad += 1
sys.exit(1 if bad else 0)
