//# about: --remap-inputs and --remap-inputs-file read other files than are named, in inputs, libraries and scripts
//# only: weld lld -- GNU ld 2.40 has no such options
//# sh: ar rcs libx.a three.o && ar rcs liby.a four.o && mkdir -p other && mv three.o other
//# link: wrong.o -L. -lx gone.o script.ld --remap-inputs=wrong.o=remap.o --remap-inputs=*libx.a=liby.a \
//#   --remap-inputs-file=rules
//# run: ./out
//# exit: 6
//# link: wrong.o other.o --remap-inputs=wro*=two.o --remap-inputs=wrong.o=remap.o --remap-inputs=o*.o=four.o \
//#   --remap-inputs=ot*=remap.o --remap-inputs=four.o=two.o --remap-inputs=x=y
//# fail: wrong.o other.o --remap-inputs=wrong.o=remap.o --remap-inputs=other.o=none.o
//# [weld] error: cannot open none\.o: No such file or directory\n>>> it is read in place of other\.o
//# [lld] error: cannot open none\.o
//# fail: remap.o --remap-inputs=x
//# [weld] error: --remap-inputs: expected PATTERN=FILE
//# fail: remap.o --remap-inputs=a[=x
//# [weld] error: --remap-inputs: bad pattern 'a\[': '\[' without '\]'
//# fail: remap.o --remap-inputs-file=bad
//# [weld] error: bad:3: expected PATTERN=FILE
//# fail: remap.o --remap-inputs-file=none
//# [weld] error: cannot open none: No such file or directory
//# [weld] link: wrong.o -L. -lx gone.o script.ld --remap-inputs=wrong.o=remap.o --remap-inputs=*libx.a=liby.a \
//#   --remap-inputs-file=rules --reproduce=r.tar --dependency-file=d -o first
//# [weld] sh: mkdir there && tar -xf r.tar -C there && rm -f remap.o liby.a rules && cd there/* && \
//#   $LD @response.txt -o again && cmp again ../../first
//# [weld] file: d => rules
.globl _start
_start: call four
  add %edi, %edi
  mov $60, %eax
  syscall
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl four
four: mov $2, %edi
  ret
.section .note.GNU-stack,"",@progbits
//--- three.s
.globl three
three: ret
.section .note.GNU-stack,"",@progbits
//--- four.s
.globl four
four: mov $3, %edi
  ret
.section .note.GNU-stack,"",@progbits
//--- script.ld
INPUT(in-script.o)
//--- rules
# What is not there.
gone.o=/dev/null

in-?cript.o=/dev/null
//--- bad
a=b

c
