//# about: --separate-debug-file: debug sections and the symbol table in a second file, which the first names, and which debuggers find.
//# only: weld -- mold only, which writes the second file later
//# cflags: -g -gdwarf-5
//#
//# link: %pie separate-debug-file.o --separate-debug-file --build-id=sha1 --gdb-index
//# run: ./out
//# section: .gnu_debuglink type=PROGBITS
//# contains: .gnu_debuglink = out.dbg\0
//# no-section: .debug_info .debug_line .symtab .strtab .gdb_index
//# sh: readelf -n out > a; readelf -n out.dbg > b; grep 'Build ID' a > c; grep 'Build ID' b | cmp - c
//# sh: llvm-readelf-22 -SW out.dbg > s; grep -q ' .text *NOBITS' s && grep -q ' .debug_info *PROGBITS' s && grep -q ' .gdb_index *PROGBITS' s
//# sh: readelf -sW out.dbg | grep ' FUNC *GLOBAL .* main$' >/dev/null
//# sh: llvm-objcopy-22 --remove-section=.gnu_debuglink --add-gnu-debuglink=out.dbg out other && for f in out other; do llvm-objcopy-22 --dump-section=.gnu_debuglink=link.$f $f copy; done; cmp link.out link.other
//# sh: gdb -nx -batch -ex 'info line twice' -ex 'break twice' -ex run -ex 'print number' out > log 2>&1; grep -q 'separate-debug-file.c' log && grep -q '= 21' log
//#
//# link: %static separate-debug-file.o --separate-debug-file=dbg --compress-debug-sections=zlib
//# run: ./out
//# sh: readelf -SW dbg | grep '\.debug_info .*C' >/dev/null && gdb -nx -batch -ex 'info line twice' out | grep 'separate-debug-file.c' >/dev/null
//# contains: .gnu_debuglink = dbg\0
//#
//# link: %pie separate-debug-file.o --separate-debug-file --no-separate-debug-file -o whole
//# section: .debug_info
//# no-section: .gnu_debuglink
//# missing: whole.dbg
//#
//# fail: %pie separate-debug-file.o --separate-debug-file=nowhere/x
//# error: cannot create nowhere/x
//# fail: %pie separate-debug-file.o --separate-debug-file=out
//# error: would be the same file
//# fail: %pie separate-debug-file.o --separate-debug-file --emit-relocs
//# error: cannot be used together
__attribute__((noinline)) int twice(int number) {
    return 2 * number;
}

int main(int argc, char **argv) {
    return twice(20 + argc) - 42;
}
