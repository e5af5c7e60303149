//# about: symbols of linker scripts: plain ones win, PROVIDE only fills in, HIDDEN stays inside
//# not: bfd -- it takes a script without SECTIONS for the whole layout
//# [weld|lld] link: script-symbols.o x.ld -shared
//# [weld|lld] check: sym(plain) == 0x10
//# [weld|lld] check: sym(alias) == sym(target) + 4
//# [weld|lld] check: sym(own) == sym(target)
//# [weld|lld] check: sym(filled) == 0x30
//# [weld|lld] check: sym(inner) == 0x40
//# [weld|lld] dynsym: plain
//# [weld|lld] no-dynsym: inner unused
//# [weld|lld] no-symbol: unused
//# [weld] fail: script-symbols.o bad.ld
//# [weld] error: bad\.ld:2:[0-9]+: nothere is not defined
//# not: mold -- it does not define symbols in scripts
.globl target, own
target: call filled@PLT
own = target
.data
.quad plain, alias, inner
.section .note.GNU-stack,"",@progbits
//--- x.ld
plain = 0x10;
alias = target + 4;
PROVIDE(own = 0x20);
PROVIDE(filled = 0x30);
HIDDEN(inner = 0x40);
PROVIDE_HIDDEN(unused = 0x50);
//--- bad.ld
/* the name below is wrong */
alias = nothere;
