//! What code generation may call although no symbol table mentions it.
//!
//! Intermediate code copies memory and divides numbers by instructions; machine code calls `memcpy` and
//! `__udivti3` for some of them. Members of archives that define such a name as intermediate code have to
//! take part before code is generated, for afterwards it is too late: so a linker takes each of these names
//! as mentioned if there is a file of intermediate code. Machine code can be taken later; but what it
//! mentions has to stay visible when intermediate code is compiled, for it may be taken.
//!
//! The names are those of LLVM 22 (`RTLIB::RuntimeLibcallsInfo` of a triple, which is what lld asks for),
//! found with its pass `declare-runtime-libcalls`; a test compares them. For machines that weld cannot link
//! there is only what all have.

use crate::triple::{Arch, Triple};

/// The names for a target, each once. Those of ARM64EC are without the `#` that its code has in front.
pub fn names(triple: &[u8]) -> impl Iterator<Item = &'static str> + use<> {
    let groups = Triple::new(triple).groups();
    groups.into_iter().filter(|(has, _)| *has).flat_map(|(_, names)| names.split_ascii_whitespace())
}

impl Triple<'_> {
    /// The groups of names, and whether the target has them. A list made by code, not a table: it would be
    /// relocated at each start of the program.
    fn groups(&self) -> [(bool, &'static str); 29] {
        let is = |arch: Arch| self.arch == Some(arch);
        let x86 = is(Arch::X86) || is(Arch::X86_64);
        let arm = is(Arch::Arm) || is(Arch::ArmBe);
        let aarch64 = is(Arch::Aarch64) || is(Arch::Aarch64Be) || is(Arch::Arm64Ec);
        let riscv = is(Arch::RiscV32) || is(Arch::RiscV64);
        let msvc = self.is_msvc();
        let mingw = self.is_windows() && !msvc;
        let cygwin = self.is_environment("cygnus");
        let gnu = self.is_environment("gnu");
        let android = self.is_environment("android");
        let openbsd = self.is_os("openbsd");
        let playstation = self.is_os("ps4") || self.is_os("ps5");
        let bare_eabi = arm && self.is_environment("eabi");
        let aeabi = bare_eabi
            || arm
                && (android || ["gnueabi", "musleabi", "ohos"].iter().any(|name| self.is_environment(name)));
        let arm_windows = arm && self.is_windows();
        let x86_msvc = is(Arch::X86) && msvc;
        let sincos = !riscv && (gnu || android || self.is_os("fuchsia"));
        let powers = !self.is_windows() || cygwin;
        [
            (true, EVERYWHERE),
            (!is(Arch::X86_64) && !x86_msvc, NOT_X86_64),
            (self.arch.is_some_and(Arch::is_64), OF_64_BITS),
            (!is(Arch::X86_64) && !x86_msvc && !aeabi && !arm_windows, MULTIPLICATION),
            (!aeabi && !arm_windows, SOFT_FLOAT),
            (!arm, HALVES),
            (!bare_eabi, DOUBLE_TO_HALF),
            (x86, X87),
            (x86 && powers, X87_POWER),
            (powers, POWER),
            (x86 && gnu, QUADRUPLE),
            (!msvc, SPLIT),
            (sincos || playstation, SINCOS),
            (sincos, SINCOS_LONG),
            (!playstation, CHECKED),
            (!msvc && !openbsd, STACK_GUARD),
            (openbsd, STACK_GUARD_OPENBSD),
            (msvc, STACK_GUARD_MSVC),
            (aarch64, AARCH64),
            (riscv, RISCV),
            (aeabi, AEABI),
            (bare_eabi || arm && android, AEABI_MEMORY),
            (bare_eabi, AEABI_HALVES),
            (arm && !bare_eabi, GNU_HALVES),
            (arm_windows, ARM_WINDOWS),
            (x86_msvc, X86_MSVC),
            (is(Arch::X86_64) && msvc || (aarch64 || arm) && self.is_windows(), PROBE),
            (is(Arch::X86_64) && mingw, PROBE_MINGW_64),
            (is(Arch::X86) && mingw, PROBE_MINGW_32),
        ]
    }
}

