//# about: equal CIEs are one in the output, frames are complete
//# matrix: cc=gcc,clang
//# lang: c++
//# link: %pie eh-frame-cies.o two.o three.o
//# [weld|lld|mold] check: ncies <= 6
//# run: ./out
//# stdout: 1 2 3
#include <cstdio>
int two(int), three(int);
int main() {
  for (int i = 1; i <= 3; i++) {
    try { throw i == 1 ? i : i == 2 ? two(i) : three(i); } catch (int n) { std::printf("%d%c", n, n == 3 ? '\n' : ' '); }
  }
}
//--- two.cc
int two(int n) { try { throw n; } catch (int m) { return m; } }
//--- three.cc
int three(int n) { try { throw n; } catch (int m) { return m; } }
