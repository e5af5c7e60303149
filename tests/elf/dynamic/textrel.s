//# about: relocations of read-only memory: an error with -z text (the default), DT_TEXTREL with -z notext
//# not: mold bfd -- they allow it by default
//# fail: -shared textrel.o -z text
//# error: R_X86_64_64.*ext
//# error: textrel.o
//# error: ext
//# fail: -shared textrel.o
//# error: ext
//# link: -shared textrel.o -z notext
//# dynamic: TEXTREL
//# dynamic: FLAGS TEXTREL
//# reloc: R_X86_64_64 sym=ext
//# reloc: RELATIVE
.text
.quad ext
.quad local
local: ret
.section .note.GNU-stack,"",@progbits
