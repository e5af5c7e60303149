//# about: --section-start and -Ttext give addresses that go down within a page: sections lie in the file as they do in memory, and all of them run
//# link: starts-out-of-order.o -Ttext=0x401f00 --section-start=.low=0x401e00 --section-start=.lower=0x401d80
//# run: ./out
//# exit: 42
//# check: addr(.low) == 0x401e00
//# check: addr(.text) == 0x401f00
//# link: starts-out-of-order.o -Ttext=0x401f00 --section-start=.low=0x401e00 --section-start=.lower=0x401d80 --build-id -o with-id
//# run: ./with-id
//# exit: 42
// With large pages, others share them, too.
//# link: starts-out-of-order.o -Ttext=0x408f00 --section-start=.low=0x401e00 --section-start=.lower=0x401d80 -z max-page-size=0x10000 -o far
//# run: ./far
//# exit: 42
// What is in a page last says whether the page can be run, and be written to.
//# link: starts-out-of-order.o -Ttext=0x401e00 --section-start=.low=0x401d00 --section-start=.lower=0x401c80 --section-start=.constant=0x401f00 -o constant
//# run: ./constant
//# exit: 42
//# [weld] fail: starts-out-of-order.o -Ttext=0x401e00 --section-start=.low=0x401f00 --section-start=.lower=0x401e80 --section-start=.data=0x401d00
//# [weld] error: shares a page
.globl _start
_start:
  call low
  mov %eax, %edi
  call lower
  add %eax, %edi
  mov $60, %eax
  syscall
.section .low,"ax"
low:
  mov $40, %eax
  ret
.section .lower,"ax"
lower:
  mov $2, %eax
  ret
.section .constant,"a"
  .long 7
.data
  .long 8
