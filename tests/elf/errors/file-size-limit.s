//# about: ulimit -f: an error that names the output, the old one intact, nothing left behind
//# only: weld -- others die of the signal
//# sh: for e in --mmap-output-file --no-mmap-output-file; do printf OLD > o; r=0; (ulimit -f 1; exec $LD file-size-limit.o $e -o o) 2>err || r=$?; test $r = 1 && grep 'error: cannot .* o: File too large' err && test "$(cat o)" = OLD && ! ls -A | grep weld- || exit 1; done
.globl _start
_start: ret
.data
.fill 100000, 1, 7
.section .note.GNU-stack,"",@progbits
