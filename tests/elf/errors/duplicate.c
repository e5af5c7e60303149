//# about: duplicate definitions: symbol and both places, with source lines
//# cflags: -g
//# fail: %pie duplicate.o two.o
//# error: duplicate symbol: twice
//# error: duplicate.c:9
//# error: two.c:2
//# error: duplicate\.o
//# error: two\.o
int twice(void) { return 1; }
int main(void) { return twice(); }
//--- two.c
int other(void) { return 2; }
int twice(void) { return 2; }
