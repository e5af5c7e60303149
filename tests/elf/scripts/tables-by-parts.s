//# about: scripts that know dynamic relocations only by the names that GNU ld has for their parts: memtest86+ for i386, which discards what it does not name, and gnu-efi
//# not: mold lld -- mold reads no SECTIONS; ld.lld lets no script discard its own sections
//# link: -shared -Bsymbolic -T t.ld tables-by-parts.o
//# check: dyn(RELA) == addr(.rela.data)
//# reloc: RELATIVE count=2
//# no-section: .rela.dyn
//# link: -shared -Bsymbolic -T joined.ld tables-by-parts.o
//# check: dyn(RELA) == addr(.rela) == 0x3000
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
//--- joined.ld
SECTIONS {
  . = 0x1000; .text : { *(.text) } .data : { *(.data) *(.got.plt) *(.got) } .dynamic : { *(.dynamic) }
  . = 0x3000; .rela : { *(.rela.data*) *(.rela.got*) *(.rela.stab*) }
  . = 0x4000; .dynsym : { *(.dynsym) } .dynstr : { *(.dynstr) } .hash : { *(.hash) } .gnu.hash : { *(.gnu.hash) }
}
