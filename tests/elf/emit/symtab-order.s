//# about: .symtab: file symbols before the locals of their file, one section for all strings
//# link: symtab-order.o two.o
//# symbol: symtab-order.s type=FILE bind=LOCAL section=ABS
//# [!mold] symbol: _start bind=GLOBAL type=NOTYPE section=.text
//# symbol: object type=OBJECT size=8
//# check: info(.symtab) >= 4
.file "symtab-order.s"
.globl _start, object
_start: ret
local1: ret
.data
.type object, @object
.size object, 8
object: .quad 1
.section .note.GNU-stack,"",@progbits
//--- two.s
.file "two.s"
local2: ret
.section .note.GNU-stack,"",@progbits
