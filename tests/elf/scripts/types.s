//# about: only sections that are arrays of functions by name are that with other data in them
//# not: mold -- it reads no SECTIONS
//# link: types.o -T x.ld
//# section: .data type=PROGBITS
//# section: .array type=INIT_ARRAY
//# section: .init_array type=INIT_ARRAY
.globl _start
_start: ret
.data
.quad 1
.section .init_array.1,"aw",@init_array; .quad _start
.section .init_array.2,"aw",@init_array; .quad _start
.section .init_array.3,"aw",@init_array; .quad _start
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS {
  . = 0x10000;
  .text : { *(.text) }
  .data : { *(.data) *(.init_array.1) }
  .array : { *(.init_array.2) }
  .init_array : { *(.init_array.3) }
}
