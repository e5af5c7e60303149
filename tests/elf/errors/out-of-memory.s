//# about: a limit on memory is an error, not an abort; the old output stays
//# only: weld -- others abort or do not say
//# sh: ls out-of-memory.o; timeout 60 bash try
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- try
for i in $(seq 30000); do echo ".globl symbol_with_a_name_$i; symbol_with_a_name_$i: nop"; done | as -o many.o
printf OLD >o
failed=0
# The least that the program starts with, and on.
for limit in $(seq 8000 500 60000); do
  r=0
  (ulimit -v $limit; exec $LD --threads=1 out-of-memory.o many.o -o o) 2>err || r=$?
  [ $r = 0 ] && break
  # Below that the loader or the kernel ends it.
  grep -q 'error: out of memory' err || { [ $failed = 0 ] && { [ $r = 127 ] || [ $r -gt 128 ] && ! grep -q 'memory allocation' err; } && continue; }
  failed=$limit
  test $r = 1 && test "$(wc -l <err)" = 1 && grep -q 'error: out of memory$' err &&
    test "$(cat o)" = OLD && ! ls -A | grep weld- || { echo "$limit: $r"; cat err; exit 1; }
done
test $failed != 0 && test $r = 0
# For programs it is JSON.
(ulimit -v $failed; exec $LD --error-format=json --threads=1 out-of-memory.o many.o -o o) 2>err
test $? = 1 && grep -qx '{"level":"error","code":"out-of-memory","message":"out of memory"}' err || { cat err; exit 1; }
