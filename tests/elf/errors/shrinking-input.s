//# about: an input that shrinks while it is read: an error or a good link, never a crash
//# only: weld -- others die of SIGBUS
//# sh: for i in $(seq 20); do cp big.o work.o; { sleep 0.00$((i % 10)); : > work.o; } & code=0; $LD shrinking-input.o work.o -o out 2> err || code=$?; wait; if [ $code -gt 1 ]; then echo "exit code $code"; cat err; exit 1; fi; if [ $code = 1 ]; then grep work.o err || { cat err; exit 1; }; fi; done
//# sh: ls big.o
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- big.s
.data
.fill 8000000, 1, 7
.section .note.GNU-stack,"",@progbits
