//# about: --prefetch asks for inputs that are not in memory, for nothing when all are; the output is the same
//# only: weld -- others have no such option
//# sh: bash run.sh
//# sh: ls prefetch.o one.o big.o
//# fail: prefetch.o --prefetch=often
//# error: --prefetch: expected auto, on or off, but got 'often'
.globl _start
_start: call one
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl one
one: call big
.section .note.GNU-stack,"",@progbits
//--- big.s
.data
.fill 400000, 1, 7
.text
.globl big
big: ret
.section .note.GNU-stack,"",@progbits
//--- run.sh
set -e
rm -f libone.a libbig.a && ar rcs libone.a one.o && ar rcs libbig.a big.o
sync libone.a libbig.a prefetch.o big.o
args="prefetch.o --start-group libone.a libbig.a --end-group big.o -z muldefs"
link() { $LD $args -o out-$1 --prefetch=$1 --stats --time-trace=trace-$1 > stats-$1; }
# Removes the inputs from memory, as far as the file system does that.
drop() { for f in prefetch.o libone.a libbig.a big.o; do dd of=$f oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null; done; }
in_memory() { fincore --bytes --noheadings --output RES prefetch.o libone.a libbig.a big.o | awk '{ sum += $1 } END { print sum }'; }
link off
grep -qx 'prefetch: off' stats-off
# All was read just now.
link auto
grep -Eqx 'prefetch: 0 of [1-9][0-9]* files looked at were not in memory; asked for 0 bytes' stats-auto || { cat stats-auto; exit 1; }
! grep -q '"name":"prefetch"' trace-auto
link on
grep -Eqx 'prefetch: asked for [1-9][0-9]* bytes' stats-on || { cat stats-on; exit 1; }
grep -q '"name":"prefetch"' trace-on
cmp out-off out-auto && cmp out-off out-on
drop
if [ "$(in_memory)" = 0 ]; then
  link auto
  grep -Eqx 'prefetch: 4 of 4 files looked at were not in memory; asked for [1-9][0-9]* bytes' stats-auto || { cat stats-auto; exit 1; }
  cmp out-off out-auto
fi
