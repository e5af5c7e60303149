// Classes of all sorts, functions in scopes, inlined functions, and what is in another object too.
#include "shared.h"

struct Derived : Base, virtual Other {
    int f(int) override;
    virtual void g(...) const;
    static int count;
    enum Kind { A, B = 70000, C = -1 } kind;
    union {
        int i;
        float real;
    } u;
    unsigned bits : 3, more : 7;
    Derived *next[4];
    int Derived::*data;
    int (Derived::*method)(int);
    struct Nested {
        char text[100000];
    };
};
int Derived::count = 3;
int Base::f(int a) { return x + a; }
void Derived::g(...) const {}

static int helper(int v) {
    for (int i = 0; i < v; i++) {
        int square = i * i;
        v += square;
    }
    return v;
}

int Derived::f(int a) {
    typedef int Local;
    Local q = helper(a);
    static int keep;
    keep += q;
    return q + keep + inlined(q);
}

template <class T> T generic(T t) { return t + inlined(1); }

namespace space {
namespace {
enum class Colour : unsigned char { Red, Green };
struct Hidden {
    Colour colour;
} hidden;
}
int caller() { return (int)hidden.colour; }
}

const int Constant = 42;
wide big;
static int local_data = 4;
thread_local int per_thread;
extern "C" int other(int);
extern "C" int entry() {
    Derived d;
    d.u.i = 1;
    return d.f(3) + generic(5) + other(Constant) + local_data + (int)big + per_thread + space::caller();
}
