//# about: options that have no effect here and are accepted
//# link: ignored.o -plugin ignored.o -plugin-opt=a -plugin-opt=-b --no-warn-mismatch --sort-common --no-copy-dt-needed-entries -g -qmagic
//# not: bfd mold lld -- each lacks some of them
//# warning: ^$|.
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
