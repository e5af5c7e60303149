//# about: the output is executable as the umask allows; -r and -shared outputs too; an old file's mode does not matter
//# link: permissions.o -o out
//# sh: test "$(stat -c %a out)" = 755
//# sh: umask 077; $LD permissions.o -o private && test "$(stat -c %a private)" = 700
//# sh: chmod 400 out; $LD permissions.o -o out && test "$(stat -c %a out)" = 755
//# not: mold bfd -- they keep the old file's mode or fail
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
