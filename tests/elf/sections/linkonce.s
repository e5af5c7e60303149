//# about: .gnu.linkonce sections: the first of a name stays, tables go with their functions, a COMDAT group of one member with the key counts as one
//# not: lld mold -- two definitions in them are an error
//# matrix: order=old,new
//# obj: b.o = b.s
//# obj: new.o = new.s
//# [order=old] link: -e main linkonce.o b.o new.o
//# [order=new] link: -e main new.o linkonce.o b.o
//# [weld|bfd] section: .text
//# no-section: .gnu.linkonce.t.foo .gnu.linkonce.r.foo .gnu.linkonce.d.v .gnu.linkonce.b.z
//# [order=old] check: u8(sym(foo)) == 0x90
//# [order=new] check: u8(sym(foo)) == 0xcc
//# check: u32(sym(v)) == 1
//# check: size(.data) == 4
//# check: size(.bss) == 8
// What is left of b.o leads to what stays.
//# check: s32(sym(other) + 1) + sym(other) + 5 == sym(foo)
//# link: -r linkonce.o b.o -o both.o
//# link: -e main both.o
//# check: u32(sym(v)) == 1
.globl main, foo, v, z
main: call foo
.section .gnu.linkonce.t.foo,"ax",@progbits
.type foo, @function
foo: .cfi_startproc
  nop
  lea table(%rip), %rax
  ret
  .cfi_endproc
.section .gnu.linkonce.r.foo,"a",@progbits
table: .quad 1
.section .gnu.linkonce.d.v,"aw",@progbits
v: .long 1
.section .gnu.linkonce.b.z,"aw",@nobits
z: .zero 8
.section .note.GNU-stack,"",@progbits
//--- b.s
.globl other, foo, v, z
.text
other: call foo
.section .gnu.linkonce.t.foo,"ax",@progbits
.weak foo
foo: .cfi_startproc
  lea table(%rip), %rax
  ret
  .cfi_endproc
.section .gnu.linkonce.r.foo,"a",@progbits
table: .quad foo
.section .gnu.linkonce.d.v,"aw",@progbits
v: .long 2
.section .gnu.linkonce.b.z,"aw",@nobits
z: .zero 8
.section .note.GNU-stack,"",@progbits
//--- new.s
.section .text.foo,"axG",@progbits,foo,comdat
.globl foo
foo: int3
.section .note.GNU-stack,"",@progbits
