//# about: option values that make no sense are named
//# matrix: opt=--build-id=0xzz,--hash-style=fast,--threads=0,--threads=x,--image-base=12q,--compress-debug-sections=lz4,--error-limit=many,--unresolved-symbols=sometimes,-zmax-page-size=3
//# not: bfd mold lld -- each accepts some
//# fail: bad-values.o {opt}
//# once
//# error: build-id|hash-style|threads|-O|image-base|compress-debug|error-limit|unresolved|max-page-size
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