/// Of all targets: memory, mathematics, atomics, numbers of more bits than registers have.
const EVERYWHERE: &str = "
    _Unwind_Resume __addtf3 __ashlhi3 __ashlsi3 __ashrhi3 __ashrsi3 __atomic_compare_exchange
    __atomic_compare_exchange_1 __atomic_compare_exchange_16 __atomic_compare_exchange_2
    __atomic_compare_exchange_4 __atomic_compare_exchange_8 __atomic_exchange __atomic_exchange_1
    __atomic_exchange_16 __atomic_exchange_2 __atomic_exchange_4 __atomic_exchange_8
    __atomic_fetch_add_1 __atomic_fetch_add_16 __atomic_fetch_add_2 __atomic_fetch_add_4
    __atomic_fetch_add_8 __atomic_fetch_and_1 __atomic_fetch_and_16 __atomic_fetch_and_2
    __atomic_fetch_and_4 __atomic_fetch_and_8 __atomic_fetch_nand_1 __atomic_fetch_nand_16
    __atomic_fetch_nand_2 __atomic_fetch_nand_4 __atomic_fetch_nand_8 __atomic_fetch_or_1
    __atomic_fetch_or_16 __atomic_fetch_or_2 __atomic_fetch_or_4 __atomic_fetch_or_8
    __atomic_fetch_sub_1 __atomic_fetch_sub_16 __atomic_fetch_sub_2 __atomic_fetch_sub_4
    __atomic_fetch_sub_8 __atomic_fetch_xor_1 __atomic_fetch_xor_16 __atomic_fetch_xor_2
    __atomic_fetch_xor_4 __atomic_fetch_xor_8 __atomic_load __atomic_load_1 __atomic_load_16
    __atomic_load_2 __atomic_load_4 __atomic_load_8 __atomic_store __atomic_store_1
    __atomic_store_16 __atomic_store_2 __atomic_store_4 __atomic_store_8 __clear_cache __clzdi2
    __clzsi2 __clzti2 __cxa_end_cleanup __divhi3 __divqi3 __divtf3 __divti3 __eqtf2 __exp2_finite
    __exp2f_finite __exp2l_finite __exp_finite __expf_finite __expl_finite __extendbfsf2
    __extenddftf2 __extendhfdf2 __extendhftf2 __extendsfdf2 __extendsftf2 __fixdfti __fixhfdi
    __fixhfsi __fixhfti __fixsfti __fixtfdi __fixtfsi __fixtfti __fixunsdfti __fixunshfdi
    __fixunshfsi __fixunshfti __fixunssfti __fixunstfdi __fixunstfsi __fixunstfti __floatdibf
    __floatdihf __floatditf __floatsihf __floatsitf __floattidf __floattihf __floattisf __floattitf
    __floatundibf __floatundihf __floatunditf __floatunsihf __floatunsitf __floatuntidf
    __floatuntihf __floatuntisf __floatuntitf __getf2 __gttf2 __letf2 __llvm_deoptimize
    __llvm_memcpy_element_unordered_atomic_1 __llvm_memcpy_element_unordered_atomic_16
    __llvm_memcpy_element_unordered_atomic_2 __llvm_memcpy_element_unordered_atomic_4
    __llvm_memcpy_element_unordered_atomic_8 __llvm_memmove_element_unordered_atomic_1
    __llvm_memmove_element_unordered_atomic_16 __llvm_memmove_element_unordered_atomic_2
    __llvm_memmove_element_unordered_atomic_4 __llvm_memmove_element_unordered_atomic_8
    __llvm_memset_element_unordered_atomic_1 __llvm_memset_element_unordered_atomic_16
    __llvm_memset_element_unordered_atomic_2 __llvm_memset_element_unordered_atomic_4
    __llvm_memset_element_unordered_atomic_8 __log10_finite __log10f_finite __log10l_finite
    __log2_finite __log2f_finite __log2l_finite __log_finite __logf_finite __logl_finite __lshrhi3
    __lshrsi3 __lttf2 __modhi3 __modqi3 __modsi3 __modti3 __mulhi3 __mulosi4 __mulqi3 __mulsi3
    __multf3 __negdi2 __negsi2 __netf2 __popcountdi2 __popcountsi2 __popcountti2 __pow_finite
    __powf_finite __powitf2 __powl_finite __safestack_pointer_address __subtf3
    __sync_fetch_and_add_1 __sync_fetch_and_add_16 __sync_fetch_and_add_2 __sync_fetch_and_add_4
    __sync_fetch_and_add_8 __sync_fetch_and_and_1 __sync_fetch_and_and_16 __sync_fetch_and_and_2
    __sync_fetch_and_and_4 __sync_fetch_and_and_8 __sync_fetch_and_max_1 __sync_fetch_and_max_16
    __sync_fetch_and_max_2 __sync_fetch_and_max_4 __sync_fetch_and_max_8 __sync_fetch_and_min_1
    __sync_fetch_and_min_16 __sync_fetch_and_min_2 __sync_fetch_and_min_4 __sync_fetch_and_min_8
    __sync_fetch_and_nand_1 __sync_fetch_and_nand_16 __sync_fetch_and_nand_2 __sync_fetch_and_nand_4
    __sync_fetch_and_nand_8 __sync_fetch_and_or_1 __sync_fetch_and_or_16 __sync_fetch_and_or_2
    __sync_fetch_and_or_4 __sync_fetch_and_or_8 __sync_fetch_and_sub_1 __sync_fetch_and_sub_16
    __sync_fetch_and_sub_2 __sync_fetch_and_sub_4 __sync_fetch_and_sub_8 __sync_fetch_and_umax_1
    __sync_fetch_and_umax_16 __sync_fetch_and_umax_2 __sync_fetch_and_umax_4 __sync_fetch_and_umax_8
    __sync_fetch_and_umin_1 __sync_fetch_and_umin_16 __sync_fetch_and_umin_2 __sync_fetch_and_umin_4
    __sync_fetch_and_umin_8 __sync_fetch_and_xor_1 __sync_fetch_and_xor_16 __sync_fetch_and_xor_2
    __sync_fetch_and_xor_4 __sync_fetch_and_xor_8 __sync_lock_test_and_set_1
    __sync_lock_test_and_set_16 __sync_lock_test_and_set_2 __sync_lock_test_and_set_4
    __sync_lock_test_and_set_8 __sync_val_compare_and_swap_1 __sync_val_compare_and_swap_16
    __sync_val_compare_and_swap_2 __sync_val_compare_and_swap_4 __sync_val_compare_and_swap_8
    __truncdfbf2 __truncdfsf2 __truncsfbf2 __trunctfbf2 __trunctfdf2 __trunctfhf2 __trunctfsf2
    __udivhi3 __udivqi3 __udivti3 __umodhi3 __umodqi3 __umodsi3 __umodti3 __unordtf2 acos acosf
    acosl asin asinf asinl atan atan2 atan2f atan2l atanf atanl calloc cbrt cbrtf cbrtl ceil ceilf
    ceill copysign copysignf copysignl cos cosf cosh coshf coshl cosl exp exp10 exp10f exp10l exp2
    exp2f exp2l expf expl fdim fdimf fdiml fegetenv fegetmode fesetenv fesetmode floor floorf floorl
    fma fmaf fmal fmax fmaxf fmaximum fmaximum_num fmaximum_numf fmaximum_numl fmaximumf fmaximuml
    fmaxl fmin fminf fminimum fminimum_num fminimum_numf fminimum_numl fminimumf fminimuml fminl
    fmod fmodf fmodl free frexp ldexp llrint llrintf llrintl llround llroundf llroundl log log10
    log10f log10l log2 log2f log2l logf logl lrint lrintf lrintl lround lroundf lroundl malloc
    memcpy memmove memset modf modff modfl nan nanf nanl nearbyint nearbyintf nearbyintl nexttoward
    nexttowardf nexttowardl pow powf powl remainder remainderf remainderl remquo remquof remquol
    rint rintf rintl round roundeven roundevenf roundevenl roundf roundl scalbln scalblnf scalblnl
    scalbn scalbnf scalbnl sin sinf sinh sinhf sinhl sinl sqrt sqrtf sqrtl tan tanf tanh tanhf tanhl
    tanl tgamma tgammaf tgammal trunc truncf truncl
