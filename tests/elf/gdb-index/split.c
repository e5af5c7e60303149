//# about: Split DWARF: the names are in the lists beside the skeletons, and GDB finds the rest in the .dwo files; without lists there is a warning
//# matrix: cc=gcc,clang dwarf=4,5 kind=pie
//# sh: for f in split other; do $CC -B$LD_DIR -g -gdwarf-{dwarf} -gsplit-dwarf -ggnu-pubnames -O0 -c $f.c -o $f.o || exit 1; done
//# link: %pie split.o other.o --gdb-index -o out
//# sh: DEBUGINFOD_URLS= gdb -nx -batch -ex 'maint print objfiles' -ex 'break inner' -ex 'ptype struct pair' -ex run -ex bt out > said 2>&1; cat said
//# file: said => \.gdb_index: version 7
//# file: said => Breakpoint 1 at .*other.c, line
//# file: said => type = struct pair \{
//# file: said => #1 .* in main \(\) at split.c:
//# sh: $CC -g -gdwarf-{dwarf} -gsplit-dwarf -O0 -c other.c -o unlisted.o && objcopy -R .debug_gnu_pubnames -R .debug_gnu_pubtypes -R .rela.debug_gnu_pubnames -R .rela.debug_gnu_pubtypes unlisted.o bare.o
//# link: %pie split.o bare.o --gdb-index -o hidden
//# warning: bare.o: .gdb_index has no names of its units: they are in .dwo files; compile with -ggnu-pubnames
struct pair { int first, second; };
int inner(struct pair *pair);
int main(void) {
  struct pair pair = {1, 2}; return inner(&pair) - 3;
}
//--- other.c
struct pair { int first, second; };
int inner(struct pair *pair) {
  return pair->first + pair->second;
}
