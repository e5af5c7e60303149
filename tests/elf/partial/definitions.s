//# about: -r: --defsym, --wrap, -d, -u; undefined symbols keep strength and TLS type
//# not: mold bfd -- mold 1.10 keeps every section apart, GNU ld refuses references that say less of TLS
//# link: -r definitions.o two.o --defsym=abs=0x1234 --defsym=alias=placed+4 --wrap=wrapped -o r.o
//# symbol: abs section=ABS value=0x1234
//# symbol: alias section=.data value=60
//# symbol: weak bind=WEAK section=UND
//# symbol: both bind=GLOBAL section=UND
//# [weld|bfd] symbol: tls type=TLS section=UND
//# symbol: __wrap_wrapped section=UND
//# no-symbol: wrapped
//# reloc: * sym=__wrap_wrapped
//# symbol: com section=COMMON size=32 value=16
//# symbol: vis vis=HIDDEN
//# [weld] link: -r definitions.o two.o -d -o d.o
//# [weld] symbol: com section=.bss size=32 value=16
//# [weld] check: size(.bss) == 48
//# fail: -r definitions.o --defsym=a=nowhere
//# error: nowhere
.weak weak
.data
.quad weak, both, tls, wrapped, com
.weak both
.comm com, 32, 4
.hidden vis
.quad vis
.bss
.byte 0
.section .note.GNU-stack,"",@progbits
//--- two.s
.data
.quad both
.globl placed, vis
placed: .quad 0
vis: .quad 0
.type tls, @tls_object
.quad tls@DTPOFF
.comm com, 8, 16
.section .note.GNU-stack,"",@progbits
