//# about: mistakes in linker scripts are shown: file, line, column, and the line itself
//# not: mold -- it reads no such scripts
//# only: weld -- others have other words
//# fail: script-places.o -T bad.ld
//# error: bad\.ld:3:10: expected .*, but found ':'
//# error: >>>   \.text :: \{
//# error: >>>          \^
//# fail: script-places.o -T deep.ld
//# error: deep\.ld:1:\d+: the expression nests too deeply
//# fail: script-places.o -T cycle.ld
//# error: cycle\.ld:2:9: linker scripts include one another too deeply
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- bad.ld
SECTIONS
{
  .text :: { *(.text) }
}
//--- deep.ld
x = ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))));
//--- cycle.ld
/* again */
INCLUDE cycle.ld
