//# about: --bp-startup-sort and --bp-compression-sort: functions of the start first, by a profile; what is alike near one another.
//# only: weld lld -- ld.lld's options
//#
//# sh: llvm-profdata-22 merge p.proftext -o p.profdata
//# link: --irpgo-profile=p.profdata --bp-startup-sort=function balanced-partitioning.o
//# check: sym(late) < sym(_start)
//# [weld] check: sym(first) < sym(second)
//# [weld] check: sym(first) < sym(late)
//# check: sym(second) < sym(_start)
//# [weld] sh: $LD --irpgo-profile=p.profdata --bp-startup-sort=function --bp-compression-sort=both --bp-compression-sort-startup-functions --verbose-bp-section-orderer balanced-partitioning.o
//# [weld] stdout-re: 3 of functions of the start, 7 of other functions, 4 of data
//#
//# [weld] link: --bp-compression-sort=both balanced-partitioning.o
//# [weld] check: sym(x2) - sym(x1) < 24
//# [weld] check: sym(x3) - sym(x2) < 24
//# [weld] check: sym(d1) + 32 == sym(d3)
//# [weld] link: --bp-compression-sort=both --symbol-ordering-file=order balanced-partitioning.o
//# [weld] check: sym(y3) == addr(.text)
//#
//# fail: --bp-startup-sort=function balanced-partitioning.o
//# [weld] error: --bp-startup-sort=function needs --irpgo-profile
//# fail: --bp-compression-sort-startup-functions balanced-partitioning.o
//# [weld] error: needs --irpgo-profile
//# fail: --bp-compression-sort=some balanced-partitioning.o
//# [weld] error: --bp-compression-sort
//# fail: --bp-compression-sort=both --call-graph-ordering-file=order balanced-partitioning.o
//# [weld] error: cannot be used together
//# [weld] fail: --irpgo-profile=order --bp-startup-sort=function balanced-partitioning.o
//# [weld] error: order: is no indexed profile
.macro function name, constant
.globl \name
.section .text.\name, "ax"
\name:
    movabs $\constant, %rax
    ret
.endm
function _start, 1
function x1, 0x1122334455667788
function y1, 0x0123456789abcdef
function x2, 0x1122334455667788
function y2, 0x0123456789abcdef
function x3, 0x1122334455667788
function y3, 0x0123456789abcdef
function late, 2
function second, 3
.section .text.first, "ax"
first:
    ret
.macro data name, constant
.globl \name
.section .data.\name, "aw"
\name:
    .rept 4
    .quad \constant
    .endr
.endm
data d1, 0x1111222233334444
data d2, 0x5555666677778888
data d3, 0x1111222233334444
data d4, 0x5555666677778888
//--- order
y3
//--- p.proftext
:ir
:temporal_prof_traces
# Num Traces
2
# Trace Stream Size:
2
# Weight
1
a.c;first, second, late
# Weight
1
a.c;first, late, second

a.c;first
# Func Hash:
1
# Num Counters:
1
# Counter Values:
1

second
# Func Hash:
1
# Num Counters:
1
# Counter Values:
1

late
# Func Hash:
1
# Num Counters:
1
# Counter Values:
1
