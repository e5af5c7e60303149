//# about: PLT entries: lazy ones in .plt with .got.plt, eager ones with -z now
//# matrix: bind=lazy,now
//# link: -shared plt-dynamic-call.o -z {bind}
//# reloc: JUMP_SLOT sym=ext count=1
//# reloc: JUMP_SLOT sym=ext2 count=1
//# no-reloc: JUMP_SLOT sym=local
//# [bind=now weld|lld|bfd] dynamic: FLAGS BIND_NOW
//# [bind=now] dynamic: FLAGS_1 NOW
//# [bind=lazy] no-dynamic: FLAGS_1
//# dynamic: PLTRELSZ 48
//# dynamic: PLTREL 7
//# [weld|bfd] readelf: -d => (?s)\(PLTREL\).*\(JMPREL\)
//# [bind=lazy weld|lld|bfd] check: u64(addr(.got.plt)) == addr(.dynamic)
.globl f, local
.hidden local
f:
  call ext@PLT
  call ext@PLT
  call ext2@PLT
  call local@PLT
  jmp ext
local: ret
.section .note.GNU-stack,"",@progbits
