//# about: a closed or broken stderr does not turn an error into something else
//# sh: $LD closed-stderr.o 2>&- && exit 1; test $? = 1
//# sh: { $LD closed-stderr.o nothere.o 2>&1 || echo $? > code; } | true; test "$(cat code)" = 1
//# only: weld -- others die of SIGPIPE
.globl _start
_start: call missing
.section .note.GNU-stack,"",@progbits
