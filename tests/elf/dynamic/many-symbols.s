//# about: tables of dynamic symbols that are larger than one unit of the image: each symbol is found by name, and each
//# about: word of the GOT and each entry of the PLT is its own
//# matrix: style=gnu,sysv
//# link: -shared -z lazy --hash-style={style} many-symbols.o -o libmany.so
//# check: size(.got) > 524288
//# check: size(.plt) > 524288
//# check: size(.rela.plt) > 524288
//# check: size(.dynstr) > 524288
//# [style=gnu] check: size(.gnu.hash) > 524288
//# link: %pie main.o libmany.so -o main
//# run: ./main
//# stdout: all found

        .altmacro

// Address and function number n: what the GOT says, what is there, and a call through the PLT.
        .macro one n
        .globl word\n, call\n, tls\n
        .pushsection .text
        .type call\n, @function
call\n: incl count(%rip)
        ret
        .popsection
        .pushsection .data
        .type word\n, @object
        .size word\n, 4
word\n: .long \n
        .popsection
        .pushsection .tbss, "awT", @nobits
        .type tls\n, @object
        .size tls\n, 4
tls\n:  .zero 4
        .popsection
        movq word\n@GOTPCREL(%rip), %rdx
        cmpl $\n, (%rdx)
        jne fail
        // Two words of the GOT, at odd places after the first.
        .byte 0x66
        leaq tls\n@tlsgd(%rip), %rdi
        .value 0x6666
        rex64
        call __tls_get_addr@PLT
        incl (%rax)
        cmpl $1, (%rax)
        jne fail
        call call\n@PLT
        .endm

        .globl check
        .type check, @function
        .section .text.check, "ax", @progbits
check:  pushq %rbx
        movq odd@GOTPCREL(%rip), %rax

        .set i, 0
        .rept 34000
        one %i
        .set i, i + 1
        .endr

        movl count(%rip), %eax
        popq %rbx
        ret
fail:   movl $-1, %eax
        popq %rbx
        ret

        .bss
        .globl odd
odd:    .zero 8
        .type count, @object
count:  .zero 4
        .section .note.GNU-stack, "", @progbits

//--- main.c
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int check(void);

int main(void) {
    if (check() != 34000)
        return 1;
    for (int i = 0; i < 34000; i++) {
        char name[16];
        sprintf(name, "word%d", i);
        int *word = dlsym(RTLD_DEFAULT, name);
        if (!word || *word != i)
            return 2;
    }
    if (dlsym(RTLD_DEFAULT, "word34000"))
        return 3;
    puts("all found");
    return 0;
}
