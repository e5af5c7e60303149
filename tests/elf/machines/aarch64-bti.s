//# about: AArch64: if all code marks where indirect branches end, PLT entries do so, too, and the output says so
//# not: bfd mold -- those that are installed are for this machine's programs
//# machines: aarch64
//# except: machine=x86-64
//# link: -shared aarch64-bti.o
//# section: .plt size=56
//# readelf: -d => AARCH64_BTI_PLT
//# readelf: -n => aarch64 feature: BTI
//# disasm: .plt => bti c
//# bytes: addr(.plt) + 32 = 5f 24 03 d5
//# sh: printf '.text; nop' | $AS - -o plain.o
//# link: -shared aarch64-bti.o plain.o
//# section: .plt size=48
//# readelf-not: -n => BTI
//# no-section: .note.gnu.property
//# readelf-not: -d => AARCH64_
// Claimed all the same, with what is missing.
//# link: -shared -z force-bti aarch64-bti.o plain.o
//# warning: plain.o: -z force-bti: file does not have the BTI property
//# readelf: -n => aarch64 feature: BTI
//# section: .plt size=56
//# [weld] link: -shared -z pac-plt aarch64-bti.o plain.o
//# warning: plain.o: -z pac-plt: file does not have the PAC property
//# readelf: -d => AARCH64_PAC_PLT
//# readelf-not: -d => AARCH64_BTI_PLT
//# bytes: addr(.plt) + 44 = 9f 21 03 d5
//# link: -shared -z gcs=always aarch64-bti.o
//# readelf: -n => aarch64 feature: BTI, GCS
//# [weld] fail: -shared -z bti-report=error aarch64-bti.o plain.o
//# error: plain.o: -z bti-report: file does not have the BTI property
//# error-not: aarch64-bti.o: 
//# link: -shared -z gcs-report=warning aarch64-bti.o
//# warning: aarch64-bti.o: -z gcs-report: file does not have the GCS property
// The loader asks shared objects, too.
//# sh: printf '.text; nop' | $AS - -o library.o
//# link: -shared library.o -o liblibrary.so
//# [weld] link: -shared -z gcs=always -z gcs-report-dynamic=warning aarch64-bti.o liblibrary.so
//# warning: liblibrary.so: -z gcs-report-dynamic: file does not have the GCS property
//# [weld] fail: -shared -z gcs=always -z gcs-report-dynamic=error aarch64-bti.o liblibrary.so
//# error: liblibrary.so: -z gcs-report-dynamic: file does not have the GCS property
//# [weld] link: -shared -z gcs=always -z gcs-report=warning -z gcs-report-dynamic=none aarch64-bti.o liblibrary.so
//# warning: aarch64-bti.o: -z gcs-report: file does not have the GCS property
//# link: -shared -z gcs-report-dynamic=error aarch64-bti.o liblibrary.so
//# link: -shared -z gcs=always library.o -o liblibrary.so
//# link: -shared -z gcs=always -z gcs-report-dynamic=error aarch64-bti.o liblibrary.so
//# sh-fail: printf '' | as - -o native.o && $LD -shared -z force-bti native.o -o native.so
//# [weld] stderr-re: -z force-bti: x86-64 has no such property
.globl f
f:
    bti c
    b elsewhere
.section .note.gnu.property,"a"
.balign 8
.long 4, 16, 5
.asciz "GNU"
.long 0xc0000000, 4, 1, 0
.section .note.GNU-stack,"",%progbits