";
/// Division of 64 bits, which x86-64 does itself, and Windows calls otherwise on 32-bit x86.
const NOT_X86_64: &str = "__divdi3 __moddi3 __udivdi3 __umoddi3";
/// Numbers of 128 bits.
const OF_64_BITS: &str = "__ashlti3 __ashrti3 __lshrti3 __multi3";
const MULTIPLICATION: &str = "__muldi3";
/// What ARM's own names are for elsewhere.
const SOFT_FLOAT: &str = "
    __adddf3 __addsf3 __ashldi3 __ashrdi3 __divdf3 __divsf3 __divsi3 __eqdf2 __eqsf2 __fixdfdi
    __fixdfsi __fixsfdi __fixsfsi __fixunsdfdi __fixunsdfsi __fixunssfdi __fixunssfsi __floatdidf
    __floatdisf __floatsidf __floatsisf __floatundidf __floatundisf __floatunsidf __floatunsisf
    __gedf2 __gesf2 __gtdf2 __gtsf2 __ledf2 __lesf2 __lshrdi3 __ltdf2 __ltsf2 __muldf3 __mulsf3
    __nedf2 __nesf2 __subdf3 __subsf3 __udivsi3 __unorddf2 __unordsf2
";
const HALVES: &str = "__extendhfsf2 __truncsfhf2";
const DOUBLE_TO_HALF: &str = "__truncdfhf2";
/// Numbers of 80 bits.
const X87: &str = "
    __addxf3 __divxf3 __extendhfxf2 __extendxftf2 __fixunsxfdi __fixunsxfsi __fixunsxfti __fixxfdi
    __fixxfsi __fixxfti __floatdixf __floatsixf __floattixf __floatundixf __floatunsixf
    __floatuntixf __mulxf3 __subxf3 __trunctfxf2 __truncxfbf2 __truncxfdf2 __truncxfhf2 __truncxfsf2
