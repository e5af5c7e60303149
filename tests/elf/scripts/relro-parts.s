//# about: -z keep-data-section-prefix: .data.rel.ro.hot and .data.rel.ro.unlikely of a script become read-only.
//# only: weld -- ld.lld's keyword, which counts in another way what becomes read-only with a script
//#
//# link: -z keep-data-section-prefix -T s.lds relro-parts.o
//# check: seg(GNU_RELRO) == addr(.data.rel.ro.hot)
//# check: addr(.data.rel.ro) < segend(GNU_RELRO)
//# link: -z keep-data-section-prefix -z nokeep-data-section-prefix -z lrodata-after-bss relro-parts.o
//# section: .data.rel.ro size=16
.globl _start
.text
_start:
    ret
.section .data.rel.ro.hot, "aw"
    .quad _start
.section .data.rel.ro, "aw"
    .quad _start
.data
    .quad 0
//--- s.lds
SECTIONS {
  . = 0x10000 + SIZEOF_HEADERS;
  .text : { *(.text) }
  . = ALIGN(0x1000);
  .data.rel.ro.hot : { *(.data.rel.ro.hot) }
  .data.rel.ro : { *(.data.rel.ro) }
  . = ALIGN(0x1000);
  .data : { *(.data) }
}
