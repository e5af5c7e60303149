//# about: what somebody puts in front of .relro_padding into the script of the default layout becomes read-only (glibc does so)
//# only: weld -- about its own script
//# sh: "$LD" -shared --print-default-script | sed '/^  \.jcr :/ s/$/ PROVIDE(first = .); __protected : { *(__protected) }/' > x.ld; grep -q __protected x.ld
//# link: -shared protected.o -T x.ld
//# segment: GNU_RELRO count=1
//# check: seg(GNU_RELRO) == addr(.init_array)
//# check: addr(.init_array) < addr(__protected) < addr(.data.rel.ro) < end(.data.rel.ro) <= segend(GNU_RELRO)
//# check: segend(GNU_RELRO) <= addr(.data)
//# check: segend(GNU_RELRO) & 0xfff == 0
//# symbol: first value=addr(__protected)
.section __protected,"aw"
.quad 1, first
.section .init_array,"aw",@init_array
.quad 0
.section .data.rel.ro,"aw"
.quad first
.data
.quad 2
.section .note.GNU-stack,"",@progbits
