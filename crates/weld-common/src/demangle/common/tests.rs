//! Names as c++filt says them, as the libraries do where these are right, and whatever else names may be.

use super::super::{demangle_cpp, demangle_rust};
use super::*;

fn others(name: &str) -> Option<String> {
    demangle_rust(name.as_bytes()).or_else(|| demangle_cpp(name.as_bytes()))
}

#[track_caller]
fn check(name: &str, want: &str) {
    assert_eq!(demangle(name.as_bytes()).as_deref(), Ok(want), "{name}");
}

#[test]
fn names() {
    check("_ZN2ns1fEv", "ns::f()");
    check(
        "_ZNSt6vectorIiSaIiEE9push_backERKi",
        "std::vector<int, std::allocator<int> >::push_back(int const&)",
    );
    check("_ZN2ns1CC2ERKS0_", "ns::C::C(ns::C const&)");
    check("_ZN3BoxIiED0Ev", "Box<int>::~Box()");
    check("_ZNK3BoxIPKcEeqERKS2_", "Box<char const*>::operator==(Box<char const*> const&) const");
    check("_ZN12_GLOBAL__N_11fEi", "(anonymous namespace)::f(int)");
    check("_ZSt4swapIiEvRT_S1_", "void std::swap<int>(int&, int&)");
    check("_ZN1a1fIN1b1cELi5ELb0EEET_v", "b::c a::f<b::c, 5, false>()");
    check("_ZTVN2ns1CE", "vtable for ns::C");
    check("_ZTI3BoxIcE", "typeinfo for Box<char>");
    check("_ZN3BoxIN2ns1EEE5valueE", "Box<ns::E>::value");
}

/// Where the library errs: types in types that have come before, and constructors that are templates.
#[test]
fn what_the_library_says_otherwise() {
    check("_Z1fPN2ns1AENS0_1BE", "f(ns::A*, ns::A::B)");
    check("_Z1fPN2ns1AEPNS0_1BE", "f(ns::A*, ns::A::B*)");
    check("_ZN1AC1IPiEET_S2_", "A::A<int*>(int*, int*)");
    check("_ZN1AC1IiEEcd", "A::A<int>(char, double)");
}

/// As the library has them, too.
#[test]
fn local_names_and_packs() {
    for (name, want) in [
        ("_ZZN1A1fEvE1x__12_", "A::f()::x"),
        ("_ZGVZN1A1fEvE1x_0", "guard variable for A::f()::x"),
        ("_ZZN1A1fEvENKUliE11_clEi", "A::f()::{lambda(int)#13}::operator()(int) const"),
        ("_ZZ1fvENKUlvE98_clEv", "f()::{lambda()#100}::operator()() const"),
        ("_ZZN1A1fEvENKUlT_E_clIiEEDaS0_", "auto A::f()::{lambda(auto:1)#1}::operator()<int>(int) const"),
        ("_ZN1BIZ1fIiEvT_EUlvE_E1gEv", "B<void f<int>(int)::{lambda()#1}>::g()"),
        ("_ZN1BIZN1A1fEvE3$_1E1gEv", "B<A::f()::$_1>::g()"),
        ("_ZTIZN1A1fEvEUlvE_", "typeinfo for A::f()::{lambda()#1}"),
        ("_ZN1AIiJEE1fEv", "A<int, >::f()"),
        ("_ZN1AIJEE1BC2Ev", "A<>::B::B()"),
        ("_Z1fIJiEEvDpOT_", "void f<int>(int&&)"),
        ("_Z1fIiJidEEvT_DpT0_", "void f<int, int, double>(int, int, double)"),
        ("_Z1fIJiEEvSt5tupleIJDpT_EEDpOS1_", "void f<int>(std::tuple<int>, int&&)"),
        ("_Z1fIJidEEvSt5tupleIJDpT_EE", "void f<int, double>(std::tuple<int, double>)"),
        ("_Z1fILi3EEvSt5arrayIiXT_EE", "void f<3>(std::array<int, 3>)"),
        ("_Z1fIRiEvOT_", "void f<int&>(int&)"),
        ("_Z1fPFvvES_S0_", "f(void (*)(), void (), void (*)())"),
        (
            "_ZN1AIFiidEE1fERKSt8functionIS0_E",
            "A<int (int, double)>::f(std::function<int (int, double)> const&)",
        ),
        ("_Z1fRA3_KcS0_", "f(char const (&) [3], char const [3])"),
        ("_ZThn8_N1A1fEv", "non-virtual thunk to A::f()"),
        ("_ZN1A1BB5cxx11C2Ev", "A::B[abi:cxx11]::B()"),
        ("_ZN1AIiECI21BIiEEi", "A<int>::B(int)"),
        ("_ZNK1AcvbEv", "A::operator bool() const"),
        ("_ZNSaIiEC2Ev", "std::allocator<int>::allocator()"),
        ("_ZStssIiEDaT_S0_", "auto std::operator<=><int>(int, int)"),
    ] {
        check(name, want);
        assert_eq!(others(name).as_deref(), Some(want), "{name}");
    }
}

