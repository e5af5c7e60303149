//# about: sections with nothing but data of the script are notes and arrays of functions by their names
//# only: weld bfd -- lld makes data of all
//# obj: lib.o = lib.s
//# sh: $LD -shared lib.o -o lib.so
//# link: data-types.o lib.so -T x.ld --dynamic-linker=ld.so
//# section: .note.package type=NOTE flags=A
//# section: .init_array type=INIT_ARRAY flags=WA entsize=8
//# section: .fini_array.5 type=FINI_ARRAY
//# section: .preinit_array type=PREINIT_ARRAY
//# section: .note.mixed type=PROGBITS
//# segment: NOTE count=1
//# check: seg(NOTE) == addr(.note.package)
//# check: dyn(INIT_ARRAY) == addr(.init_array)
//# check: dyn(INIT_ARRAYSZ) == 8
// As Debian's and Fedora's package notes.
//# [weld] link: data-types.o lib.so -T note.ld -o note
//# [weld] section: .note.package type=NOTE flags=A
//# [weld] segment: NOTE count=1
.globl _start
_start: call f@PLT
.section .mixed,"a"; .quad 1
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl f
.type f,@function
f: ret
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  . = 0x10000 + SIZEOF_HEADERS;
  .text : { *(.text) }
  .interp : { *(.interp) }
  .note.package : ALIGN(4) { LONG(4) LONG(4) LONG(0xcafe1a7e) BYTE(0x46) BYTE(0x44) BYTE(0x4f) BYTE(0) LONG(0) }
  .dynamic : { *(.dynamic) }
  .note.mixed : { LONG(1) *(.mixed) }
  .init_array : { QUAD(_start) }
  .fini_array.5 : { QUAD(_start) }
  .preinit_array : { QUAD(_start) }
}
//--- note.ld
SECTIONS {
  .note.package (READONLY) : ALIGN(4) { BYTE(4) BYTE(0) BYTE(0) BYTE(0) LONG(4) LONG(0xcafe1a7e) BYTE(0x46) BYTE(0x44) BYTE(0x4f) BYTE(0) LONG(0) }
}
INSERT AFTER .note.gnu.build-id;
