//# about: --just-symbols takes the addresses in a linked program, and nothing else of it
//# not: mold -- it does not have it
//# cflags: -ffreestanding -fno-pic -fcf-protection=none -fno-asynchronous-unwind-tables
//# obj: rom.o = rom.c
//# link: rom.o -e rom -Ttext=0x100000 -o rom
//# matrix: option=--just-symbols=,-R
//# link: {option}rom just-symbols.o -o out
//# disasm: _start => callq? 0x1000\w\w <rom>
//# symbol: rom type=FUNC bind=GLOBAL
//# symbol: rom_data type=OBJECT size=12
//# no-symbol: rom_local rom_variable
//# sh: [ "$(llvm-nm-22 rom | grep ' rom_data$' | cut -c1-16)" = "$(llvm-nm-22 out | grep ' A rom_data$' | cut -c1-16)" ]
//# no-section: .tdata .tbss
// What it says it defines, is defined.
//# [weld] fail: {option}rom just-symbols.o clash.o -o out
//# error: duplicate symbol: rom
//# sh: llvm-strip-22 rom -o stripped
//# [weld] fail: {option}stripped just-symbols.o -o out
//# error: undefined symbol: rom
//# [weld] fail: {option}rom -m elf_i386 -o out
//# error: rom: is incompatible with elf_i386
// Offsets, if it is not linked; the file alone says which machine is linked for.
//# [weld option=-R] sh: printf '.globl f; nop; f: ret' | aarch64-linux-gnu-as - -o arm.o && $LD --just-symbols arm.o -e f -o arm && llvm-readelf-22 -h -s arm
//# [weld option=-R] stdout-re: AArch64(.|\n)*0000000000000004 +0 NOTYPE +GLOBAL DEFAULT +ABS f
int rom(int);
extern int rom_data[3];
int _start(void) { return rom(rom_data[1]); }
//--- rom.c
int rom(int x) { return x + 1; }
int rom_data[3] = {1, 2, 3};
static int rom_local(void) { return 4; }
int (*rom_pointer)(void) = rom_local;
__thread int rom_variable = 9;
//--- clash.c
int rom(int x) { return x; }
