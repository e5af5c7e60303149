// The same types and inline functions as elsewhere, at other numbers.
#include "shared.h"
struct First {
    wide w;
};
First first;
int use(Other *o) { return inlined(o->base->x) + (int)first.w; }
