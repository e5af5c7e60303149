//# about: --dynamic-list-data, -cpp-new and -cpp-typeinfo: those stay replaceable in a library, and an executable exports them
//# not: lld -- it has none of them
//# not: mold -- 1.10 has none of them
//# lang: c++
//# cxxflags: -fPIC
//# matrix: what=data,new,typeinfo
//# [what=data] link: %shared dynamic-list-kinds.o --dynamic-list-data -z defs
//# [what=data] reloc: R_X86_64_GLOB_DAT sym=counter
//# [what=data] no-reloc: * sym=_Z8functionv
//# [what=data] link: %pie dynamic-list-kinds.o --dynamic-list-data
//# [what=data] dynsym: counter
//# [what=data] no-dynsym: _Z8functionv
//# [what=new] link: %shared dynamic-list-kinds.o --dynamic-list-cpp-new -z defs
//# [what=new] reloc: R_X86_64_JUMP_SLOT sym=_Znwm
//# [what=new] no-reloc: * sym=counter
//# [what=new] link: %pie dynamic-list-kinds.o --dynamic-list-cpp-new
//# [what=new] dynsym: _Znwm
//# [what=new] dynsym: _ZdlPv
//# [what=new] no-dynsym: _ZTI4Base
//# [what=typeinfo] link: %shared dynamic-list-kinds.o --dynamic-list-cpp-typeinfo -z defs
//# [what=typeinfo] reloc: * sym=_ZTI4Base
//# [what=typeinfo] no-reloc: * sym=counter
//# [what=typeinfo] link: %pie dynamic-list-kinds.o --dynamic-list-cpp-typeinfo
//# [what=typeinfo] dynsym: _ZTI4Base
//# [what=typeinfo] dynsym: _ZTS4Base
#include <cstdlib>
#include <new>
int counter = 1;
int function() { return 2; }
void *operator new(std::size_t size) { return std::malloc(size); }
void operator delete(void *at) noexcept { std::free(at); }
void operator delete(void *at, std::size_t) noexcept { std::free(at); }
struct Base {
  virtual ~Base();
};
Base::~Base() {}
int *made() { return new int(counter + function()); }
void thrown() { throw Base(); }
int main() { return *made() != 3; }
