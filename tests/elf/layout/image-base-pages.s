//# about: an image base that is a multiple of the machine's page but not of -z max-page-size runs, with a warning
//# only: weld -- what lld writes the loader does not map, mold refuses it, GNU ld has no such option
//# link: image-base-pages.o --image-base=0x201000 -z max-page-size=0x10000
//# warning: --image-base.*multiple of (the )?page size
//# check: seg(LOAD) == 0x201000
//# run: ./out
//# exit: 7
//# [weld] fail: image-base-pages.o --image-base=0x201800
//# [weld] error: image base 0x201800 is not a multiple of the page size 0x1000
.globl _start
_start:
  mov seven(%rip), %edi
  mov $60, %eax
  syscall
.data
seven: .long 7
.section .note.GNU-stack,"",@progbits