";
const X87_POWER: &str = "__powixf2";
const POWER: &str = "__powidf2 __powisf2";
/// Mathematics of 128 bits, where `long double` has 80.
const QUADRUPLE: &str = "
    __exp10f128_finite __exp2f128_finite __expf128_finite __log10f128_finite __log2f128_finite
    __logf128_finite __powf128_finite acosf128 asinf128 atan2f128 atanf128 cbrtf128 ceilf128
    copysignf128 cosf128 coshf128 exp10f128 exp2f128 expf128 floorf128 fmaf128 fmaxf128
    fmaximum_numf128 fmaximumf128 fminf128 fminimum_numf128 fminimumf128 fmodf128 frexpf128
    ldexpf128 llrintf128 llroundf128 log10f128 log2f128 logf128 lrintf128 lroundf128 modff128
    nearbyintf128 powf128 rintf128 roundevenf128 roundf128 sincosf128 sinf128 sinhf128 sqrtf128
    tanf128 tanhf128 truncf128
";
/// What Microsoft's libraries have only as inline functions.
const SPLIT: &str = "frexpf frexpl ldexpf ldexpl";
const SINCOS: &str = "sincos sincosf";
const SINCOS_LONG: &str = "sincosl";
const CHECKED: &str = "__memcpy_chk __memmove_chk __memset_chk";
const STACK_GUARD: &str = "__stack_chk_fail __stack_chk_guard";
const STACK_GUARD_OPENBSD: &str = "__guard_local __stack_smash_handler";
const STACK_GUARD_MSVC: &str = "__security_check_cookie __security_cookie";
/// Atomics that a library chooses instructions for, and the state of SME.
const AARCH64: &str = "
    __aarch64_cas16_acq __aarch64_cas16_acq_rel __aarch64_cas16_rel __aarch64_cas16_relax
    __aarch64_cas1_acq __aarch64_cas1_acq_rel __aarch64_cas1_rel __aarch64_cas1_relax
    __aarch64_cas2_acq __aarch64_cas2_acq_rel __aarch64_cas2_rel __aarch64_cas2_relax
    __aarch64_cas4_acq __aarch64_cas4_acq_rel __aarch64_cas4_rel __aarch64_cas4_relax
    __aarch64_cas8_acq __aarch64_cas8_acq_rel __aarch64_cas8_rel __aarch64_cas8_relax
    __aarch64_ldadd1_acq __aarch64_ldadd1_acq_rel __aarch64_ldadd1_rel __aarch64_ldadd1_relax
    __aarch64_ldadd2_acq __aarch64_ldadd2_acq_rel __aarch64_ldadd2_rel __aarch64_ldadd2_relax
    __aarch64_ldadd4_acq __aarch64_ldadd4_acq_rel __aarch64_ldadd4_rel __aarch64_ldadd4_relax
    __aarch64_ldadd8_acq __aarch64_ldadd8_acq_rel __aarch64_ldadd8_rel __aarch64_ldadd8_relax
    __aarch64_ldclr1_acq __aarch64_ldclr1_acq_rel __aarch64_ldclr1_rel __aarch64_ldclr1_relax
    __aarch64_ldclr2_acq __aarch64_ldclr2_acq_rel __aarch64_ldclr2_rel __aarch64_ldclr2_relax
    __aarch64_ldclr4_acq __aarch64_ldclr4_acq_rel __aarch64_ldclr4_rel __aarch64_ldclr4_relax
    __aarch64_ldclr8_acq __aarch64_ldclr8_acq_rel __aarch64_ldclr8_rel __aarch64_ldclr8_relax
    __aarch64_ldeor1_acq __aarch64_ldeor1_acq_rel __aarch64_ldeor1_rel __aarch64_ldeor1_relax
    __aarch64_ldeor2_acq __aarch64_ldeor2_acq_rel __aarch64_ldeor2_rel __aarch64_ldeor2_relax
    __aarch64_ldeor4_acq __aarch64_ldeor4_acq_rel __aarch64_ldeor4_rel __aarch64_ldeor4_relax
    __aarch64_ldeor8_acq __aarch64_ldeor8_acq_rel __aarch64_ldeor8_rel __aarch64_ldeor8_relax
    __aarch64_ldset1_acq __aarch64_ldset1_acq_rel __aarch64_ldset1_rel __aarch64_ldset1_relax
    __aarch64_ldset2_acq __aarch64_ldset2_acq_rel __aarch64_ldset2_rel __aarch64_ldset2_relax
    __aarch64_ldset4_acq __aarch64_ldset4_acq_rel __aarch64_ldset4_rel __aarch64_ldset4_relax
    __aarch64_ldset8_acq __aarch64_ldset8_acq_rel __aarch64_ldset8_rel __aarch64_ldset8_relax
    __aarch64_swp1_acq __aarch64_swp1_acq_rel __aarch64_swp1_rel __aarch64_swp1_relax
    __aarch64_swp2_acq __aarch64_swp2_acq_rel __aarch64_swp2_rel __aarch64_swp2_relax
    __aarch64_swp4_acq __aarch64_swp4_acq_rel __aarch64_swp4_rel __aarch64_swp4_relax
    __aarch64_swp8_acq __aarch64_swp8_acq_rel __aarch64_swp8_rel __aarch64_swp8_relax
    __arm_get_current_vg __arm_sc_memchr __arm_sc_memcpy __arm_sc_memmove __arm_sc_memset
    __arm_sme_restore __arm_sme_save __arm_sme_state __arm_sme_state_size __arm_tpidr2_restore
    __arm_tpidr2_save __arm_za_disable
