//# about: a name whose only definition lost with its group is undefined, not 0: a library may have it, or it is an error
//# not: mold -- an assertion fails
//# obj: main.o = discarded-definition.s
//# obj: weak.o = discarded-definition.s --defsym WEAK=1
//# link: -shared lib.o -o lib.so
//# sh: ar rcs lib.a lib.o
//# fail: first.o main.o
//# error: (discarded section|undefined reference to `f')
//# [weld] error: symbol is defined only in a discarded section: f\n(>>> .*\n)*>>> the copy of the group that stays is in first\.o
//# [weld] fail: first.o weak.o
//# [weld] error: symbol is defined only in a discarded section: f
//# fail: first.o main.o lib.a
//# error: (discarded section|undefined reference to `f')
//# [weld] error: >>> lib\.a\(lib\.o\) defines it too, but is not read
//# [!lld] link: first.o main.o lib.so -o program -dynamic-linker /lib64/ld-linux-x86-64.so.2
//# [!lld] dynsym: f section=UND bind=GLOBAL
//# [!lld] dynamic: NEEDED lib.so
//# [!lld] run: ./program
//# [!lld] exit: 5
//# link: -shared first.o main.o -o out.so
//# [!bfd] dynsym: f section=UND bind=GLOBAL
.section .text.g,"axG",@progbits,g,comdat
.weak g
g: ret
.ifdef WEAK
.weak f
.else
.globl f
.endif
.type f, @function
f: ret
.text
.globl _start
_start:
  call f@PLT
  mov %eax, %edi
  mov $60, %eax
  syscall
.section .note.GNU-stack,"",@progbits
//--- first.s
.section .text.g,"axG",@progbits,g,comdat
.weak g
g: nop
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl f
.type f, @function
f: mov $5, %eax
  ret
.size f, .-f
.section .note.GNU-stack,"",@progbits
