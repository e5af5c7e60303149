//# about: an input that is written to while it is linked is an error that names it; the old output stays
//# only: weld -- others do not look
//# matrix: how=written,replaced,touched,gone threads=1,2
//# sh: ls changing-input.o big.o; timeout 30 bash try {how} {threads}
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- big.s
.data
.fill 100000, 1, 7
.section .note.GNU-stack,"",@progbits
//--- try
how=$1
printf OLD >o
mkfifo tar
cp big.o work.o
touch -d '2001-01-01' work.o
# The link waits for somebody who reads what it stores, when its inputs are open.
$LD --threads=$2 changing-input.o work.o --reproduce=tar -o o 2>err &
for i in $(seq 1000); do grep -q work.o /proc/$!/maps && break; sleep 0.01; done
case $how in
  written) printf X | dd of=work.o bs=1 seek=70000 conv=notrunc 2>/dev/null ;;
  replaced) cp big.o other && mv other work.o ;;
  touched) touch work.o ;;
  gone) rm work.o ;;
esac
timeout 20 cat tar >/dev/null
r=0; wait $! || r=$?
if [ $how = gone ]; then test $r = 0; exit; fi
cat err
test $r = 1 && test "$(cat o)" = OLD && ! ls -A | grep weld- &&
  test "$(cut -d' ' -f2- err)" = "error: input file work.o changed while it was being linked"
