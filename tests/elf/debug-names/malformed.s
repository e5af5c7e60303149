//# about: tables of names that make no sense: an error says where
//# matrix: how=version,length,count,form,code,parent,die,unit,text,hash,dwarf64,overlap,outside,elsewhere,line,long
//# sh: for h in {how}; do clang-22 -c -Wa,--defsym,bad_$h=1 malformed.s -o bad.o; done
//# fail: bad.o --debug-names -o out
//# [how=version] error: bad.o:\(.debug_names\+0x0\): table of names has a version that is not known
//# [how=length] error: bad.o:\(.debug_names\+0x0\): table of names goes beyond the end of its section
//# [how=count] error: bad.o:\(.debug_names\+0x0\): table of names goes beyond its end
//# [how=form] error: bad.o:\(.debug_names\+0x[0-9a-f]*\): attribute of a table of names has a form that makes no sense
//# [how=code] error: bad.o:\(.debug_names\+0x[0-9a-f]*\): entry of the table of names has no abbreviation
//# [how=parent] error: bad.o:\(.debug_names\+0x[0-9a-f]*\): table of names has no such entry, but another one is said to be within it
//# [how=die] error: bad.o:\(.debug_names\+0x[0-9a-f]*\): entry of the table of names does not say where it is
//# [how=unit] error: bad.o:\(.debug_names\+0x[0-9a-f]*\): entry of the table of names has no unit
//# [how=text] error: bad.o:\(.debug_names\+0x[0-9a-f]*\): name is not in .debug_str
//# [how=hash] error: bad.o:\(.debug_names\+0x[0-9a-f]*\): name has no hash, and is not of ASCII letters
//# [how=long] error: bad.o:\(.debug_names\+0x[0-9a-f]*\): name has no hash, and does not end within 4096 bytes
//# [how=line] error: bad.o:\(.debug_names\+0x[0-9a-f]*\): name is not in .debug_str
//# [how=outside] error: bad.o:\(.debug_names\+0x24\): unit of the table of names is not in .debug_info
//# [how=elsewhere] error: bad.o:\(.debug_names\+0x24\): unit of the table of names is not in .debug_info
//# [how=dwarf64] error: bad.o:\(.debug_names\+0x0\): table of names has the form of 64 bits \(DWARF64\), which is not supported
//# [how=overlap] error: bad.o:\(.debug_names\+0x[0-9a-f]*\): lists of entries of the table of names overlap
.globl _start
_start: ret
.macro word name, bad, good
.ifdef bad_\name
.long \bad
.else
.long \good
.endif
.endm
.macro one name, bad, good
.ifdef bad_\name
.byte \bad
.else
.byte \good
.endif
.endm
.section .debug_abbrev,"",@progbits
.byte 1, 0x11, 0, 0, 0, 0
.section .debug_info,"",@progbits
.Lunit: .long 2f - 1f
1: .short 5
.byte 1, 8
.long .debug_abbrev
.byte 1
2:
.section .debug_str,"MS",@progbits,1
.Lname:
.ifdef bad_long
.fill 5000, 1, 'a'
.endif
.asciz "a\303\244"
.section .debug_line_str,"MS",@progbits,1
.Lelsewhere: .asciz "line"
.section .debug_names,"",@progbits
.ifdef bad_dwarf64
.long 0xffffffff
.quad .Lend - .Lstart
.else
word length, 4096, .Lend-.Lstart
.endif
.Lstart:
one version, 4, 5
.byte 0, 0, 0
// Units; buckets, names, abbreviations, no augmentation.
.long 1, 0, 0
.ifdef bad_long
.set bad_hash, 1
.endif
word hash, 0, 1
word count, 0x40000000, 2
.long .Labbreviations_end - .Labbreviations, 0
.ifdef bad_elsewhere
.long _start
.else
word outside, .Lunit+100, .Lunit
.endif
.ifndef bad_hash
.long 1
.long 17, 17
.endif
word line, .Lelsewhere, .Lname
word text, .Lname+100, .Lname
.long 0
word overlap, 0, .Lsecond-.Lpool
.Labbreviations:
.byte 1, 0x2e
one die, 7, 3
one form, 25, 0x13
.byte 4, 0x13
one unit, 1, 6
.byte 0x0b
.byte 0, 0, 0
.Labbreviations_end:
.Lpool:
one code, 9, 1
.long 1
word parent, 2, 0
.byte 3
.byte 0
.Lsecond:
.ifndef bad_overlap
.byte 1
.long 1, 0
.byte 3
.byte 0
.endif
.Lend:
