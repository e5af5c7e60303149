//# about: RELR in a static-pie program is applied by its own start-up code
//# machines: aarch64
//# not: mold -- 1.10 crashes the start-up code
//# link: %static-pie relr-static.o -z pack-relative-relocs
//# check: nrelr > 50
int x = 3;
int *volatile p = &x;
int main(void) { return *p; }