";
const RISCV: &str = "__riscv_flush_icache";
/// ARM's run-time ABI.
const AEABI: &str = "
    __aeabi_d2f __aeabi_d2h __aeabi_d2iz __aeabi_d2lz __aeabi_d2uiz __aeabi_d2ulz __aeabi_dadd
    __aeabi_dcmpeq __aeabi_dcmpge __aeabi_dcmpgt __aeabi_dcmple __aeabi_dcmplt __aeabi_dcmpun
    __aeabi_ddiv __aeabi_dmul __aeabi_dsub __aeabi_f2d __aeabi_f2iz __aeabi_f2lz __aeabi_f2uiz
    __aeabi_f2ulz __aeabi_fadd __aeabi_fcmpeq __aeabi_fcmpge __aeabi_fcmpgt __aeabi_fcmple
    __aeabi_fcmplt __aeabi_fcmpun __aeabi_fdiv __aeabi_fmul __aeabi_fsub __aeabi_i2d __aeabi_i2f
    __aeabi_idiv __aeabi_idivmod __aeabi_l2d __aeabi_l2f __aeabi_lasr __aeabi_ldivmod __aeabi_llsl
    __aeabi_llsr __aeabi_lmul __aeabi_ui2d __aeabi_ui2f __aeabi_uidiv __aeabi_uidivmod __aeabi_ul2d
    __aeabi_ul2f __aeabi_uldivmod
