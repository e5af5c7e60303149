//# about: AArch64: code that nobody reads (SHF_AARCH64_PURECODE, --execute-only): segments that allow execution only, thunks without data
//# not: bfd mold -- those that are installed do not know it
//# machines: aarch64
//# except: machine=x86-64
//# obj: aarch64-unread-code.o = aarch64-unread-code.s @clang
//# obj: more.o = more.s @clang
//# obj: read.o = read.s @clang
//# obj: far.o = far.s @clang
//# obj: lib.o = lib.s @clang
//# obj: data.o = data.s @clang
//# link: aarch64-unread-code.o more.o
// Sections without bytes say nothing.
//# section: .text flags=AX+0x20000000
//# section: .more flags=AX+0x20000000
//# readelf: -l => LOAD.*   E 0x
//# link: aarch64-unread-code.o more.o read.o
//# section: .text flags=AX+0x20000000
//# section: .more flags=AX
//# readelf: -l => LOAD.* R E 0x
//# readelf-not: -l => LOAD.*   E 0x
//# link: --xosegment aarch64-unread-code.o more.o read.o
//# readelf: -l => LOAD.*   E 0x
//# readelf: -l => LOAD.* R E 0x
//# link: --xosegment --no-xosegment aarch64-unread-code.o more.o read.o
//# readelf-not: -l => LOAD.*   E 0x
//# link: --execute-only aarch64-unread-code.o more.o read.o
//# readelf: -l => LOAD.*   E 0x
//# readelf-not: -l => LOAD.* R E 0x
//# link: -r aarch64-unread-code.o more.o -o joined.o
//# section: .more flags=AX+0x20000000
// The PLT is read by nobody, either.
//# link: -shared lib.o -o lib.so
//# link: far.o lib.so
//# section: .plt flags=AX+0x20000000
//# readelf: -l => LOAD.*   E 0x
//# [weld] link: far.o lib.so read.o
//# [weld] section: .plt flags=AX
// Thunks that load nothing.
//# [weld] link: far.o lib.so --section-start=.elsewhere=0x12345678000
//# [weld] disasm: __AArch64AbsXOLongThunk_elsewhere => mov\s+x16, #0x8000.*\n.*movk\s+x16, #0x4567, lsl #16\n.*movk\s+x16, #0x123, lsl #32\n.*movk\s+x16, #0x0, lsl #48\n.*br\s+x16
//# [weld] link: -shared -Bsymbolic far.o --section-start=.elsewhere=0x12345678000
//# [weld] disasm: __AArch64RelXOLongThunk_elsewhere => mov\s+x16.*\n.*movk.*\n.*movk.*\n.*movk.*\n.*adr\s+x17.*\n.*add\s+x16, x16, x17\n.*br\s+x16
//# [weld] link: aarch64-unread-code.o more.o read.o -z execute-only-report=warning
//# warning: -z execute-only-report: section does not say that nobody reads it: read.o:\(.more\)
//# [weld] fail: aarch64-unread-code.o more.o read.o -z execute-only-report=error
//# error: section does not say that nobody reads it: read.o:\(.more\)
//# link: aarch64-unread-code.o more.o -z execute-only-report=error
//# [weld] fail: --execute-only --no-rosegment aarch64-unread-code.o more.o
//# error: --execute-only: with --no-rosegment data lies in the segment of code
//# [weld] sh: echo 'SECTIONS { .text : { *(.text .more) *(.rodata) } }' > mixed.t
//# [weld] fail: --execute-only -T mixed.t aarch64-unread-code.o more.o data.o
//# error: --execute-only: there is data among the code in .text, which nobody could read
//# [weld] sh-fail: printf '' | as - -o native.o && $LD -shared --execute-only -z execute-only-report=error native.o -o native.so
//# stderr-re: (?s)--execute-only: x86-64 has no code that nobody reads.*-z execute-only-report: x86-64 has no code
    .section .text, "axy", @progbits, unique, 0
    .globl _start
_start: bl more
//--- more.s
    .section .more, "axy", @progbits
    .globl more
more: ret
//--- read.s
    .section .more, "ax", @progbits
    ret
//--- far.s
    .section .text, "axy", @progbits, unique, 0
    .globl _start, elsewhere
_start:
    bl elsewhere
    bl of_library
    .section .elsewhere, "axy", @progbits
elsewhere: ret
//--- lib.s
    .globl of_library
    .type of_library, @function
    .text
of_library: ret
//--- data.s
    .section .rodata, "a"
    .quad 1
