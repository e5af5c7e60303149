//# about: through clang -fuse-ld= and --ld-path=
//# matrix: how=use,path,prefix std=pie,static
//# [how=use] not: lld mold bfd -- about weld's own name
//# [how=use] sh: PATH=$LD_DIR:$PATH clang++-22 -fuse-ld=weld -O1 clang.cc -o out $([ {std} = static ] && echo -static)
//# [how=path] sh: clang++-22 --ld-path=$LD -O1 clang.cc -o out $([ {std} = static ] && echo -static)
//# [how=prefix] sh: clang++-22 -B $LD_DIR -O1 clang.cc -o out $([ {std} = static ] && echo -static)
//# run: ./out
//# stdout: 5 five
#include <iostream>
#include <string>
int main() { std::string s = "five"; std::cout << s.size() + 1 << " " << s << std::endl; }
