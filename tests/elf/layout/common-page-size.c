//# about: -z common-page-size above the largest page size: that is raised if nothing says how large it is, and counts if something does
//# only: weld -- GNU ld refuses the one, lld says nothing of the other
//# link: %pie common-page-size.o -z common-page-size=0x10000 -o a
//# check: segalign(LOAD) == 0x10000
//# check: segend(GNU_RELRO) % 0x10000 == 0
//# run: ./a
//# link: %pie common-page-size.o -z common-page-size=0x10000 -z max-page-size=0x2000 -o b
//# warning: common-page-size=0x10000 is above -z max-page-size=0x2000
//# check: segalign(LOAD) == 0x2000
//# run: ./b
int x;
int *const p = &x;
int main(void) { return *p; }
