//# about: an executable cannot stand in for what a shared object protects
//# only: weld lld -- others warn or say nothing
//# link: -shared lib.o -o lib.so
//# fail: protected-address.o lib.so
//# error: function
//# error: variable
.globl _start
_start:
  mov $function, %eax
  mov variable(%rip), %eax
.section .note.GNU-stack,"",@progbits
//--- lib.s
.globl function, variable
.protected function, variable
.type function, @function
function: ret
.data
.type variable, @object
.size variable, 4
variable: .long 1
.section .note.GNU-stack,"",@progbits
