//# about: SEARCH_DIR counts behind -L and not with -nostdlib; OUTPUT, OUTPUT_FORMAT, OUTPUT_ARCH, EXTERN, VERSION
//# sh: mkdir -p dir other && ar rcs dir/libx.a one.o && ar rcs other/libx.a two.o && ar rcs libpulled.a pulled.o
//# link: script-commands.o search.ld -lx
//# symbol: one
//# link: script-commands.o search.ld -lx -Lother
//# symbol: two
//# [weld|lld] fail: script-commands.o search.ld -lx -nostdlib
//# [weld|lld] error: -lx
//# [weld] link: script-commands.o output.ld -o named
//# missing: elsewhere
//# [weld] sh: $LD script-commands.o output.ld output-again.ld
//# exists: elsewhere
//# missing: a.out again
//# [weld] sh-fail: $LD script-commands.o output.ld -Map=elsewhere
//# [weld] stderr-re: the output and --Map would be the same file
//# [weld] fail: script-commands.o format.ld
//# [weld] error: format\.ld: is for elf32-i386
//# [weld] fail: script-commands.o arch.ld
//# [weld] error: arch\.ld: is for aarch64
//# [weld|lld] link: script-commands.o extern.ld libpulled.a
//# [weld|lld] symbol: pulled
//# [weld] link: script-commands.o version.ld -shared
//# [weld] dynsym: _start@@V1
//# not: bfd mold -- they read these otherwise
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl one, _x
.weak _x
one: _x: ret
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two, _x
two: _x: ret
.section .note.GNU-stack,"",@progbits
//--- pulled.s
.globl pulled
pulled: ret
.section .note.GNU-stack,"",@progbits
//--- search.ld
SEARCH_DIR(dir) EXTERN(_x)
//--- output.ld
OUTPUT(elsewhere)
//--- output-again.ld
OUTPUT(again)
//--- format.ld
OUTPUT_FORMAT(elf32-i386)
//--- arch.ld
OUTPUT_ARCH(aarch64)
//--- extern.ld
EXTERN(pulled)
//--- version.ld
VERSION { V1 { global: _start; local: *; }; }
