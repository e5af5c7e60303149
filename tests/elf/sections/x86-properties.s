//# about: properties of x86-64 besides branch tracking: what may be in pointers (LAM), levels of the instruction set, mappings to be sealed
//# only: weld -- GNU ld 2.40 has no seals and no report of levels
//# link: x86-properties.o none.o -z lam-u48 -o u48
//# readelf: -n => 0xc>
//# link: x86-properties.o none.o -z lam-u57 -o u57
//# readelf: -n => 0x8>
//# link: x86-properties.o -o both
//# readelf: -n => 0xc>
//# link: x86-properties.o none.o -o neither
//# readelf-not: -n => x86 feature
//# link: x86-properties.o none.o -z lam-report=warning -o r
//# warning: (?s)none\.o: -z lam-u48-report: .*LAM_U48.*none\.o: -z lam-u57-report
//# fail: x86-properties.o none.o -z lam-u57-report=error -o r
//# error: none\.o: -z lam-u57-report: file does not have the LAM_U57 property
//# link: none.o x86-properties.o -z memory-seal -o sealed
//# bytes: addr(.note.gnu.property) + 16 = 03 00 00 00 00 00 00 00
//# link: none.o -z memory-seal -z nomemory-seal -e 0 -o open
//# no-section: .note.gnu.property
//# sh: $LD x86-properties.o none.o -z isa-level-report=all -o r
//# stderr-re: x86-properties\.o: needs x86-64-v2, x86-64-v3\n(.*\n)*.*none\.o: does not say what it uses
//# link: -r x86-properties.o none.o -z lam-u48 -z ibt -z x86-64-v4 -z indirect-extern-access -o all.o
//# readelf: -n => x86 feature: IBT, <unknown flags: 0xc>
//# readelf: -n => application-specific type 0xb0008000
//# readelf: -n => x86-64-v3, x86-64-v4
//# link: all.o -z noindirect-extern-access -o direct
//# readelf-not: -n => 0xb0008000
//# link: -r none.o -z cet-report=error -z ibt -z shstk -o claimed.o
//# readelf: -n => IBT, SHSTK
//# fail: -r none.o -z cet-report=error -z ibt -o r.o
//# error: none\.o: -z cet-report: file does not have the SHSTK property
//# error-not: IBT
//# link: -r none.o -z memory-seal -z unique --warn-section-align -o r.o
//# warning: (?s)--warn-section-align has no effect with -r.*-z memory-seal has no effect with -r.*-z unique has no effect
//# no-section: .note.gnu.property
.globl _start
_start: ret
.section .note.gnu.property,"a",@note
.p2align 3
.long 4, 32, 5
.asciz "GNU"
.long 0xc0000002, 4, 12, 0
.long 0xc0008002, 4, 6, 0
.section .note.GNU-stack,"",@progbits
//--- none.s
nop
.section .note.GNU-stack,"",@progbits
