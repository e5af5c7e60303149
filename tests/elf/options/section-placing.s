//# about: Options that move, align, rename or leave out sections: mold's and GNU ld's where ld.lld has none.
//# only: weld -- no other linker has all of them
//#
//# link: --section-align=.data=0x2000 --section-align=.text=64 --section-align=.text=256 section-placing.o
//# section: .data align=0x2000
//# section: .text align=256
//# check: addr(.data) % 0x2000 == 0
//# fail: --section-align=.data=3 section-placing.o
//# error: --section-align: 3 is not a power of two
//# link: -T s.lds --section-align=.data=0x800 section-placing.o
//# section: .data align=0x800
//#
//# link: --image-base=0x200000 --physical-image-base=0x800000 section-placing.o
//# readelf: -lW => LOAD +0x000000 0x0*200000 0x0*800000
//# readelf-not: -lW => LOAD .* 0x0*20[0-9a-f]{4} 0x0*20[0-9a-f]{4} 
//# check: sym(__phys_start_named) == sym(__phys_stop_named) - 16
//# check: sym(__phys_start_named) > 0x800000
//# check: sym(__phys_stop_named) < 0x801000
//# no-symbol: __phys_start_data
//# link: --image-base=0x800000 --physical-image-base=0x800000 section-placing.o
//# readelf: -lW => LOAD +\S+ 0x0*800000 0x0*800000
//# check: sym(__phys_start_named) == addr(named)
//# fail: -T s.lds --physical-image-base=0x800000 section-placing.o
//# error: --physical-image-base cannot be used with a linker script
//# error: AT or AT>
//#
//# link: --spare-program-headers=3 --spare-dynamic-tags=4 -shared section-placing.o
//# check: segcount(NULL) == 3
//# check: size(.dynamic) == 14 * 16
//# link: --spare-dynamic-tags=0 -shared section-placing.o
//# check: size(.dynamic) == 10 * 16
//# link: -T s.lds --spare-program-headers=2 section-placing.o
//# check: segcount(NULL) == 2
//# fail: --spare-program-headers=5000 section-placing.o
//# error: 5000 is more than 1024
//#
//# link: --start-stop section-placing.o b.o
//# check: sym(__start_foo_zz) == addr(.foo.zz)
//# check: sym(__start_text) == addr(.text)
//# check: sym(__stop_text) == end(.text)
//# fail: section-placing.o b.o
//# error: undefined symbol: __start_text
//#
//# link: --discard-section=.foo.zz --discard-section=named --no-discard-section=named section-placing.o
//# no-section: .foo.zz
//# section: named
//# fail: --discard-section=named section-placing.o c.o
//# error: in_named
//#
//# sh: mkdir -p in && cp section-placing.o in/inner.o && $LD -C in inner.o -o made && test -x in/made && test ! -e made
//# sh: echo inner.o -o once --incremental --no-detach >words && $LD -C in @words --reproduce=r.tar && test -x in/once && tar -xOf in/r.tar --wildcards '*/response.txt' | grep inner.o >/dev/null
//# sh: $LD -C in @words && echo -z now >>words && $LD -C in @words && tail -n 1 in/.once.weld/log | grep 'full link: the command line' >/dev/null
//# sh-fail: $LD -C nowhere inner.o
//# stderr-re: -C nowhere: No such file or directory
//#
//# fail: -Trodata-segment=0x10000 section-placing.o
//# error: --section-start=.rodata=ADDRESS
//# fail: --section-order=TEXT section-placing.o
//# error: linker script \(-T\)
.globl _start, __phys_start_named, in_named
.text
_start:
    ret
.data
    .quad 1
.section named, "aw"
in_named:
    .quad __phys_start_named, __phys_stop_named
.weak __phys_start_named, __phys_stop_named
.section .foo.zz, "aw"
    .quad 7
//--- b.s
.data
    .quad __start_foo_zz, __start_text, __stop_text
//--- c.s
.data
    .quad in_named
//--- s.lds
SECTIONS {
  . = 0x10000 + SIZEOF_HEADERS;
  .text : { *(.text) }
  .data : { *(.data) }
}
