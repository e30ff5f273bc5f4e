#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pages.sh PREFIX: each installed program has a manual page that formats without a warning, examples in its help, and
# completions that complete, in each shell that is on this machine.
set -euo pipefail
prefix=${1:?usage: pages.sh PREFIX}
share=$prefix/share
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$prefix/bin:$PATH

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
# offers WORD OUTPUT WHAT: WORD is a line of OUTPUT.
offers() { grep -Fxq -- "$1" <<<"$2" || fail "$3: '$1' is not among: $2"; }

for program in "$prefix"/bin/gpurt*; do
    name=${program##*/} page=$share/man/man1/${program##*/}.1
    [ -s "$page" ] || fail "$name has no manual page"
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' EXAMPLES; do
        grep -Eq "^\\.SH \"?$section\"?$" "$page" || fail "$name.1 has no $section"
    done
    "$program" --help | grep >/dev/null '^Examples:' || fail "$name --help has no examples"
    if command -v groff >/dev/null; then
        LC_ALL=C.UTF-8 groff -man -ww -Tutf8 "$page" 2>"$work/warnings" >/dev/null
        [ ! -s "$work/warnings" ] || fail "$name.1: $(head -n 3 "$work/warnings")"
    fi
    for file in "bash-completion/completions/$name" "zsh/site-functions/_$name" "fish/vendor_completions.d/$name.fish"; do
        [ -s "$share/$file" ] || fail "no $file"
    done
done

# by_bash WORD...: what bash offers for the last word.
by_bash() {
    bash -c 'set -euo pipefail
        source "$1/bash-completion/completions/$2"
        COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2)) COMPREPLY=()
        "$(complete -p "$2" | sed "s/.*-F \([^ ]*\) .*/\1/")" "$2"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$share" "$@"
}
offers --replay "$(by_bash gpurt-top --re)" bash
offers --record "$(by_bash gpurt-top --re)" bash
offers repair "$(by_bash gpurt-log re)" bash
offers top "$(by_bash gpurt t)" bash
offers true "$(by_bash gpurt-record -- tru)" bash
offers level "$(by_bash gpurt-log lev)" bash
offers cat "$(by_bash gpurt log ca)" bash
offers --filter "$(by_bash gpurt log --f)" bash
for program in "$prefix"/bin/gpurt*; do # rows of options, and nothing else that prose names
    same="$("$program" --man | sed -n '/^\.SH "*OPTIONS/,/^\.SH "*[^O]/s/\\//gp' | grep '^fB-' |
        grep -oE '\bfB--?[[:alnum:]-]+fR' | sed 's/^fB//; s/fR$//' | sort -u)"
    [[ "$(by_bash "${program##*/}" - | sort -u)" == "$same" ]] || fail "bash offers other options of ${program##*/}"
done

# typed_in_bash LINE: the arguments that a command has, typed on a terminal with tabs in a folder with `sub/` and `sp d`.
typed_in_bash() {
    python3 - "$share/bash-completion/completions/gpurt-log" "$1" <<'PY'
import os, pty, re, select, sys, tempfile, time
folder = tempfile.mkdtemp()
os.mkdir(f"{folder}/sub")
open(f"{folder}/sp d", "w").close()
pid, fd = pty.fork()
if pid == 0:
    os.chdir(folder)
    os.environ.update(TERM="dumb", PS1="READY ", COLUMNS="200")
    os.execvp("bash", ["bash", "--norc", "-i"])
seen, end = "", time.monotonic() + 60
os.write(fd, f"source {sys.argv[1]}; gpurt-log() {{ printf 'ARG:%s\\n' \"$@\" END; }}\n{sys.argv[2]}\n".encode())
while "ARG:END" not in seen and time.monotonic() < end and select.select([fd], [], [], 60)[0]:
    seen += os.read(fd, 65536).decode(errors="replace")
print("\n".join(re.findall(r"^ARG:(.*?)\r*$", seen, re.M)))
os.remove(f"{folder}/sp d")
os.rmdir(f"{folder}/sub")
os.rmdir(folder)
PY
}
if command -v python3 >/dev/null; then
    offers sub/run.gplog "$(typed_in_bash $'gpurt-log cat su\trun.gplog')" 'bash on a terminal'
    offers 'sp d' "$(typed_in_bash $'gpurt-log cat sp\t')" 'bash on a terminal'
fi

if command -v fish >/dev/null; then
    by_fish() {
        XDG_DATA_DIRS=$share HOME=$work fish --no-config -c \
            "source $share/fish/vendor_completions.d/$1.fish; complete -C '$2'" | cut -f 1
    }
    offers --replay "$(by_fish gpurt-top 'gpurt-top --re')" fish
    offers repair "$(by_fish gpurt-log 'gpurt-log re')" fish
    offers level "$(by_fish gpurt-log 'gpurt-log lev')" fish
    offers top "$(by_fish gpurt 'gpurt t')" fish
    offers cat "$(by_fish gpurt 'gpurt log ca')" fish
    offers --filter "$(by_fish gpurt 'gpurt log --f')" fish
else
    echo 'no fish on this machine: its completions are not tried'
fi

if command -v zsh >/dev/null && command -v python3 >/dev/null; then
    # zsh completes on a terminal only. by_zsh WORDS EXPECTED: what it offers, up to the word that is expected.
    by_zsh() {
        python3 - "$share/zsh/site-functions" "$@" <<'PY'
import os, pty, re, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", PS1="READY ", HOME="/nonexistent", COLUMNS="200")
    os.execvp("zsh", ["zsh", "-f", "-i"])
def read(seconds, until=None):
    seen, end = "", time.monotonic() + seconds
    while time.monotonic() < end and not (until and until in seen):
        if select.select([fd], [], [], 0.2)[0]:
            try:
                seen += os.read(fd, 65536).decode(errors="replace")
            except OSError:
                break
    return seen
def say(text):
    os.write(fd, text.encode())
say(f"fpath=({sys.argv[1]} $fpath); autoload -U compinit; compinit -u -D; zstyle ':completion:*' list-prompt ''\n")
say("LISTMAX=9999; print DO''NE\n")
read(60, "DONE")
say(sys.argv[2] + "\t\t")
print("\n".join(re.findall(r"[-a-z]{2,}", read(20, sys.argv[3]))))
PY
    }
    offers --replay "$(by_zsh 'gpurt-top --re' --replay)" zsh
    offers repair "$(by_zsh 'gpurt-log re' repair)" zsh
    offers cat "$(by_zsh 'gpurt log ca' cat)" zsh
    offers --filter "$(by_zsh 'gpurt log --f' --filter)" zsh
else
    echo 'no zsh on this machine: its completions are not tried'
fi
