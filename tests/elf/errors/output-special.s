//# about: -o /dev/null works and stays a device; a symbolic link's target is replaced or the link, never both broken
//# link: output-special.o -o /dev/null
//# no-verify: nothing to read
//# once
//# sh: test -c /dev/null
//# sh: mkdir sub && echo old > sub/target && ln -s sub/target link
//# link: output-special.o -o link
//# once
//# sh: chmod +x link && { ./link || test $? = 5; }
.globl _start
_start: mov $60, %eax
  mov $5, %edi
  syscall
.section .note.GNU-stack,"",@progbits
