#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_nvdisasm.py FOLDER-OF-TESTS: lines and inlined calls of nvcc's own code.

As nvdisasm has them: it prints them where they change alone, and not always there, so instructions behind such a
heading are compared. It counts rows that ptxas has written twice, so a few of its callers are of the row beside. And
as the source has them: the line of a call names what is called."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nested_kernels.cu")
HEADING = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+)")
INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s")


def told(lines):
    """(function, offset) of an instruction behind a heading: its frames."""
    frames, function, out = [], None, {}
    for line in lines:
        section, heading = SECTION.match(line), HEADING.match(line)
        instruction = INSTRUCTION.match(line)
        if section:
            function, frames = section.group(1), []
        elif heading:
            frames.append(f"{heading.group(1)}:{heading.group(2)}")
        elif instruction and frames:
            out[function, int(instruction.group(1), 16)] = frames
            frames = []
    return out


def is_call(place, callee):
    """Whether the source calls it there; of other files that is not looked for."""
    file, line = place.rsplit(":", 1)
    if file != SOURCE:
        return True
    with open(SOURCE, encoding="utf-8") as source:
        text = source.readlines()[int(line) - 1]
    return any(name in callee and name in text for name in ("leaf", "step", "outer", "sync", "sinf", "powf"))


def frames_of(cubin):
    """(function, offset): lines, and whose calls they are."""
    out = {}
    command = [os.path.join(sys.argv[1], "cubin_frames"), cubin]
    for line in subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        function, offset, frames = line.split(" ", 2)
        out[function, int(offset, 16)] = [frame.split(" ") for frame in frames.split(" < ") if frame]
    return out


def check_calls(ours):
    count = 0
    for place, frames in ours.items():
        for inner, outer in zip(frames, frames[1:]):
            count += 1
            if not is_call(outer[0], inner[1]):
                sys.exit(f"{place}: {inner[1]} is not called at {outer[0]}")
    return count


def compare(folder, arch, optimized):
    cubin = os.path.join(folder, f"{arch}{len(optimized)}.cubin")
    subprocess.run(["nvcc", f"-arch={arch}", "-lineinfo", *optimized, "-cubin", "-o", cubin, SOURCE], check=True)
    text = subprocess.run(["nvdisasm", "-c", "-gi", cubin], check=True, stdout=subprocess.PIPE, text=True).stdout
    want, ours = told(text.splitlines()), frames_of(cubin)
    calls, others, deep = check_calls(ours), 0, 0
    for place, frames in want.items():
        mine = [frame[0] for frame in ours.get(place, [])]
        if not mine or mine[0] != frames[0]:
            sys.exit(f"{arch} {place}: {mine}, nvdisasm has {frames}")
        others += mine != frames
        deep = max(deep, len(frames))
    print(f"{arch} {optimized}: {len(want)} headings, {others} with another caller, {deep} frames deep, {calls} calls")
    if len(want) < 50 or calls < 100 or others * 5 > len(want) or deep < 4:
        sys.exit(f"{arch}: too little was compared, or too much was different")


def main():
    missing = [tool for tool in ("nvcc", "nvdisasm") if not shutil.which(tool)]
    if missing:
        print(f"skipped: no {' and no '.join(missing)} on the PATH")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        compare(folder, "sm_80", [])
        compare(folder, "sm_90", [])
        compare(folder, "sm_90", ["-Xptxas", "-O1"])


main()
