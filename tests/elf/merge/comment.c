//# about: .comment is merged: one line for each compiler
//# link: %pie comment.o two.o three.o
//# section: .comment flags=MS type=PROGBITS
//# sh: test $(strings out | grep -c "^GCC: .Debian 12.2.0-14+deb12u1. 12.2.0$") -eq 1
int two(void), three(void);
int main(void) { return two() + three(); }
//--- two.c
int two(void) { return 0; }
//--- three.c
int three(void) { return 0; }
