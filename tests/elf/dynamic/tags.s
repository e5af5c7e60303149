//# about: options that become dynamic entries
//# link: -shared tags.o -soname=so -rpath /a:/b -rpath=/c -rpath /a:/b -z nodelete -z initfirst -z nodlopen -z origin -z interpose -z nodefaultlib -z global -z now
//# dynamic: SONAME so
//# dynamic: RUNPATH /a:/b:/c
//# no-dynamic: RPATH
//# dynamic: FLAGS_1 NODELETE|INITFIRST|NOOPEN|ORIGIN|INTERPOSE|NODEFLIB|NOW
//# [lld|bfd|weld] dynamic: FLAGS_1 GLOBAL
//# [!mold] dynamic: FLAGS ORIGIN|BIND_NOW
//# link: -shared tags.o -R/x --disable-new-dtags -h name -fini done -init start
//# dynamic: RPATH /x
//# no-dynamic: RUNPATH
//# dynamic: SONAME name
//# check: dyn(INIT) == sym(start)
//# check: dyn(FINI) == sym(done)
//# link: -shared tags.o -f aux1 --auxiliary=aux2 -F filt
//# dynamic: AUXILIARY aux1
//# dynamic: AUXILIARY aux2
//# dynamic: FILTER filt
.globl start, done
start: ret
done: ret
.section .note.GNU-stack,"",@progbits
