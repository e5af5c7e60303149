//# about: a script that discards what it does not name, and knows dynamic relocations only by the names that GNU ld has for their parts (memtest86+ for i386)
//# not: mold lld -- mold reads no SECTIONS; ld.lld lets no script discard its own sections
//# link: -shared -Bsymbolic -T t.ld tables-by-parts.o
//# check: dyn(RELA) == addr(.rela.data)
//# reloc: RELATIVE count=2
//# no-section: .rela.dyn
.globl f
f: ret
.data
.quad f, f
.section .note.GNU-stack,"",@progbits
//--- t.ld
SECTIONS {
  . = SIZEOF_HEADERS;
  .text : { *(.text) }
  .dynsym : { *(.dynsym) } .dynstr : { *(.dynstr) } .hash : { *(.hash) } .gnu.hash : { *(.gnu.hash) }
  .shstrtab : { *(.shstrtab) }
  .rela.text : { *(.rela.text) } .rela.data : { *(.rela.data) } .rela.got : { *(.rela.got) }
  . = ALIGN(4096);
  .data : { *(.data) } .got : { *(.got.plt) *(.got) }
  .dynamic : { *(.dynamic) }
  .bss : { *(.bss) }
  /DISCARD/ : { *(*) }
}
