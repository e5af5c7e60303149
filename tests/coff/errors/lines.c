//# about: undefined and duplicate symbols come with the source lines that debug information tells
//# cflags: -gcodeview -ffunction-sections
//# obj: other.obj = other.c -gcodeview
//# fail: lines.obj /entry:start /subsystem:console
//# error: (?s)undefined symbol: missing\n>>> referenced by \S*lines.c:12\n>>>[^\n]*lines.obj:\(first\)\n>>> referenced by \S*lines.c:14\n>>>[^\n]*lines.obj:\(first\)\n>>> referenced by \S*lines.c:17\n>>>[^\n]*lines.obj:\(start\)
//# fail: lines.obj other.obj /entry:start /subsystem:console
//# error: duplicate symbol: first\n>>> defined at \S*lines.c:11\n>>>[^\n]*lines.obj\n>>> defined at \S*other.c:4\n>>>[^\n]*other.obj
int missing(int);
int unused(int a) { return a; }

int first(int a) {
  a = missing(a);
  a = a * 2;
  return missing(a) + 1;
}

int start(void) { return missing(3) + 1; }
//--- other.c
int missing(int a) { return a; }

int first(int a) {
  return a;
}
