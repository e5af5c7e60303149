//# about: in a shared object the dynamic sequences stay, one GOT entry (pair) for each symbol and model
//# not: bfd -- it turns all models into initial-exec once a symbol has one such reference
//# link: -shared shared-no-relax.o
//# reloc: DTPMOD64 sym=exported count=1
//# reloc: DTPOFF64 sym=exported count=1
//# reloc: DTPMOD64 sym= count=2
//# reloc: TLSDESC sym=exported count=1
//# reloc: TPOFF64 sym=exported count=1
//# bytes: sym(gd) = 66 48 8d 3d
//# bytes: sym(desc) = 48 8d 05
//# dynamic: FLAGS STATIC_TLS
.text
.globl gd, desc
gd:
  .byte 0x66
  leaq exported@tlsgd(%rip), %rdi
  .value 0x6666
  rex64
  call __tls_get_addr@PLT
  .byte 0x66
  leaq exported@tlsgd(%rip), %rdi
  .value 0x6666
  rex64
  call __tls_get_addr@PLT
  .byte 0x66
  leaq hid@tlsgd(%rip), %rdi
  .value 0x6666
  rex64
  call __tls_get_addr@PLT
  leaq hid@tlsld(%rip), %rdi
  call __tls_get_addr@PLT
  leaq hid@dtpoff(%rax), %rdx
  leaq exported@tlsld(%rip), %rdi
  call __tls_get_addr@PLT
desc:
  leaq exported@tlsdesc(%rip), %rax
  call *exported@tlscall(%rax)
  movq exported@gottpoff(%rip), %rax
  ret
.section .tbss,"awT",@nobits
.globl exported, hid
.hidden hid
.type exported, @object
exported: .zero 8
.type hid, @object
hid: .zero 8
.section .note.GNU-stack,"",@progbits
