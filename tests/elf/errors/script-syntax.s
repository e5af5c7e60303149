//# about: mistakes in scripts: file, line and what was expected
//# not: mold -- 1.10 crashes
//# fail: script-syntax.o bad.ld
//# error: bad\.ld:[34]
//# fail: script-syntax.o --version-script=bad.map
//# error: bad\.map:2
//# fail: script-syntax.o --dynamic-list=bad.list
//# error: bad\.list:[12]
//# fail: script-syntax.o --version-script=nothere.map
//# error: nothere\.map
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- bad.ld
/* a comment
   of two lines */
GROUP ( libx.a
//--- bad.map
V1 {
  global: a; }} ;
//--- bad.list
{ a; 
