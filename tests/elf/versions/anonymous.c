//# about: an anonymous version script only says what is exported
//# not: mold -- 1.10 lets a glob win over a name
//# obj: lib.o = anonymous.c -fPIC
//# link: %shared lib.o --version-script v.map
//# dynsym: keep_this
//# dynsym: exact
//# no-dynsym: hide_this keep_not
//# no-section: .gnu.version_d
int keep_this(void) { return 1; }
int keep_not(void) { return 1; }
int exact(void) { return 1; }
int hide_this(void) { return 2; }
//--- v.map
{ global: keep_*; exact; local: keep_not; *; };
