//# about: what a script names is looked for beside the script before the working directory and -L; = without a sysroot says nothing
//# not: mold -- it looks in the working directory first
//# obj: here.o = here.s
//# sh: mkdir -p dir lib && as dir.s -o dir/here.o && as dir.s -o lib/there.o && cp script.t rooted.t dir
//# link: -shared script-directory.o dir/script.t
//# symbol: in_dir
//# no-symbol: in_cwd
//# link: -shared script-directory.o script.t
//# symbol: in_cwd
//# link: -shared script-directory.o there.t -Llib
//# symbol: in_dir
//# [weld|bfd] link: -shared script-directory.o dir/rooted.t
//# [weld|bfd] symbol: in_dir
.globl f
f: ret
.section .note.GNU-stack,"",@progbits
//--- here.s
.globl in_cwd
in_cwd: ret
.section .note.GNU-stack,"",@progbits
//--- dir.s
.globl in_dir
in_dir: ret
.section .note.GNU-stack,"",@progbits
//--- script.t
INPUT(here.o)
//--- rooted.t
GROUP(=here.o)
//--- there.t
INPUT(there.o)
