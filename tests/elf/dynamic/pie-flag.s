//# about: DF_1_PIE marks executables; DT_DEBUG is there for the debugger, not in libraries
//# link: -pie pie-flag.o
//# [!mold] dynamic: FLAGS_1 PIE
//# dynamic: DEBUG
//# link: -shared pie-flag.o
//# no-dynamic: FLAGS_1 PIE
//# no-dynamic: DEBUG
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
