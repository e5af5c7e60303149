// COMDAT groups of C++, without headers.
namespace shop {
template <class T> struct Cell {
    T value;
    static int count;
    Cell(T value) : value(value) { count++; }
    virtual ~Cell() { count--; }
    virtual T get() { return value; }
};
template <class T> int Cell<T>::count = 0;
inline int counter = 1;
inline const char *name() {
    static int calls;
    return calls++ ? "more" : "first";
}
struct Base { virtual int run() { return 0; } virtual ~Base(); };
struct Derived : Base { int run() override { return counter; } };
[[gnu::noinline]] int call(Base *base) { return base->run(); }
template struct Cell<int>;
extern template struct Cell<long>;
}
extern "C" int puts(const char *);
thread_local int dynamic = shop::counter;
int main(int argc, char **argv) {
    shop::Cell<char> cell('c');
    shop::Cell<long> other(argc);
    shop::Derived derived;
    try { puts(shop::name()); } catch (int) { return 1; }
    return shop::call(&derived) + cell.get() + int(other.get()) + dynamic;
}
