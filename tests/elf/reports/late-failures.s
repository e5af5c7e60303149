//# about: what a link has to say is written before the output takes its place: if that fails, the old output stays
//# only: weld -- others write the output first
//# matrix: kind=exec,object
//# sh: ar rcs libm.a member.o; timeout 60 bash try {kind} late-failures.o libm.a --gc-sections
.globl _start
_start: call member
.section .text.unused,"ax",@progbits
nop
.section .note.GNU-stack,"",@progbits
//--- member.s
.globl member
member: ret
.section .note.GNU-stack,"",@progbits
//--- try
full="-M -Map=- -t -y_start -v --verbose --cref --stats --time-trace=- --why-extract=- --print-gc-sections"
files="-Map --why-extract --print-gc-sections --time-trace --dependency-file --reproduce"
kind=$1; shift
if [ $kind = object ]; then
  set -- -r -e _start "$@"
  full=$(echo "$full" | sed 's/-M -Map=-//; s/--cref//')
  files=${files#-Map}
fi
try() {
  printf OLD >o
  if $LD "$@" -o o >/dev/full 2>err; then echo "$*: no error"; exit 1; fi
  if [ "$(cat o)" != OLD ]; then echo "$*: the old output is gone"; exit 1; fi
  if ls -A | grep weld-; then echo "$*: a temporary file is left"; exit 1; fi
  if ! grep -qE "error: cannot (write|create) (to standard output|/dev/full|no/dir): (No space left|No such file)" err ||
    [ "$(grep -c error: err)" != 1 ]; then
    echo "$*:"; cat err; exit 1
  fi
}
for option in $full; do try "$@" $option; done
for option in $files; do
  for file in /dev/full no/dir; do try "$@" $option=$file; done
done
# All of them go to their files, and none is left over.
all=
for option in $files; do all="$all $option=$(echo "$option" | tr -d -)"; done
$LD "$@" $all -o o
for option in $files; do [ -s "$(echo "$option" | tr -d -)" ] || { echo "$option: nothing written"; exit 1; }; done
if ls -A | grep weld-; then exit 1; fi
