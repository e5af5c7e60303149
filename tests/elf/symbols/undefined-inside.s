//# about: what is not of default visibility has to be in the output: no option and no library makes up for it
//# not: mold -- it leaves protected ones to the loader, and a hidden one is 0 if told to ignore it
//# matrix: vis=hidden,protected,internal kind=shared,exec
//# obj: t.o = undefined-inside.s --defsym {vis}=1
//# obj: weak.o = undefined-inside.s --defsym {vis}=1 --defsym WEAK=1
//# link: -shared lib.o -o lib.so
//# [kind=shared] sh: echo "-shared" > mode
//# [kind=exec] sh: echo "-e start" > mode
//# fail: @mode t.o
//# error: (undefined (hidden|protected|internal) symbol: inside|undefined reference to `inside')
//# fail: @mode t.o lib.so
//# error: (undefined (hidden|protected|internal) symbol: inside|undefined reference to `inside')
//# [weld] error: >>> lib\.so defines it, but the declaration's visibility
//# fail: @mode t.o --unresolved-symbols=ignore-all
//# error: (undefined (hidden|protected|internal) symbol: inside|undefined reference to `inside')
//# fail: @mode t.o --warn-unresolved-symbols
//# error: (undefined (hidden|protected|internal) symbol: inside|undefined reference to `inside')
//# link: @mode weak.o
//# no-dynsym: inside
//# no-reloc: *
//# check: u64(sym(words)) == 0
//# link: @mode weak.o lib.so
//# [!lld] no-dynsym: inside
//# no-reloc: *
//# check: u64(sym(words)) == 0
.globl start
start:
  mov inside@GOTPCREL(%rip), %rax
.ifdef WEAK
.weak inside
.endif
.ifdef hidden
.hidden inside
.endif
.ifdef protected
.protected inside
.endif
.ifdef internal
.internal inside
.endif
.data
.globl words
.balign 8
words: .quad inside
.section .note.GNU-stack,"",@progbits
//--- lib.s
.data
.globl inside
.type inside, @object
inside: .quad 5
.size inside, 8
.section .note.GNU-stack,"",@progbits
