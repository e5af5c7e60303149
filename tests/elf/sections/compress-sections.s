//# about: --compress-debug-sections and --compress-sections: which sections are compressed, and that they hold the same bytes
//# matrix: how=zlib,zstd
//# not: mold bfd -- they do not know --compress-sections
//# link: compress-sections.o -o plain
//# link: compress-sections.o --compress-debug-sections={how} --compress-sections=cust*={how}:9 --compress-sections=.debug_other=none -o out
//# section: .debug_large flags=C
//# section: .debug_mixed flags=MSC
//# section: custom flags=C
//# section: .debug_other flags=
//# section: .debug_small flags= size=8
//# check: size(.debug_large) < 100000
//# sh: for s in .debug_large .debug_mixed custom; do for f in plain out; do llvm-readelf-22 -z -x $s $f | grep 0x > $f.txt; done; cmp plain.txt out.txt; done
//# sh: llvm-readelf-22 -z -x .debug_large out | grep '0x00b71b0[08] .*00ffee00' >/dev/null
//# link: compress-sections.o --compress-debug-sections=none --compress-sections=custom=zstd:1 -o some
//# section: custom flags=C
//# section: .debug_large flags=
//# run: ./out
//# exit: 5
//# [weld] link: compress-sections.o --compress-sections=*={how} --compress-sections=.[!d]*=none --compress-sections=.data=none --compress-sections=.s[yth]*={how} -O2 -o all
//# [weld] section: .debug_other flags=C
//# [weld] section: custom flags=C
//# [weld] section: .symtab flags=
//# [weld] section: .shstrtab flags=
//# fail: compress-sections.o --compress-sections=.data={how}
//# error: --compress-sections: .*\.data.* cannot be compressed
//# [weld] fail: compress-sections.o --compress-sections=custom=zlib:10
//# [weld] error: level 10 is not between 0 and 9
//# [weld] fail: compress-sections.o --compress-sections=custom
//# [weld] error: expected GLOB=HOW
//# [weld] fail: compress-sections.o --compress-debug-sections=zlib-gnu
//# [weld] error: old .zdebug sections are not written
.globl _start, target
_start: mov $60, %eax
  mov $5, %edi
  syscall
.set target, 0xeeff00
.data
  .fill 1000, 8, 1
# Larger than what is filled in one go, with relocations at both ends.
.section .debug_large,"",@progbits
  .quad target
  .fill 3000000, 4, 0x01020304
  .quad target
# Merged strings and others behind one another.
.section .debug_mixed,"MS",@progbits,1
.rept 50
  .asciz "a string that is there many times"
.endr
.macro numbered n
  .asciz "string number \n"
.endm
.altmacro
.set i, 0
.rept 300
  numbered %i
  .set i, i+1
.endr
.section .debug_other,"",@progbits
  .fill 1000, 8, 2
.section .debug_small,"",@progbits
  .quad 7
.section custom,"",@progbits
  .fill 1000, 8, 3
.section .note.GNU-stack,"",@progbits
