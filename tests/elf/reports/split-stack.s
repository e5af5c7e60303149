//# about: calls from split-stack code to other code are named, which has no place for a large stack
//# only: weld -- lld rewrites the caller, the others say nothing
//# obj: other.o = other.s
//# obj: split.o = split.s
//# link: split-stack.o split.o
//# link: split-stack.o split.o other.o
//# warning: split-stack.o: split-stack code calls 'ordinary'
//# once
.weak ordinary
.globl _start
.text
_start:
  call split
  call ordinary
  ret
.section .note.GNU-split-stack,"",@progbits
.section .note.GNU-stack,"",@progbits
//--- split.s
.globl split, __morestack
.type split, @function
.type __morestack, @function
split: ret
__morestack: call split
.section .note.GNU-split-stack,"",@progbits
.section .note.GNU-stack,"",@progbits
//--- other.s
.globl ordinary
.type ordinary, @function
ordinary: ret
.section .note.GNU-stack,"",@progbits
