//# about: --time-trace writes JSON with the phases; --stats prints a table
//# only: weld lld -- others have other forms
//# link: time-trace.o --time-trace=trace.json
//# once
//# sh: python3 -c 'import json; t = json.load(open("trace.json")); assert len(t["traceEvents"]) > 3'
//# [weld] link: time-trace.o --stats
//# [weld] once
//# [weld] stdout-re: wall|ms
//# [weld] sh: test -z "$($LD time-trace.o -o stats.out --stats | grep -E '.{81}')"
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