/// As the library has them, too.
#[test]
fn expressions_and_references_to_what_is_around() {
    for (name, want) in [
        ("_Z1fIiENSt2ifIX2isIT_iEEvE4typeEv", "std::if<is<int, int>, void>::type f<int>()"),
        ("_Z1fIiENSt2ifIXsr2is1aIT_EE1vEvE4typeEv", "std::if<is::a<int>::v, void>::type f<int>()"),
        ("_Z1fIiENSt2ifIXntsr2isIT_EE1vEvE4typeEv", "std::if<!(is<int>::v), void>::type f<int>()"),
        ("_Z1fIiEvN1AIX1aEE1BES2_", "void f<int>(A<a>::B, A<a>::B)"),
        ("_Z1fIRA3_KcEvOT_", "void f<char const (&) [3]>(char const (&) [3])"),
        ("_Z1fIOA3_KcEvOT_", "void f<char const (&&) [3]>(char const (&&) [3])"),
        ("_Z1fIRFvvEEvOT_S3_", "void f<void (&)()>(void (&)(), void (&)())"),
        ("_Z1fIJRA3_KcEEvDpOT_", "void f<char const (&) [3]>(char const (&) [3])"),
    ] {
        check(name, want);
        assert_eq!(others(name).as_deref(), Some(want), "{name}");
    }
}

/// What newer compilers write, which is not asked for in vain.
#[test]
fn what_no_library_knows() {
    for name in [
        "_ZN1AC2IiTnNSt2ifIXsr2isE1vEiE4typeELi0EEEv",
        "_Z1fITyiEvv",
        "_Z1fIiEvN1AITL0__EE",
        "_Z1fIiEvT_Q1cIS0_E",
        "_ZN1AD2EvQ1c",
    ] {
        assert_eq!(demangle(name.as_bytes()), Err(Unsaid::Anywhere), "{name}");
        assert_eq!(others(name), None, "{name}");
    }
}

/// Where it errs with those: packs, references to what lambdas are called with, functions that return classes.
#[test]
fn what_the_library_says_otherwise_of_these() {
    check("_Z1fIJidEEvDpOT_", "void f<int, double>(int&&, double&&)");
    check("_Z1fIJRidEEvDpOT_", "void f<int&, double>(int&, double&&)");
    check("_Z1fIJEEviDpOT_", "void f<>(int)");
    check("_Z1fIJEEvDpT_i", "void f<>(int)");
    check("_Z1fIJ1A1BEEv1CIJDpRT_EE", "void f<A, B>(C<A&, B&>)");
    check("_ZN1AC1IJiEEEDpOT_", "A::A<int>(int&&)");
    check("_Z1fIZ1gvEUlOT_E_EvS1_", "void f<g()::{lambda(auto:1&&)#1}>(g()::{lambda(auto:1&&)#1}&&)");
    check("_Z1fN2ns1gIFNS_1AEvEEE", "f(ns::g<ns::A ()>)");
}

#[test]
fn whatever_names_are() {
    const PARTS: [&str; 51] = [
        "N",
        "E",
        "Z",
        "St",
        "Sa",
        "Ss",
        "S_",
        "S0_",
        "S1_",
        "S2_",
        "T_",
        "T0_",
        "I",
        "J",
        "JE",
        "Dp",
        "Ul",
        "UlvE_",
        "UlT_E_",
        "E_",
        "F",
        "Fvv",
        "PFv",
        "A3_",
        "1f",
        "1g",
        "2ns",
        "C1",
        "C2",
        "CI2",
        "D0",
        "cv",
        "cl",
        "P",
        "R",
        "O",
        "K",
        "i",
        "v",
        "Li5E",
        "XT_E",
        "Da",
        "B1t",
        "_0",
        "12_GLOBAL__N_1",
        "Th8_",
        "X1f",
        "nt",
        "sr1a",
        "Tn",
        "Q",
    ];
    let mut seed = 11u32;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
        (seed >> 8) as usize % below
    };
    let starts =
        ["1fI", "1fIJ", "N1A1f", "ZN1A1fEvE", "Z1fI", "1f", "1fIZ1gvEUlT_E_", "GVZ", "NSaI", "1fIJidEEvDp"];
    let mut known = 0;
    for _ in 0..200_000 {
        let mut name = format!("_Z{}", starts[random(starts.len())]);
        (0..random(14)).for_each(|_| name += PARTS[random(PARTS.len())]);
        known += usize::from(demangle(name.as_bytes()).is_ok());
    }
    assert!(known > 1000, "{known}");
    // Each type of what the lambda is called with has the one before twice, and is read again behind it.
    let twice: String = (1..30).map(|i| format!("1bIS{0}_S{0}_E", ["", "0", "1", "2"][i % 4])).collect();
    for last in ["", "0", "1", "9", "A", "Z"] {
        _ = demangle(format!("_Z1fIZ1gvEUlT_{twice}E_EvS{last}_").as_bytes());
    }
    let deep = format!("_Z1f{}", "Z1fvE".repeat(3000));
    assert_eq!(demangle(deep.as_bytes()), Err(Unsaid::Here));
    let deep = format!("_Z1f{}", "IX1f".repeat(3000));
    assert_eq!(demangle(deep.as_bytes()), Err(Unsaid::Here));
    // Each is read again, in a scope of its own.
    let again = format!("_Z1fPFvZ1gIiEvT_E1xE{}", "S2_".repeat(254));
    assert_eq!(demangle(again.as_bytes()), Err(Unsaid::Here));
    let many = format!("_Z1fIJ{}EEvDpT_", "i".repeat(9));
    assert!(demangle(many.as_bytes()).is_ok());
}

