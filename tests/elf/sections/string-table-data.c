//# about: a variable in a section with the name of a table of the file, whose type gas takes from it, is data (patchelf's tests have such)
//# not: lld -- it takes the variable's address for 0
//# not: mold -- it takes the variable's address for 0
//# not: gold -- it refuses it
//# machines: aarch64
//# link: %pie string-table-data.o
//# run: ./out
//# check: addr(.shstrtab) > 0
//# link: -r string-table-data.o -o again.o
//# link: %pie again.o -o second
//# run: ./second
const int __attribute__((section(".shstrtab"))) first = 42;
const int __attribute__((section(".strtab"))) second = 43;
const int *const __attribute__((section(".symtab_shndx"))) pointer = &second;
int main(void) {
    return *(volatile const int *)&first + *(volatile const int *)&second + *pointer != 128;
}
