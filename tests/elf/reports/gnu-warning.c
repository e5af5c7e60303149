//# about: .gnu.warning.SYMBOL of objects and libraries warns those who refer, once for each symbol; .gnu.warning those who link
//# matrix: where=object,dso
//# not: lld mold -- they ignore them
//# obj: old.o = old.s
//# obj: user.o = user.c -fPIC
//# obj: gnu-warning.o = gnu-warning.c -fPIC
//# [where=dso] link: -shared old.o -o libold.so
//# [where=dso] link: gnu-warning.o user.o ./libold.so -e start -o out
//# [where=object] link: gnu-warning.o user.o old.o -e start -o out
//# warning: do not use old_function
//# [weld] warning: do not use old_function\n>>> referenced by gnu-warning\.o:.*\n>>> referenced by user\.o
//# link: quiet.o old.o -e start -o quiet
//# link: quiet.o old.o file.o -e start -o noted
//# warning: this file is old
//# link: gnu-warning.o user.o old.o -e start -w -o none
void old_function(void);
void user(void);
void start(void) { old_function(); user(); }
//--- user.c
void old_function(void);
void user(void) { old_function(); }
//--- quiet.c
void start(void) {}
//--- old.s
.globl old_function, another
old_function: another: ret
.section .gnu.warning.old_function,"",@progbits
.asciz "do not use old_function"
.section .gnu.warning.another,"",@progbits
.asciz "never said"
.section .note.GNU-stack,"",@progbits
//--- file.s
.section .gnu.warning,"",@progbits
.asciz "this file is old"
.section .note.GNU-stack,"",@progbits
