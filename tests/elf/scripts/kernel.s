//# about: what scripts of kernels do: `. = ASSERT` behind SECTIONS, headers of PHDRS at address 0 and in their order, dynamic tables discarded, relocations kept
//# not: mold -- it reads no SECTIONS
//# link: kernel.o -T assert.ld
//# run: ./out
//# fail: kernel.o -T false.ld
//# error: too large
//# fail: kernel.o -T dot.ld
//# error: dot.ld:2:1: '.' can only be assigned to inside SECTIONS
//# link: kernel.o -shared -soname x -T vdso.ld -o vdso.so
//# no-verify: the script has all in one read-only segment, as that of the kernel does
//# segment: LOAD count=1
//# segment: DYNAMIC count=1
//# check: seg(LOAD) == 0
//# check: addr(.hash) == 0x40 + 3 * 56
//# link: kernel.o -pie --no-dynamic-linker -T boot.ld -o boot
//# no-section: .dynamic .dynsym .dynstr .hash .gnu.hash
//# no-segment: DYNAMIC
//# run: ./boot
//# link: relocs.o -T order.ld --emit-relocs -o kept
//# no-verify: PHDRS lists the segments out of the order of addresses
//# reloc: R_X86_64_64 sym=_start addend=4 in=.rela.text count=1
//# section: .rela.text type=RELA align=8 entsize=24
//# readelf: -lW => (?s)LOAD +0x\w+ 0x0*20000 .*LOAD +0x\w+ 0x0*10000 
.globl _start
.text
_start:
movl $60, %eax
xorl %edi, %edi
syscall
.section .note.GNU-stack,"",@progbits
//--- relocs.s
.globl _start
.text
_start: .quad _start + 4
.data
.quad 1
.section .note.GNU-stack,"",@progbits
//--- order.ld
PHDRS { data PT_LOAD; text PT_LOAD; stack PT_GNU_STACK; }
SECTIONS {
  . = 0x10000;
  .text : { *(.text) } :text
  . = 0x20000;
  .data : { *(.data) } :data
}
//--- assert.ld
SECTIONS { . = 0x10000; .text : { *(.text) } _end = .; }
. = ASSERT(_end - 0x10000 < 4096, "too large");
//--- false.ld
SECTIONS { . = 0x10000; .text : { *(.text) } _end = .; }
. = ASSERT(_end - 0x10000 > 4096, "too large");
//--- dot.ld
SECTIONS { .text : { *(.text) } }
. = 0x1000;
//--- vdso.ld
SECTIONS {
  . = SIZEOF_HEADERS;
  .hash : { *(.hash) } :text
  .gnu.hash : { *(.gnu.hash) }
  .dynsym : { *(.dynsym) }
  .dynstr : { *(.dynstr) }
  .dynamic : { *(.dynamic) } :text :dynamic
  .eh_frame_hdr : { *(.eh_frame_hdr) } :text :eh
  .eh_frame : { *(.eh_frame) } :text
  .text : { *(.text) } :text
  /DISCARD/ : { *(.data) *(.bss) }
}
PHDRS { text PT_LOAD FLAGS(5) FILEHDR PHDRS; dynamic PT_DYNAMIC FLAGS(4); eh 0x6474e550; }
//--- boot.ld
SECTIONS {
  . = 0x10000;
  .text : { *(.text) }
  /DISCARD/ : { *(.dynamic) *(.dynsym) *(.dynstr) *(.hash) *(.gnu.hash) *(.note.*) }
}
