//# about: what has the name of debug information, but is in memory, is data: no index is made from it
//# matrix: kind=pie
//# link: %pie in-memory.o --debug-names --gdb-index -o out
//# run: ./out
__attribute__((section(".debug_names"))) int tables[] = {5, 6};
__attribute__((section(".debug_gnu_pubnames"))) int lists[] = {7};
int main(void) { return tables[0] + tables[1] + lists[0] - 18; }
