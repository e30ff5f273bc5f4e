#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sass_hazards.py FOLDER...: machine code that reads a register before the zero that was put there has arrived.

ptxas 13.0 (V13.0.88, sm_90) turns `p = known ? base + i * 8 : NULL; if (p) ...` into

    CS2R R4, SRZ                           both halves zero, there after six cycles
    @P1 IMAD.WIDE.U32 R4, R31, 0x8, R2     not done where P1 is false
    ISETP.NE.U32.AND P0, PT, R4, RZ, PT    five cycles after the first: what R4 held before

and counts the time from the second line, as if it were always done. Where it is not, and the code lies in the
instruction cache, the branch goes by an old value. On an H200 an arena without a table wrote to address 0 that way, the
second time that its code ran. This looks for it in all objects of a build, by the cycles that ptxas wrote into each
instruction (the layout is that of 7.0 and later). Needs cuobjdump; 77 without.
"""
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys

ZERO_ARRIVES = 6  # cycles: nothing that ptxas made reads a zero earlier, but for this fault
AHEAD = 8
INSTRUCTION = re.compile(r"/\*([0-9a-f]+)\*/\s+(@\S+\s+)?(\S+?)(?:\s+([^;]*?))?\s*;\s*/\* 0x[0-9a-f]{16} \*/")
CONTROL = re.compile(r"^\s*/\* 0x([0-9a-f]{16}) \*/")
LEAVES = ("BRA", "BRX", "CALL", "RET", "EXIT", "BSYNC", "WARPSYNC")
STORES = ("ST", "RED", "ISETP", "FSETP", "R2UR")  # their first operand is read, too, or is none of these registers

SAMPLE = """
        /*2c600*/                   CS2R R4, SRZ ;                              /* 0x0000000000047805 */
                                                                                /* 0x000fe2000001ff00 */
        /*2c610*/               @P1 IMAD.WIDE.U32 R4, R31, 0x8, R2 ;            /* 0x000000081f041825 */
                                                                                /* 0x004fe400078e0002 */
        /*2c620*/                   LD.E.64 R2, desc[UR4][R80.64] ;             /* 0x0000000450027980 */
                                                                                /* 0x000ea2000c101b00 */
        /*2c630*/                   ISETP.NE.U32.AND P0, PT, R4, RZ, PT ;       /* 0x000000ff0400720c */
                                                                                /* 0x000fc80003f05070 */
"""


def instructions(text):
    """Each as (address, guard, operation, operands, cycles until the next), None where code can be entered."""
    lines = text.splitlines()
    for line, following in zip(lines, lines[1:] + [""]):
        if re.match(r"^\s*\.?[$\w.]+:\s*$", line):
            yield None
        found = INSTRUCTION.search(line)
        control = CONTROL.match(following)
        if found and control:
            stall = int(control[1], 16) >> 41 & 15
            yield found[1], found[2] or "", found[3], found[4] or "", stall


def written(operation, operands):
    first = re.match(r"R(\d+)\b", operands)
    if not first or operation.startswith(STORES):
        return set()
    wide = ".64" in operation or "WIDE" in operation or operation == "CS2R"
    return {int(first[1]), int(first[1]) + wide}


def read(operation, operands):
    if not operation.startswith(STORES):
        operands = operands.partition(",")[2]
    return {int(r) for r in re.findall(r"\bR(\d+)\b", operands)}


def hazards(code):
    for i, at in enumerate(code):
        if not at or at[2] != "CS2R" or "SRZ" not in at[3]:
            continue
        zeros, cycles = written(*at[2:4]), at[4]
        for then in code[i + 1 : i + AHEAD]:
            if not then or cycles >= ZERO_ARRIVES:
                break
            _, guard, operation, operands, stall = then
            # An access of memory reads its registers later.
            if zeros & read(operation, operands) and not operation.startswith(("LD", "ST", "AT", "RED")):
                if not guard or "WIDE" not in operation:
                    yield f"{at[0]}: {at[2]} {at[3]}; {cycles} cycles later at {then[0]}: {guard}{operation} {operands}"
                break
            if not guard:
                zeros -= written(operation, operands)
            if operation.startswith(LEAVES):
                break
            cycles += stall


def of_object(path):
    told = subprocess.run(["cuobjdump", "-sass", str(path)], capture_output=True, text=True, check=False)
    code = list(instructions(told.stdout))
    zeros = sum(1 for c in code if c and c[2] == "CS2R")
    return path, zeros, list(hazards(code))


def main(folders):
    if len(list(hazards(list(instructions(SAMPLE))))) != 1:
        return "the sample is not seen"
    if not shutil.which("cuobjdump"):
        print("no cuobjdump here: skipped")
        return 77
    objects = [p for f in folders for p in sorted(pathlib.Path(f).rglob("*.o")) if b".nv_fatbin" in p.read_bytes()]
    zeros = found = 0
    with concurrent.futures.ThreadPoolExecutor() as several:
        for path, count, said in several.map(of_object, objects):
            zeros += count
            found += len(said)
            for line in said:
                print(f"{path}: {line}")
    print(f"{len(objects)} objects, {zeros} zeros of two registers, {found} read too early")
    return 1 if found or not zeros else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
