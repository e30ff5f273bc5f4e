#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layout of what processes and devices share is the same in C, C++ and CUDA.

  box_layout.py CC CXX [NVCC]

Every struct of the headers below is taken from their text, with every field. A program that prints each size and offset
is built by each compiler and run; what they print must be equal. Code for a GPU cannot be run here, so nvcc also compiles
an assertion a figure, which its pass for the device checks. An empty or absent compiler is left out; without C++ there is
nothing to compare, and the test is skipped."""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
HEADERS = ["runtime/include/gpurt/impl/group.h", "runtime/include/gpurt/impl/record.h", "runtime/include/gpurt/impl/box.h",
           "runtime/include/gpurt/impl/ringput.h", "runtime/include/gpurt/impl/state.h", "runtime/include/gpurt/impl/logport.h", "logstore/store/format.h"]
INCLUDES = ["-I" + os.path.join(ROOT, "runtime/include"), "-I" + os.path.join(ROOT, "logstore/store")]
SKIPPED = 77


def structs_of(path):
    """(type, [field...]) of each `typedef struct ... { ... } name_t;`."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    for body, name in re.findall(r"typedef struct [^{;]*\{([^{}]*)\}\s*(\w+);", text):
        fields = []
        for declaration in filter(None, map(str.strip, body.split(";"))):
            for declarator in re.sub(r"\[[^\]]*\]", "", declaration).split(","):
                fields.append(re.findall(r"\w+", declarator)[-1])
        yield name, fields


def program(structs, figures=None):
    lines = [f'#include "{os.path.join(ROOT, path)}"' for path in HEADERS]
    lines += ["#include <stddef.h>", "#include <stdio.h>", "int main(void)", "{"]
    for name, fields in structs:
        for label, value in [(name, f"sizeof({name})")] + [
                (f"{name}.{field}", f"offsetof({name}, {field})") for field in fields]:
            lines.append(f'    printf("{label} %zu\\n", {value});')
    lines += ["    return 0;", "}"]
    for label, value in (figures or {}).items():
        name, _, field = label.partition(".")
        what = f"offsetof({name}, {field})" if field else f"sizeof({name})"
        lines.append(f'static_assert({what} == {value}, "{label}");')
    return "\n".join(lines) + "\n"


def figures_of(compiler, flags, source, folder, name):
    path, binary = os.path.join(folder, name), os.path.join(folder, name + ".run")
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    built = subprocess.run([*compiler.split(), "-O1", *flags, *INCLUDES, "-o", binary, path], capture_output=True, text=True)
    if built.returncode != 0:
        sys.exit(f"{name}: {compiler} failed:\n{built.stderr[:3000]}")
    printed = subprocess.run([binary], capture_output=True, text=True, check=True).stdout
    return dict(line.rsplit(" ", 1) for line in printed.splitlines())


def differences(a, b):
    return [f"{label}: {a.get(label)} and {b.get(label)}" for label in {**a, **b} if a.get(label) != b.get(label)]


def main():
    cc, cxx, nvcc = (sys.argv[1:] + ["", "", ""])[:3]
    structs = [s for path in HEADERS for s in structs_of(path)]
    if len(structs) < 20 or "gpurt_box_t" not in dict(structs):
        sys.exit(f"only {len(structs)} structs were found in the headers")
    if not cxx:
        print("no C++ compiler: nothing to compare")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        c = figures_of(cc, ["-std=gnu11"], program(structs), folder, "layout.c")
        others = {"C++": figures_of(cxx, ["-std=c++17"], program(structs), folder, "layout.cpp")}
        if nvcc:
            others["CUDA"] = figures_of(nvcc, ["-std=c++17", "-arch=sm_90"], program(structs, c), folder, "layout.cu")
    for language, figures in others.items():
        found = differences(c, figures)
        if found:
            sys.exit(f"C and {language} differ: " + "; ".join(found[:10]))
    for label in sorted(c):
        print(label, c[label])
    print(f"{len(structs)} structs, {len(c)} figures, equal in C, {', '.join(others)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
