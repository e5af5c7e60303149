//# about: .debug_str shares its strings between objects
//# matrix: cc=gcc,clang
//# cflags: -g
//# link: %pie debug-str.o two.o
//# contains: .debug_str x1 = a_rather_long_type_name\0
//# sh: llvm-dwarfdump-22 --verify out
struct a_rather_long_type_name { int member_of_it; };
struct a_rather_long_type_name global;
int two(struct a_rather_long_type_name *);
int main(void) { return two(&global); }
//--- two.c
struct a_rather_long_type_name { int member_of_it; };
int two(struct a_rather_long_type_name *p) { return p->member_of_it; }
