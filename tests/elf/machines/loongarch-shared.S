//# about: LoongArch: a shared object and a program that uses it: slots, the PLT, thread-local storage by all models, copies, and who calls a resolver
//# not: bfd mold -- those that are installed are for this machine's programs
//# matrix: bits=64,32
//# obj: library.o = library.S @clang --target=loongarch{bits}-unknown-linux-gnu
//# obj: loongarch-shared.o = loongarch-shared.S @clang --target=loongarch{bits}-unknown-linux-gnu
//# link: -m elf{bits}loongarch -shared library.o -o library.so
//# reloc: JUMP_SLOT sym=function count=1
//# reloc: R_LARCH_{bits} sym=variable count=2
//# reloc: TLS_DTPMOD{bits} sym=each count=1
//# reloc: TLS_DTPREL{bits} sym=each count=1
//# reloc: TLS_TPREL{bits} sym=each count=1
//# reloc: TLS_DESC{bits} sym=each count=1
//# reloc: RELATIVE count=1
//# dynamic: FLAGS STATIC_TLS
// The header of the PLT, and an entry.
//# readelf: -x .plt => 0x\w+ \w{6}1c ad[b3]d1100
//# link: -m elf{bits}loongarch loongarch-shared.o library.so
//# reloc: COPY sym=variable count=1
//# reloc: JUMP_SLOT sym=function count=1
//# reloc: IRELATIVE count=1
//# readelf: -h => Flags: +0x4[13]
//# link: -m elf{bits}loongarch loongarch-shared.o library.so -pie -z pack-relative-relocs -o pie
//# reloc: JUMP_SLOT sym=function count=1
//# check: nrelr == 1
// Into one object, and once more.
//# link: -m elf{bits}loongarch -r library.o -o joined.o
//# link: -m elf{bits}loongarch -shared joined.o -o again.so
//# reloc: TLS_DESC{bits} sym=each count=1
#if __loongarch_grlen == 64
#define WORD .dword
#else
#define WORD .word
#endif
.globl _start
_start:
    la.pcrel $a0, variable
    bl function
    bl chosen
    ret
.globl chosen
.type chosen, @gnu_indirect_function
chosen: ret
.data
.p2align 3
word:
    WORD word
//--- library.S
#if __loongarch_grlen == 64
#define WORD .dword
#else
#define WORD .word
#endif
.globl function, variable, each
.type function, @function
.type variable, @object
.text
function:
    bl function
    la.got $a0, variable
    la.tls.gd $a0, each
    la.tls.ie $a1, each
    la.tls.desc $a0, each
    ret
.data
.p2align 3
variable: WORD variable
    .space 8
.size variable, 8
local: WORD local
.section .tdata,"awT"
.type each, @object
each: .space 8
