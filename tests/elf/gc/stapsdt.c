//# about: --gc-sections keeps what the notes of probes count from
//# not: lld mold -- they drop it
//# cflags: -ffunction-sections
//# link: %pie stapsdt.o --gc-sections
//# section: .stapsdt.base flags=A
//# section: .note.stapsdt
//# run: ./out
int main(void) {
  __asm__ volatile("990: nop\n"
                   ".pushsection .note.stapsdt,\"?\",\"note\"\n"
                   ".balign 4\n.4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"
                   "993: .8byte 990b\n.8byte _.stapsdt.base\n.8byte 0\n.asciz \"a\"\n.asciz \"b\"\n.asciz \"\"\n"
                   "994: .balign 4\n.popsection\n"
                   ".ifndef _.stapsdt.base\n"
                   ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
                   ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"
                   ".size _.stapsdt.base,1\n.popsection\n.endif\n");
  return 0;
}
