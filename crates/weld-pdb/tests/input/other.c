typedef unsigned long long wide;
struct S {
    int a;
    struct S *next;
} s;
static int helper(int v) { return v - 1; }
int other(int v) {
    s.a = v;
    return helper(v) + s.a;
}
int _fltused;
unsigned _tls_index;
