//! Maps of the test program itself, in the form of each linker of ELF files: which object its bytes come with.
//! Those of Windows' linkers are read end to end (`tests/coff/reports/explore-map.c`).

use super::*;

/// The test program, and the number and address of its code.
fn with_program(check: impl FnOnce(&Container, usize, u64)) {
    let file = std::fs::read(std::env::current_exe().expect("its path")).expect("the test program");
    let container = Container::parse(&file).expect("an ELF file");
    let text = container.sections.iter().position(|section| section.name == b".text").expect("code");
    check(&container, text, container.sections[text].address);
}

/// `map` tells that 0x20 bytes from 0x10 on are `main.o`'s, and the next 0x30 those of `lib.a(member.o)`.
#[track_caller]
fn check(map: &str, container: &Container, text: usize, start: u64) {
    let map = Map::parse(map, container).expect("a map");
    let at = |offset: u64| {
        let origin = &map.origins.list[map.origins.at(text, start + offset)? as usize];
        Some((&*origin.name, origin.archive.as_deref(), &*origin.section))
    };
    let (main, member) = (Some(("main.o", None, ".text")), Some(("member.o", Some("lib.a"), ".text._Z1fv")));
    assert_eq!([0xf, 0x10, 0x2f, 0x30, 0x5f, 0x60].map(at), [None, main, main, member, member, None]);
}

#[test]
fn of_ld_lld_and_mold() {
    with_program(|container, text, start| {
        let (main, member) = (start + 0x10, start + 0x30);
        let map = format!(
            "             VMA              LMA     Size Align Out     In      Symbol\n\
             {start:16x} {start:16x} 100 16 .text\n\
             {main:16x} {main:16x} 20 16         main.o:(.text)\n\
             {main:16x} {main:16x} 20 1                 main\n\
             {member:16x} {member:16x} 30 16         lib.a(member.o):(.text._Z1fv)\n\
             {member:16x} {member:16x} 30 16         <internal>:(.text)\n"
        );
        check(&map, container, text, start);
        let map = format!(
            "               VMA       Size Align Out     In      Symbol\n\
             {start:#18x} 256 16 .text\n\
             {main:#18x} 32 16         main.o:(.text)\n\
             {main:#18x} 0 0                 main\n\
             {member:#18x} 48 16         lib.a(member.o):(.text._Z1fv)\n"
        );
        check(&map, container, text, start);
    });
}

#[test]
fn of_gnu_ld_and_gold() {
    with_program(|container, text, start| {
        let (main, member) = (start + 0x10, start + 0x30);
        let map = |heading: &str| {
            format!(
                "Discarded input sections\n\n .text          {start:#018x}      0x100 gone.o\n\n{heading}\n\n\
                 LOAD main.o\n\
                 .text           {start:#018x}      0x100\n *(.text .stub)\n \
                 .text          {main:#018x}       0x20 main.o\n                {main:#018x}                main\n \
                 *fill*         {start:#018x}       0x10 90\n \
                 .text._Z1fv\n                {member:#018x}       0x30 lib.a(member.o)\n                \
                 {member:#018x}                f()\n                                         0x31 (size before relaxing)\n\
                 .wrong          {start:#018x}      0x100\n \
                 .text          {main:#018x}       0x20 wrong.o\n"
            )
        };
        check(&map("Linker script and memory map"), container, text, start);
        check(&map("Memory map"), container, text, start);
    });
}

#[test]
fn of_something_else() {
    with_program(|container, _, start| {
        let elsewhere = start + 1;
        for map in [
            String::new(),
            "VMA LMA Size Align\n".to_owned(),
            format!(
                "VMA LMA Size Align\n{elsewhere:x} {elsewhere:x} 100 16 .text\n{start:x} {start:x} 1 1 a.o:(.text)\n"
            ),
            format!("Memory map\n.text {elsewhere:#x} 0x10\n .text {start:#x} 0x10 a.o\n"),
            "Preferred load address is 0000000000400000\n 0001:00000000 main 0000000000401000 main.obj\n"
                .to_owned(),
            "Preferred load address is\n".to_owned(),
        ] {
            assert!(Map::parse(&map, container).is_none(), "{map}");
        }
    });
}

/// Whatever stands in a map: no panic.
#[test]
fn damaged() {
    with_program(|container, _, start| {
        let words = [
            "Memory map\n",
            "Linker script and memory map\n",
            "VMA LMA Size Align\n",
            "VMA Size Align\n",
            "Address Size Align\n",
            "Preferred load address is 0\n",
            "\n",
            " ",
            "  ",
            ".text",
            "0x10",
            "10",
            "(",
            ")",
            ":(",
            "0001:00000000",
            "ffff:ffffffff",
            "0000000000000010",
            "ffffffffffffffff",
            "0xffffffffffffffff",
            "FFFFFFFFH",
            "a.o",
            "lib:a.o",
            "f",
            "i",
            "ä",
            "<",
            "*",
        ];
        let start = format!("{start:#x}");
        let mut seed = 7u32;
        for _ in 0..5000 {
            let mut map = String::new();
            for _ in 0..24 {
                seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
                let at = (seed >> 8) as usize % (words.len() + 2);
                map += words.get(at).copied().unwrap_or(&start);
                map += if seed & 128 == 0 { " " } else { "" };
            }
            _ = Map::parse(&map, container);
        }
    });
}
