//# about: --stats and --verbose: counts, files, output engine
//# only: weld -- about its own words
//# sh: ar rcs libx.a one.o two.o
//# link: stats.o libx.a --stats --build-id
//# once
//# stdout-re: archive members extracted: 1 of 2
//# stdout-re: objects: 2
//# stdout-re: output bytes: [0-9]+
//# stdout-re: (?m)^  copy and relocate sections +[0-9.]+ +[0-9.]+ +[0-9]+$
//# stdout-re: (?m)^  build id 
//# link: stats.o libx.a --verbose
//# once
//# stdout-re: (?m)^opened stats\.o$
//# stdout-re: (?m)^opened libx\.a$
//# stdout-re: output engine
//# stdout-re: (?m)^using internal linker script:\n=+\nSECTIONS\n(.*\n)+?\}\n=+\nopened
//# link: stats.o libx.a --verbose -T x.ld
//# once
//# stdout-not: internal linker script
//# sh: "$LD" -shared --verbose | sed '1,/^=====/d; /^=====/,$d' > shown; "$LD" -shared --print-default-script | cmp - shown
//# sh-fail: "$LD" -r --verbose
.globl _start
_start: call one
.section .note.GNU-stack,"",@progbits
//--- x.ld
SECTIONS { .text : { *(.text) } }
//--- one.s
.globl one
one: ret
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two
two: ret
.section .note.GNU-stack,"",@progbits
