#pragma once
typedef unsigned long long wide;
struct Base {
    virtual int f(int);
    int x;
};
struct Other {
    Base *base;
    Other *next;
};
__attribute__((always_inline)) inline int twice(int a) { return a * 2; }
inline int inlined(int a) { return twice(a) + 1; }
