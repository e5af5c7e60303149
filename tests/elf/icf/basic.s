//# about: --icf=all keeps one of functions that are the same, also of those that call each other
//# link: basic.o --icf=all --print-icf-sections
//# stdout-re: selected section basic\.o:\(\.text\.f1\)
//# stdout-re:   removing identical section basic\.o:\(\.text\.f2\)
//# stdout-not: other
//# check: sym(f1) == sym(f2) == sym(local)
//# check: symsize(f1) == symsize(f2) == 6
//# symbol: local bind=LOCAL section=.text
//# check: sym(even1) == sym(even2)
//# check: sym(odd1) == sym(odd2)
//# check: sym(even1) < sym(odd1)
//# check: sym(self1) == sym(self2)
//# check: sym(caller1) == sym(caller2)
//# check: sym(strict) % 64 == 0
//# check: sym(loose) == sym(strict)
//# check: sym(f1) < sym(other1) < sym(other2) < sym(other3) < sym(other4) < sym(other5) < sym(other6)
//# check: sym(text1) == sym(text2)
//# check: sym(text1) < sym(text3) < sym(text4)
//# check: sym(constant1) == sym(constant2)
//# check: sym(constant1) < sym(constant3)
//# check: u64(sym(table)) == u64(sym(table) + 8) == sym(f1)
//# check: u64(sym(table) + 16) == sym(f1) + 1
//# link: basic.o --icf=all --print-icf-sections=list --no-icf -o none
//# check: sym(f1) < sym(f2) < sym(local)
//# file-not: list => .
//# link: basic.o --icf=none -o none2
//# same: none none2
//# [weld] link: basic.o --icf=all --print-icf-sections=list --keep-unique=f2 --keep-unique=caller1
//# [weld] check: sym(f1) == sym(local) < sym(f2)
//# [weld] check: sym(caller1) < sym(caller2)
//# [weld] file: list => selected section basic.o:\(.text.f1\)\n  removing identical section basic.o:\(.text.local\)
//# [weld] link: basic.o --icf=all --keep-unique=nobody
//# [weld] warning: --keep-unique=nobody
//# [weld] fail: -r basic.o --icf=all
//# [weld] error: -r and --icf
.globl _start, f1, f2, other1, table, caller1
.section .text._start,"ax"
_start: call caller1
  call caller2
  ret

.macro function name
.section .text.\name,"ax",@progbits
\name:
.endm
.macro end name
.size \name, . - \name
.endm

function f1
  mov $42, %eax
  ret
end f1
function f2
  mov $42, %eax
  ret
end f2
function local
  mov $42, %eax
  ret
end local

// The same bytes, but what they lead to, where and how differs.
function other1
  lea f1(%rip), %rax
function other2
  lea f1+1(%rip), %rax
function other3
  lea other1(%rip), %rax
function other4
  mov f1@GOTPCREL(%rip), %rax
function other5
  lea _start(%rip), %rax
function other6
  .byte 0x48, 0x8d, 5, 0, 0, 0, 0

function even1
  test %edi, %edi
  jne odd1
  ret
function odd1
  dec %edi
  call even1
  ret
function even2
  test %edi, %edi
  jne odd2
  ret
function odd2
  dec %edi
  call even2
  ret

function self1
  inc %edi
  jmp self1
function self2
  inc %edi
  jmp self2

function caller1
  call f1
  call odd1
  ret
function caller2
  call f2
  call odd2
  ret

function loose
  xchg %ax, %ax
  ret
.section .text.strict,"ax"
  .p2align 6
strict:
  xchg %ax, %ax
  ret

// Strings and constants are the same if their texts are.
function text1
  lea string1(%rip), %rcx
function text2
  lea string2(%rip), %rcx
function text3
  lea string3(%rip), %rcx
function text4
  lea string1+1(%rip), %rcx
function constant1
  mov number1(%rip), %rdx
function constant2
  mov number2(%rip), %rdx
function constant3
  mov number3(%rip), %rdx
.section .rodata.str1.1,"aMS",@progbits,1
string1: .asciz "same"
.section .rodata.other.str1.1,"aMS",@progbits,1
  .asciz "before"
string2: .asciz "same"
string3: .asciz "not the same"
.section .rodata.cst8,"aM",@progbits,8
number1: .quad 1
.section .rodata.other.cst8,"aM",@progbits,8
number3: .quad 3
number2: .quad 1

.data
table: .quad f1, f2, local + 1
.section .note.GNU-stack,"",@progbits
