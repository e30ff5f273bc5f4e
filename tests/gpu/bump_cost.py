#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bump_cost.py NVCC - how many instructions a request of an arena is, when its piece has room.

Compiles bump_cost.cu for sm_90 and takes each kernel's shortest way from its begin to EXIT that calls nothing: what is
called is the slow path. The store of the answer is not counted, what brings it into the registers of the store is. Needs no GPU and no disassembler: of a 16-byte
instruction the low 12 bits are its operation, bits 12 to 15 its predicate, 7 is always; a branch's target lies 4 times bits 16 to 23
and 34 to 63 further than its end. Ends with 1 when a request has become longer than is written down here."""
import heapq
import os
import struct
import subprocess
import sys
import tempfile

LIMITS = {"bump_thread": 20, "bump_thread_any": 22, "bump_thread_wide": 24, "bump_warp": 22}  # nvcc 13.0: 13.8, 16.8, 17.3, 16
WORDS = {"bump_thread": "gpurt_arena_alloc, size known", "bump_thread_any": "gpurt_arena_alloc, size not known",
         "bump_thread_wide": "gpurt_arena_alloc, size of 64 bits not known",
         "bump_warp": "gpurt_arena_warp_alloc, size known"}
BRA, CALLS, EXIT, STG = 0x947, (0x944, 0x343, 0x943), 0x94d, (0x986, 0x385)


def sections(elf):
    """Name and bytes of each section of a 64-bit ELF."""
    table, = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3a)
    rows = [struct.unpack_from("<IIQQQQ", elf, table + i * size) for i in range(count)]
    strings = rows[names][4]
    for row in rows:
        end = elf.index(b"\0", strings + row[0])
        yield elf[strings + row[0]:end].decode(), elf[row[4]:row[4] + row[5]]


def ways_on(code, at):
    """Where an instruction may be followed, and whether it counts."""
    low, = struct.unpack_from("<Q", code, at)
    operation, always = low & 0xfff, low >> 12 & 7 == 7
    if operation in CALLS:
        return [], True
    if operation == EXIT and always:
        return [len(code)], True
    to = [] if operation == BRA and always else [at + 16]
    if operation == BRA:
        further = (low >> 34) << 8 | (low >> 16 & 0xff)
        further -= 1 << 38 if further >> 37 else 0
        to.append(at + 16 + 4 * further)
    return to, operation not in STG


def shortest(code):
    """Instructions from the begin to EXIT, stores left out."""
    best, todo = {}, [(0, 0)]
    while todo:
        count, at = heapq.heappop(todo)
        if at >= len(code):
            return count
        if at in best:
            continue
        best[at] = count
        to, counts = ways_on(code, at)
        for next_at in to:
            heapq.heappush(todo, (count + counts, next_at))
    sys.exit("a kernel has no way to its end that calls nothing")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    here = os.path.dirname(os.path.realpath(__file__))
    with tempfile.TemporaryDirectory() as work:
        cubin = os.path.join(work, "bump_cost.cubin")
        subprocess.run([sys.argv[1], "-std=c++17", "-I" + os.path.join(here, "../../runtime/include"), "-arch=sm_90",
                        "-cubin", os.path.join(here, "bump_cost.cu"), "-o", cubin], check=True)
        with open(cubin, "rb") as file:
            code = {name[len(".text."):]: data for name, data in sections(file.read()) if name.startswith(".text.")}
    failed = False
    for name, limit in LIMITS.items():
        cost = (shortest(code[name + "_9"]) - shortest(code[name + "_1"])) / 8
        print(f"sm_90 {WORDS[name]}: {cost:g} instructions")
        if not 2 <= cost <= limit:
            print(f"  not 2 to {limit}")
            failed = True
    sys.exit(failed)


main()