";
const AEABI_MEMORY: &str = "
    __aeabi_memclr __aeabi_memclr4 __aeabi_memclr8 __aeabi_memcpy __aeabi_memcpy4 __aeabi_memcpy8
    __aeabi_memmove __aeabi_memmove4 __aeabi_memmove8 __aeabi_memset __aeabi_memset4 __aeabi_memset8
";
const AEABI_HALVES: &str = "__aeabi_f2h __aeabi_h2f";
const GNU_HALVES: &str = "__gnu_f2h_ieee __gnu_h2f_ieee";
const ARM_WINDOWS: &str = "
    __dtoi64 __dtou64 __i64tod __i64tos __rt_sdiv __rt_sdiv64 __rt_udiv __rt_udiv64 __stoi64
    __stou64 __u64tod __u64tos
";
const X86_MSVC: &str = "_alldiv _allmul _allrem _aulldiv _aullrem _chkstk";
const PROBE: &str = "__chkstk";
const PROBE_MINGW_64: &str = "___chkstk_ms";
const PROBE_MINGW_32: &str = "_alloca";

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_name_once() {
        for triple in
            ["x86_64-pc-linux-gnu", "aarch64-pc-windows-msvc", "armv7-unknown-linux-gnueabihf", "", "x"]
        {
            let list: Vec<&str> = names(triple.as_bytes()).collect();
            assert_eq!(list.iter().collect::<HashSet<_>>().len(), list.len());
            assert!(list.contains(&"memcpy") && list.len() > 350, "{triple}: {}", list.len());
        }
    }

    #[test]
    fn targets_differ() {
        let has = |triple: &str, name: &str| names(triple.as_bytes()).any(|other| other == name);
        assert!(has("x86_64-pc-linux-gnu", "__multi3") && !has("i686-pc-linux-gnu", "__multi3"));
        assert!(has("aarch64-unknown-linux-musl", "__aarch64_ldadd8_acq_rel"));
        assert!(has("armv7-unknown-linux-gnueabihf", "__aeabi_ldivmod"));
        assert!(has("x86_64-pc-linux-gnu", "sincos") && !has("x86_64-pc-linux-musl", "sincos"));
        assert!(
            has("x86_64-pc-windows-msvc", "__security_cookie")
                && has("x86_64-w64-windows-gnu", "___chkstk_ms")
        );
        assert!(!has("x86_64-unknown-openbsd", "__stack_chk_fail"));
    }
}
