//# about: --fatal-warnings, --no-fatal-warnings, -w
//# link: fatal-warnings.o -e nowhere
//# warning: nowhere
//# [!mold] fail: fatal-warnings.o -e nowhere --fatal-warnings
//# [!mold] error: nowhere
//# [lld|weld] link: fatal-warnings.o -e nowhere --fatal-warnings --no-fatal-warnings
//# [lld|weld] warning: nowhere
//# [lld|weld|bfd] link: fatal-warnings.o -e nowhere -w
.text
nop
.section .note.GNU-stack,"",@progbits
