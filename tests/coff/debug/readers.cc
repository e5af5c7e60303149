//# about: what debuggers read in a PDB: lldb's own reader and wine's dbghelp find functions, lines, types and variables, as in lld's
//# cxxflags: -gcodeview -O0 -fno-exceptions -fno-rtti -std=c++17
//# link: readers.obj /entry:entry /nodefaultlib /subsystem:console /debug
//# run:
//# exit: 24
//# sh: mkdir own lld; cp out.exe own; cd lld; lld-link-22 ../readers.obj /entry:entry /nodefaultlib /subsystem:console /debug /out:out.exe
//# sh: ask() { (cd $1; lldb-22 -b -o 'target create out.exe' -o 'image lookup -n entry' -o 'image lookup -v -f readers.cc -l 43' -o 'type lookup inner::Shape' -o 'image lookup -t Pair' \
//#       -o 'breakpoint set -f readers.cc -l 43' -o 'breakpoint set -n twice<int>' -o 'breakpoint list -v' -o 'target variable table' 2>&1 | sed "s,/$1/,/,g; s/Symbol: id = {0x[0-9a-f]*}/Symbol:/"); }; \
//#     ask own > own.txt; ask lld > lld.txt; cmp own.txt lld.txt
//# file: own.txt => out.exe`entry at readers.cc:47
//# file: own.txt => (?s)struct Shape \{\n\s*virtual int area\(\);\n\s*int width;\n\s*int height;
//# file: own.txt => name = "from", type = "const int \*", valid ranges = <block>, location = .* -> DW_OP_breg\d RSP\+\d+
//# file: own.txt => name = "Pair", byte-size = 16
//# file: own.txt => where = out.exe`(int )?sum(\(int const ?\*, int\))? \+ \d+ at readers.cc:43
//# file: own.txt => \(int\[3\]\) table = \(\[0\] = 1, \[1\] = 2, \[2\] = 3\)
//# sh: x86_64-w64-mingw32-gcc reader.c -o reader.exe -ldbghelp
//# run: reader.exe out.exe
//# stdout: symbols 3, lines 1, types 1
//# stdout: entry is a function at line 47: shape
//# stdout: sum is a function at line 39: from count all pair i
//# stdout: table is data of 12 bytes
//# run: reader.exe lld/out.exe
//# stdout: symbols 3, lines 1, types 1
//# stdout: entry is a function at line 47: shape
//# stdout: sum is a function at line 39: from count all pair i
//# stdout: table is data of 12 bytes
extern "C" int _fltused = 0;
static int table[] = {1, 2, 3};
struct Pair { int a; long long b; };
namespace inner {
struct Shape {
  int width, height;
  virtual int area() const { return width * height; }
};
}
template <class T> T twice(T value) {
  return value + value;
}
static int sum(const int *from, int count) {
  int all = 0;
  for (int i = 0; i < count; i++)
    all += from[i];
  Pair pair{all, 2};
  return pair.a * (int)pair.b;
}

extern "C" int entry() {
  inner::Shape shape;
  shape.width = table[0];
  shape.height = 0;
  return twice(sum(table, 3)) + shape.area();
}
//--- reader.c
#include <stdio.h>
#include <string.h>
#include <windows.h>
#include <dbghelp.h>

static BOOL CALLBACK local(PSYMBOL_INFO symbol, ULONG size, PVOID number) {
  printf("%s %s", (*(int *)number)++ ? "" : ":", symbol->Name);
  return TRUE;
}

static SYMBOL_INFO *found(HANDLE process, const char *name) {
  static char room[sizeof(SYMBOL_INFO) + 256];
  SYMBOL_INFO *symbol = (SYMBOL_INFO *)room;
  memset(room, 0, sizeof room);
  symbol->SizeOfStruct = sizeof *symbol;
  symbol->MaxNameLen = 255;
  return SymFromName(process, name, symbol) ? symbol : NULL;
}

int main(int argc, char **argv) {
  HANDLE process = (HANDLE)1;
  SymSetOptions(SYMOPT_LOAD_LINES);
  if (!SymInitialize(process, NULL, FALSE))
    return 1;
  DWORD64 base = SymLoadModuleEx(process, NULL, argv[1], NULL, 0x140000000, 0x10000, NULL, 0);
  IMAGEHLP_MODULE64 module = {sizeof module};
  if (!base || !SymGetModuleInfo64(process, base, &module))
    return 2;
  printf("symbols %d, lines %d, types %d\n", module.SymType, module.LineNumbers, module.TypeInfo);
  const char *names[] = {"entry", "sum", "table"};
  for (int i = 0; i < 3; i++) {
    SYMBOL_INFO *symbol = found(process, names[i]);
    if (!symbol)
      return 3;
    IMAGEHLP_LINE64 line = {sizeof line};
    DWORD offset = 0;
    if (!SymGetLineFromAddr64(process, symbol->Address, &offset, &line)) {
      printf("%s is data of %lu bytes\n", symbol->Name, symbol->Size);
      continue;
    }
    printf("%s is a function at line %lu", symbol->Name, line.LineNumber);
    IMAGEHLP_STACK_FRAME frame = {.InstructionOffset = symbol->Address + symbol->Size / 2};
    int locals = 0;
    SymSetContext(process, &frame, NULL);
    SymEnumSymbols(process, 0, "*", local, &locals);
    printf("\n");
  }
  return 0;
}
