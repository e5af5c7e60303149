//# about: -z loadfltr, globalaudit, unique and indirect-extern-access reach the loader
//# not: lld mold gold -- they do not know all of them
//# link: -shared keywords.o -z loadfltr -z globalaudit -z unique
//# readelf: -d => FLAGS_1.*LOADFLTR.*
//# readelf: -d => FLAGS_1.*GLOBAUDIT|FLAGS_1.*0x1000010|Flags:.*GLOBAUDIT
//# readelf: -d => 6FFFFDF4|6ffffdf4|GNU_FLAGS_1
//# link: -shared keywords.o -z unique -z nounique
//# readelf-not: -d => 6FFFFDF4|6ffffdf4|GNU_FLAGS_1
//# link: -shared keywords.o -z indirect-extern-access
//# contains: .note.gnu.property = GNU\0\x00\x80\x00\xb0\x04\0\0\0\x01\0\0\0
//# link: -shared keywords.o -z indirect-extern-access -z noindirect-extern-access
//# no-section: .note.gnu.property
//# [weld] obj: main.o = main.s
//# [weld] link: -shared keywords.o -o libk.so
//# [weld] fail: main.o libk.so -z indirect-extern-access
//# [weld] error: R_X86_64_32S? cannot be used against symbol 'f'.*indirect-extern-access
//# [weld] error: R_X86_64_32S? cannot be used against symbol 'v'.*copy relocations
.globl f, v
.type f, @function
f: ret
.size f, 1
.data
.type v, @object
v: .quad 1
.size v, 8
.section .note.GNU-stack,"",@progbits
//--- main.s
.globl _start
_start: mov $f, %edi
  mov v, %eax
  ret
.section .note.GNU-stack,"",@progbits
