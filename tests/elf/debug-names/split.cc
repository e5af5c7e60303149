//# about: --debug-names with split DWARF: type units are elsewhere, and entries tell the unit that stands for the file
//# matrix: cc=clang kind=pie
//# lang: c++
//# sh: for f in split other; do $CXX -B$LD_DIR -g -gdwarf-5 -gsplit-dwarf -gpubnames -fdebug-types-section -O0 -c $f.cc -o $f.o || exit 1; done
//# link: %pie split.o other.o --debug-names -o out
//# sh: llvm-dwarfdump-22 --debug-names out > index; llvm-dwarfdump-22 --verify out | grep -c 'No errors'
//# stdout: 1
//# file: index => CU count: 2
//# file: index => Local TU count: 0
//# file: index => Foreign TU count: 1
//# sh: grep -A16 '"Pair"$' index | grep 'DW_IDX'
//# stdout-re: DW_IDX_type_unit: 0x00
//# stdout-re: DW_IDX_compile_unit: 0x00
//# stdout-re: DW_IDX_compile_unit: 0x01
struct Pair { int first, second; };
int inner(Pair *pair);
int main() {
  Pair pair = {1, 2}; return inner(&pair) - 3;
}
//--- other.cc
struct Pair { int first, second; };
int inner(Pair *pair) { return pair->first + pair->second; }
