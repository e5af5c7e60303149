//# about: AArch64 in big endian: data has its order, instructions are little endian
//# not: bfd mold -- those that are installed are for this machine's programs
//# sh: clang-22 --target=aarch64_be-linux-gnu -c aarch64-big-endian.s -o big.o && $LD big.o -o out && qemu-aarch64_be ./out
//# sh: $LD -m aarch64linuxb big.o -pie -o pie && llvm-readelf-22 -hr pie
//# stdout-re: big endian
//# stdout-re: R_AARCH64_RELATIVE
//# sh: $LD -EB big.o -o eb && qemu-aarch64_be ./eb
//# sh: printf 'OUTPUT_FORMAT("elf64-littleaarch64", "elf64-bigaarch64", "elf64-littleaarch64")' > formats
//# sh: $LD -EB formats big.o -o eb && qemu-aarch64_be ./eb
//# [weld] sh-fail: $LD formats big.o -o bad
//# [weld] stderr-re: formats: is for elf64-littleaarch64, not for elf64-bigaarch64
//# [weld] sh-fail: $LD -EL big.o -o bad
//# [weld] stderr-re: big.o.* is incompatible with aarch64linux:
//# [weld] sh-fail: printf '' | as - -o native.o && $LD -EB native.o -o bad
//# [weld] stderr-re: -EB: x86-64 is never big endian
//# [weld] sh-fail: printf '' | aarch64-linux-gnu-as - -o little.o && $LD big.o little.o -o mixed
//# [weld] stderr-re: little.o.* is incompatible with aarch64linuxb
.globl _start
.text
_start:
    adrp x1, pointer
    ldr x1, [x1, :lo12:pointer]
    ldr x2, [x1]
    sub x0, x2, #42
    bl end
    brk #1
end:
    mov x8, #93
    svc #0
.data
.balign 8
pointer: .quad value
value: .quad 42
