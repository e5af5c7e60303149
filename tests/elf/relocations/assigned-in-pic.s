//# about: a value that --defsym gives is an address in the image as it is linked
//# not: mold -- it refuses
//# link: -shared assigned-in-pic.o --defsym=_begin=0
//# check: sym(f) + 7 + s32(sym(f) + 3) == 0
//# link: -pie assigned-in-pic.o --defsym=_begin=alias --defsym=alias=0x10 -e f -o pie
//# check: sym(f) + 7 + s32(sym(f) + 3) == 0x10
.globl f
.hidden _begin
f: lea _begin(%rip), %rax
.section .note.GNU-stack,"",@progbits
