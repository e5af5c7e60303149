//# about: with -z notext exception frames still take no dynamic relocations: at fixed addresses an entry of the PLT stands for the personality function
//# not: mold bfd -- they have the loader change the frames
//# obj: lib.o = lib.s
//# link: -shared lib.o -o libpersonality.so
//# link: -e main textrel-frames.o libpersonality.so -z notext
//# no-dynamic: TEXTREL
//# check: u64(addr(.eh_frame) + 18) == dynsym(personality)
//# [weld] fail: -pie -e main textrel-frames.o libpersonality.so -z notext
//# error: R_X86_64_64 needs a dynamic relocation against 'personality', but exception frames take none
    .text
    .globl main
    .type main, @function
main:
    .cfi_startproc
    .cfi_personality 0, personality
    ret
    .cfi_endproc
    .section .note.GNU-stack, "", @progbits
//--- lib.s
    .text
    .globl personality
    .type personality, @function
personality: ret
    .section .note.GNU-stack, "", @progbits
