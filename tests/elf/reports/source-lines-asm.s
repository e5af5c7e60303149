//# about: source lines of assembly, C++ members and duplicates
//# asflags: -g
//# cxxflags: -g
//# only: weld -- about its own words
//# fail: source-lines-asm.o members.o again.o
//# error: undefined symbol: missing\n>>> .*\n>>>     at .*source-lines-asm\.s:12
//# error: duplicate symbol: N::value\n>>> defined at members\.o:.*\n>>>     at .*members\.cc:2\n>>> defined at again\.o:.*\n>>>     at .*again\.cc:2
//# error: duplicate symbol: N::S::f\(\)\n>>> defined at members\.o:.*\n>>>     at .*members\.cc:4\n>>> defined at again\.o:.*\n>>>     at .*again\.cc:5
.text
.globl _start
_start:
  call missing
  ret
.section .note.GNU-stack,"",@progbits
//--- members.cc
namespace N { struct S { int f(); static int count; };
  int value = 1;
  int S::count = 2; }
int N::S::f() { return value; }
//--- again.cc
namespace N { struct S { int f(); static int count; };
  int value = 1;
  int S::count = 2; }

int N::S::f() { return value; }
