//# about: -Map in GNU ld's form, under its name or by --map-format=gnu: members of archives, discarded sections, memory, sections and global symbols by address
//# not: lld mold gold -- they have other forms
//# obj: member.o = member.s
//# sh: ar rc libm.a member.o
//# sh: $LD_DIR/ld map-of-gnu-ld.o -L. -lm --gc-sections -e start -Map m.txt -o prog
//# file: m.txt => (?m)^Archive member included to satisfy reference by file \(symbol\)$
//# file: m.txt => (?m)^(\./)?libm\.a\(member\.o\) +map-of-gnu-ld\.o \(wanted\)$
//# file: m.txt => (?m)^Discarded input sections$
//# file: m.txt => (?m)^ \.text\.dead +0x0000000000000000 +0x3 (\./)?libm\.a\(member\.o\)$
//# file: m.txt => (?m)^ \.text\.a_long_name_that_is_dead$\n^ {16}0x0000000000000000 +0x1 map-of-gnu-ld\.o$
//# file: m.txt => (?m)^Memory Configuration\n\nName +Origin +Length +Attributes\n\*default\* +0x0000000000000000 0xffffffffffffffff\n\nLinker script and memory map$
//# file: m.txt => (?m)^LOAD map-of-gnu-ld\.o$
//# file: m.txt => (?m)^\.text +0x[0-9a-f]{16} +0x[0-9a-f]+$
//# file: m.txt => (?m)^ \.text +0x[0-9a-f]{16} +0x6 map-of-gnu-ld\.o\n {16}0x[0-9a-f]{16} +start$
//# file: m.txt => (?m)^ COMMON +0x[0-9a-f]{16} +0x20 map-of-gnu-ld\.o\n {16}0x[0-9a-f]{16} +shared_room$
//# file: m.txt => (?m)^OUTPUT\(prog elf64-x86-64\)$
//# sh: $LD_DIR/ld map-of-gnu-ld.o -L. -lm --gc-sections -e start -Map d.txt -o prog --no-print-map-discarded
//# file-not: d.txt => Discarded|dead
//# [weld] sh: $LD_DIR/ld.lld map-of-gnu-ld.o -L. -lm --gc-sections -e start -Map n.txt -o prog --map-format=gnu && cmp m.txt n.txt
//# [weld] sh: $LD_DIR/ld map-of-gnu-ld.o -L. -lm --gc-sections -e start -Map l.txt -o prog --map-format=lld && grep '^ *VMA' l.txt
//# [weld] sh: $LD_DIR/ld.weld map-of-gnu-ld.o -L. -lm --gc-sections -e start -Map w.txt -o prog && cmp l.txt w.txt
//# sh: printf 'MEMORY { rom (rx) : ORIGIN = 0x1000, LENGTH = 64K ram (w!x) : ORIGIN = 0x80000, LENGTH = 1M } SECTIONS { PROVIDE(unasked = 1); .text : { first = . + 2; KEEP(*(EXCLUDE_FILE(z.o) .text* SORT_BY_NAME(.foo))) } > rom .data : { *(.data*) } > ram AT> rom .bss : { *(.bss* COMMON) } > ram last = .; } behind = 0x77;' > s.ld
//# sh: $LD_DIR/ld -T s.ld map-of-gnu-ld.o member.o -Map s.txt -o prog -e start
//# file: s.txt => (?m)^rom +0x0000000000001000 0x0000000000010000 xr$
//# file: s.txt => (?m)^ram +0x0000000000080000 0x0000000000100000 w!x$
//# file: s.txt => (?m)^\.data +0x0000000000080000 +0x8 load address 0x00000000000010[0-9a-f]{2}$
//# file: s.txt => (?m)^ {16}0x0000000000001002 +first = \(\. \+ 0x2\)$
//# file: s.txt => (?m)^ KEEP \(\*\(EXCLUDE_FILE\(z\.o\) \.text\* SORT_BY_NAME\(\.foo\)\)\)\n \.text
//# file: s.txt => (?m)^ {16}0x0000000000000077 +behind = 0x77$
//# file: s.txt => (?m)^ +\[!provide\] +PROVIDE \(unasked = 0x1\)$
//# sh: mkdir maps && $LD_DIR/ld -T s.ld map-of-gnu-ld.o member.o -Map maps -o prog -e start && cmp s.txt maps/prog.map
//# sh: $LD_DIR/ld -T s.ld map-of-gnu-ld.o member.o -Map maps/% -o two -e start && grep first maps/two.map
//# sh: $LD_DIR/ld -T s.ld map-of-gnu-ld.o member.o -Map maps/%.txt -o two -e start && cmp maps/two.map maps/two.txt
.globl start
start: call wanted
  ret
.comm shared_room, 32, 8
.section .text.a_long_name_that_is_dead,"ax",@progbits
nop
.data
.globl number
number: .quad shared_room
.section .note.GNU-stack,"",@progbits
//--- member.s
.globl wanted, dead
.section .text.wanted,"ax",@progbits
wanted: mov number(%rip), %rax
  ret
.section .text.dead,"ax",@progbits
dead: nop
  nop
  ret
.section .note.GNU-stack,"",@progbits
