//# about: -z nosectionheader leaves the section headers out
//# only: weld -- lld 22 and others here do not know it in this form
//# link: nosectionheader.o -z nosectionheader
//# check: nsections == 0
//# run: ./out
//# exit: 3
// Nothing that only a section header could find is left.
//# sh-fail: grep -c 'weld\|debug text\|_start' out
//# sh: readelf -hW out | grep 'Start of section headers: *0 ' >/dev/null
//# sh: readelf -hW out | grep 'Number of section headers: *0' >/dev/null
//# link: -shared nosectionheader.o -z nosectionheader --build-id --compress-debug-sections=zlib -o shared.so
//# check: nsections == 0
//# sh: readelf -dW shared.so | grep GNU_HASH >/dev/null
//# fail: -r nosectionheader.o -z nosectionheader
//# error: -r and -z nosectionheader
.globl _start
_start: mov $3, %edi
  mov $60, %eax
  syscall
.section .debug_foo,"",@progbits
  .ascii "debug text"
.section .note.GNU-stack,"",@progbits
