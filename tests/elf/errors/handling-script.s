//# about: --error-handling-script is told what is missing, before the messages; that it fails is an error, too
//# only: weld -- lld runs it, but its words differ
//# sh: printf '#!/bin/sh\necho "$@" >> told\n' > tell && chmod +x tell
//# sh-fail: $LD handling-script.o -L. -lnowhere -o out --error-handling-script=./tell
//# stderr-re: unable to find library -lnowhere
//# file: told => ^missing-lib nowhere\n$
//# sh-fail: rm told && $LD handling-script.o -o out --error-handling-script=./tell
//# stderr-re: undefined symbol: f\(int\)
//# file: told => ^undefined-symbol _Z1fi\nundefined-symbol g\n$
//# sh-fail: $LD handling-script.o -o out --error-handling-script=/bin/false
//# stderr-re: error: --error-handling-script: /bin/false failed
//# sh-fail: $LD handling-script.o -o out --error-handling-script=./none
//# stderr-re: error: --error-handling-script: \./none cannot be run: No such file
//# link: handling-script.o --defsym=g=0 --defsym=_Z1fi=0 -o out --error-handling-script=./none
.globl _start
_start: call _Z1fi
call g
.section .note.GNU-stack,"",@progbits