#[test]
fn what_is_left_to_the_library() {
    for name in [
        "_Z1fA3_A4_i",
        "_Z1fPPFvvE",
        "_Z1fKFvvE",
        "_Z1fM1Ai",
        "_ZN1fE17h0123456789abcdefE",
        "_ZN1f3$_0E",
        "_Z1fIOiEvRT_",
        "_Z1fDpT_",
        "_ZZ1fvEs",
        "_ZZ1fvEZ1gvE1x",
        "_ZSt8for_eachIPiPFviEET0_T_S4_S3_",
        "_Z3getIiERA3_iv",
        "_ZN1S3getIiEEPFvvEv",
        "_Z1fIJidEET_i",
        "_Z1fIJidEEvT_",
        "_Z1fIXplLi1ELi2EEEvv",
        "_Z1fIXsrT_1vEEvv",
        "_Z1fIX1gB1tEEvv",
        "_Z1fIXsrE1gEEvv",
        "_Z1fIXntnt1gEEvv",
        "_Z1fIRA3_iEvRT_",
        "_Z1fi.cold",
        "_Z1fS_",
        "_Z1fT_",
        "_Z",
    ] {
        assert_eq!(demangle(name.as_bytes()), Err(Unsaid::Here), "{name}");
    }
}

#[test]
fn all_as_the_libraries_say_it() {
    const WORDS: [&str; 6] = ["1f", "2ns", "5class", "10_underscore", "3ab1", "12_GLOBAL__N_1"];
    const TYPES: [&str; 24] = [
        "i", "j", "b", "v", "z", "Dn", "Pc", "PKc", "RKi", "OPv", "KPKi", "S_", "S0_", "S1_", "S2_", "RKS_",
        "PS0_", "T_", "Ss", "Sa", "1A", "N2ns1BE", "St4pair", "SaIcE",
    ];
    const ENDS: [&str; 12] = ["C1", "C2", "D0", "D1", "eq", "pl", "cl", "aS", "lt", "nw", "1g", "L1h"];
    let mut seed = 9u32;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
        (seed >> 8) as usize % below
    };
    let (mut known, mut damaged) = (0, 0);
    for _ in 0..60_000 {
        let mut name = format!("_Z{}", ["", "N", "N", "NK", "NSt", "St", "NKR"][random(7)]);
        let mut is_constructor = false;
        for _ in 0..random(3) + 1 {
            name += WORDS[random(WORDS.len())];
            for place in 0..[0, 0, 1, 2][random(4)] {
                name += if place == 0 { "I" } else { "" };
                name += ["", "", "Li5E", "Lb1E", "Lm7E", "LN1A1EEn2E"][random(6)];
                name += TYPES[random(TYPES.len())];
                name += if place == 0 { ["E", "E", "i"][random(3)] } else { "E" };
            }
        }
        if random(3) == 0 {
            let end = ENDS[random(ENDS.len())];
            is_constructor = end.starts_with(['C', 'D']);
            name += end;
            name += ["", "", "IiE"][random(3)];
        }
        name += ["", "E", "E", "E"][random(4)];
        (0..random(4)).for_each(|_| name += TYPES[random(TYPES.len())]);
        if random(8) == 0 {
            let at = random(name.len() - 2) + 2;
            name.replace_range(at..at + 1, ["E", "S", "_", "1", "I", "N", "K", "T", "C"][random(9)]);
            damaged += 1;
        }
        let Ok(text) = demangle(name.as_bytes()) else { continue };
        // Where it errs: see above.
        if name.contains("NS") && !name.contains("NSt") || is_constructor && name.contains("IiE") {
            continue;
        }
        // What is damaged the library may refuse to say.
        let Some(want) = others(&name) else { continue };
        assert_eq!(text, want, "{name}");
        known += 1;
    }
    assert!(known > 5000 && damaged > 5000, "{known}, {damaged}");
}
