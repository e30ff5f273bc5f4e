#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an assertion costs in machine code, counted: assert_cost.py NVCC ARCH...

The instructions on the way from a kernel's entry to its end that calls nothing are those of a lane for which all holds.
An assertion adds its comparison and a branch: that is what a second one in a kernel adds. The first one also makes room
on the stack, one instruction once a kernel. How often constants and special registers are loaded is ptxas's
arrangement, and not counted. An assertion of all lanes adds votes, and its lanes go on behind the record, which takes
registers. A kernel that can panic takes at most so many registers, and no barrier. Needs no GPU, but cuobjdump: beside nvcc, in PATH, or
named by CUOBJDUMP."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
SKIPPED = 77
# Of what is behind a panic. 32 are what 2,048 threads of a multiprocessor can have; ptxas for older GPUs spreads more.
REGISTERS = {"90": 32}
REGISTERS_OLD, REGISTERS_NEW = 40, 34
REGISTERS_LANES = {"75": 50, "80": 48}  # its lanes go on: what they work with stays
REGISTERS_LANES_ELSE = 38
COMPARISONS = ("ISETP", "UISETP")
LOADS = ("LDC", "ULDC", "S2R", "S2UR", "R2UR")
FORMS = {"assert": 2, "compare": 2, "bounds": 2, "lanes": 6, "panic": 2}  # beside the first one's comparison


def tool(nvcc):
    beside = os.path.join(os.path.dirname(os.path.realpath(shutil.which(nvcc) or nvcc)), "cuobjdump")
    for path in (os.environ.get("CUOBJDUMP"), beside, shutil.which("cuobjdump")):
        if path and os.access(path, os.X_OK):
            return path
    return None


def code_of(cuobjdump, cubin, kernel):
    """{address: (whether it may do nothing, operation, target)} of a kernel and what it calls."""
    text = subprocess.run([cuobjdump, "-sass", "-fun", kernel, cubin], capture_output=True, text=True, check=True).stdout
    code = {}
    for address, guard, what in re.findall(r"/\*([0-9a-f]{4,})\*/\s+(@!?U?P\w+\s+)?(.*?);", text):
        target = re.search(r"(0x[0-9a-f]+)\s*$", what)
        operation = what.split()[0].split(".")
        # BRA.DIV is taken by lanes that came apart, and not by those for which all holds.
        conditional = bool(guard) or operation[1:2] == ["DIV"]
        code[int(address, 16)] = (conditional, operation[0], target and int(target.group(1), 16))
    return code


def shortest_way(code):
    """Operations from the entry to EXIT, without calls; None where there is no such way."""
    ways, done = [(0, 0, ())], set()
    while ways:
        ways.sort(key=lambda way: way[0])
        length, at, operations = ways.pop(0)
        if at in done or at not in code:
            continue
        done.add(at)
        guarded, operation, target = code[at]
        operations += (operation,)
        if operation == "EXIT" and not guarded:
            return operations
        if operation in ("CALL", "RET"):
            continue
        if operation == "BRA":
            ways.append((length + 1, target, operations))
        if operation != "BRA" or guarded:
            ways.append((length + 1, at + 16, operations))
    return None


def registers_of(log, kernel):
    found = re.search(rf"'{kernel}'.*?Used (\d+) registers", log, re.S)
    return int(found.group(1))


def registers_most(arch, form):
    if form == "lanes":
        return REGISTERS_LANES.get(arch, REGISTERS_LANES_ELSE)
    return REGISTERS.get(arch, REGISTERS_OLD if int(arch) < 90 else REGISTERS_NEW)


def barriers_of(log, kernel):
    """Named barriers that each of its blocks has set aside; a multiprocessor has enough of all 16 for a few blocks."""
    found = re.search(rf"'{kernel}'.*?Used \d+ registers(?:, used (\d+) barriers)?", log, re.S)
    return int(found.group(1) or 0)


def added(more, less):
    """What is in one way and not in the other."""
    rest = list(more)
    for operation in less:
        if operation in rest:
            rest.remove(operation)
    return rest


def check(cuobjdump, cubin, log, form, most, registers_allowed):
    none, one, two = (shortest_way(code_of(cuobjdump, cubin, f"cost_{name}"))
                      for name in ("none", f"{form}_1", f"{form}_2"))
    if not none or not one or not two:
        return [f"{form}: no way through the kernel without a call"]
    first, second = added(one, none), added(two, one)
    registers = max(registers_of(log, f"cost_{form}_{n}") for n in (1, 2))
    print(f"  {form:8} first {' '.join(first)}; second {' '.join(second)}; {registers} registers")
    problems = []
    price = sum(o not in LOADS for o in one) - sum(o not in LOADS for o in none)
    if price > most + 1 or not set(first) & set(COMPARISONS):
        problems.append(f"{form}: {price} instructions, expected a comparison and at most {most}")
    if form != "lanes" and (second.count("BRA") != 1 or sum(o in COMPARISONS for o in second) != 1):
        problems.append(f"{form}: a second one adds more than a comparison and a branch")
    if any(barriers_of(log, f"cost_{form}_{n}") for n in (1, 2)):
        problems.append(f"{form}: a kernel without barriers has some set aside")
    if registers > registers_allowed:
        problems.append(f"{form}: {registers} registers, expected at most {registers_allowed}")
    return problems


def main():
    nvcc, archs = sys.argv[1], sys.argv[2:]
    cuobjdump = tool(nvcc)
    if not cuobjdump:
        print("no cuobjdump: skipped")
        return SKIPPED
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for arch in archs:
            cubin = os.path.join(folder, f"{arch}.cubin")
            built = subprocess.run([nvcc, "-std=c++17", "-O2", f"-arch=sm_{arch}", "-Xptxas", "-v", "-cubin", "-o", cubin,
                                    "-I" + os.path.join(HERE, "../../runtime/include"),
                                    os.path.join(HERE, "assert_cost.cu")], capture_output=True, text=True)
            if built.returncode != 0:
                sys.exit(built.stderr[:3000])
            print(f"sm_{arch}")
            for form, most in FORMS.items():
                problems += [f"sm_{arch} {p}"
                             for p in check(cuobjdump, cubin, built.stderr, form, most, registers_most(arch, form))]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
