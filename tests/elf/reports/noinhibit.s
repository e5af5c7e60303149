//# about: --noinhibit-exec turns errors about symbols into warnings and writes the output; others stay errors
//# only: weld lld -- GNU ld differs in what it tolerates
//# link: noinhibit.o two.o far.o --noinhibit-exec -o out
//# no-verify: branches go nowhere
//# warning: duplicate symbol: twice
//# warning: undefined symbol: missing
//# warning: out of range
//# exists: out
//# symbol: twice
//# fail: noinhibit.o two.o nothere.o --noinhibit-exec -o out2
//# error: nothere\.o
//# missing: out2
//# fail: noinhibit.o two.o far.o --noinhibit-exec --fatal-warnings -o out3
//# error: duplicate symbol: twice
//# missing: out3
.globl _start, twice
_start: call missing
  movb $far, %al
twice: ret
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl twice
twice: ret
.section .note.GNU-stack,"",@progbits
//--- far.s
.globl far
.set far, 0x12345
.section .note.GNU-stack,"",@progbits
