//# about: scripts that ask for what cannot be end in errors: the end of memory, files of any size, overlaps, what is not there
//# only: weld -- the others take some of them
//# sh: for s in 'SECTIONS { . = 0xffffffffffffffff; .text : { *(.text) } }' 'SECTIONS { .data : { BYTE(1) . += 0x7fffffffffffffff; BYTE(2) } }' 'SECTIONS { .text 0x1000 : { *(.text) } .data 0x1000 : { *(.data) } }' 'SECTIONS { .text : { *(.text) } x = nothere; }' 'SECTIONS { .text ADDR(.nothere) : { *(.text) } }' 'SECTIONS { .text : { *(.text) } x = 1 / SIZEOF(.nothere); }' 'SECTIONS { .text : { *(.text) } >r }' 'SECTIONS { .text : { *(.text) } :p }' 'SECTIONS { .text (. + 1) : { *(.text) } . = ADDR(.text); .b : { BYTE(1) } }' 'SECTIONS { .a : { CLASS(c) } }' 'SECTIONS { .text : ALIGN(3) { *(.text) } }' 'SECTIONS { .text : SUBALIGN(.) { *(.text) } }' 'SECTIONS { /DISCARD/ : { *(.text) } } ASSERT(DEFINED(gone), "gone")' 'PHDRS { a PT_LOAD FILEHDR; } SECTIONS { .text : { *(.text) } :a }'; do echo "$s" > s.ld; rm -f hout; if $LD hostile.o -T s.ld -o hout 2> err; then echo "linked: $s"; fi; grep -q 'error:' err || cat err; ! grep -q 'internal error' err || cat err; test ! -e hout || echo "left: $s"; done
//# stdout-not: .
.globl _start, gone2
.text
_start: ret
.fill 15
.data
.quad 1
.section .note.GNU-stack,"",@progbits
