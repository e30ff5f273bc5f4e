# SPDX-License-Identifier: Apache-2.0
"""test_terminal: what stands on the screen does not depend on where reads cut the bytes."""
import sys

import terminal

SENT = ("\x1b[?1049h\x1b[2;3Hab\x1b(B─é€\x1b[3;1H\x1b]0;a name\x07\tend\r\n\x1b[1;5Hx\x1b[2b\x1bM\x1b[5;1Hlast\x1b)0!").encode()


def shown(pieces):
    screen = terminal.Screen(6, 20)
    for piece in pieces:
        screen.take(piece)
    return screen.text()


whole = shown([SENT])
assert "ab─é€" in whole and "xxx" in whole and "last!" in whole and "name" not in whole, whole
for at in range(1, len(SENT)):
    cut = shown([SENT[:at], SENT[at:]])
    assert cut == whole, f"cut at {at}, {SENT[at - 3:at]} | {SENT[at:at + 3]}:\n{cut}"
assert shown(SENT[at:at + 1] for at in range(len(SENT))) == whole
sys.exit(0)
