use super::*;

fn header(name: &str, size: usize) -> Vec<u8> {
    format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 7, 0, 0, 644).into_bytes()
}

fn member(name: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = header(name, data.len());
    bytes.extend_from_slice(data);
    if data.len() % 2 == 1 {
        bytes.push(b'\n');
    }
    bytes
}

fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    [MAGIC.as_slice(), &members.concat()].concat()
}

fn thin(members: &[Vec<u8>]) -> Vec<u8> {
    [THIN_MAGIC.as_slice(), &members.concat()].concat()
}

fn gnu_index(offsets: &[u32], names: &[u8]) -> Vec<u8> {
    let mut data = (offsets.len() as u32).to_be_bytes().to_vec();
    data.extend(offsets.iter().flat_map(|o| o.to_be_bytes()));
    data.extend_from_slice(names);
    data
}

fn names(archive: &Archive) -> Vec<String> {
    archive.members().map(|m| String::from_utf8_lossy(m.unwrap().name).into_owned()).collect()
}

fn symbols(archive: &Archive) -> Vec<(String, u64)> {
    let symbols = archive.symbols().unwrap();
    symbols.map(|(name, offset)| (String::from_utf8_lossy(name).into_owned(), offset)).collect()
}

fn problem(bytes: &[u8]) -> &'static str {
    match Archive::parse(bytes) {
        Ok(archive) => archive.members().find_map(Result::err).expect("an error").problem,
        Err(e) => e.problem,
    }
}

#[test]
fn gnu_with_index_and_long_names() {
    let index = gnu_index(&[168, 168, 232], b"one\0two\0three\0");
    let bytes = archive(&[
        member("/", &index),
        member("//", b"a_long_member_name.o/\n"),
        member("a.o/", b"abc"),
        member("/0", b"defg"),
    ]);
    let archive = Archive::parse(&bytes).unwrap();
    assert!(!archive.is_thin());
    assert_eq!(names(&archive), ["a.o", "a_long_member_name.o"]);
    let found: Vec<_> = archive.members().map(|m| m.unwrap()).collect();
    assert_eq!(found[0].data, MemberData::Inline(b"abc"));
    assert_eq!((found[0].size, found[0].mtime), (3, 7));
    assert_eq!(found[1].data, MemberData::Inline(b"defg"));
    let offsets: Vec<_> = symbols(&archive).into_iter().map(|s| s.0).collect();
    assert_eq!(offsets, ["one", "two", "three"]);
    assert_eq!(archive.member_at(found[1].header_offset), Ok(found[1]));
}

#[test]
fn index_with_64_bit_offsets() {
    let mut index = 2u64.to_be_bytes().to_vec();
    index.extend(100u64.to_be_bytes());
    index.extend((1u64 << 40).to_be_bytes());
    index.extend(b"a\0b\0");
    let bytes = archive(&[member("/SYM64/", &index)]);
    let archive = Archive::parse(&bytes).unwrap();
    assert_eq!(symbols(&archive), [("a".into(), 100), ("b".into(), 1 << 40)]);
    assert_eq!(archive.member_at(1 << 40).unwrap_err().problem, "truncated member header");
}

#[test]
fn bsd_names_and_index_in_both_byte_orders() {
    for big in [false, true] {
        let word = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
        let mut index = b"__.SYMDEF SORTED\0\0\0\0".to_vec();
        for n in [16, 4, 500, 0, 600, 8] {
            index.extend(word(n));
        }
        index.extend(b"two\0one\0");
        let bytes =
            archive(&[member("#1/20", &index), member("#1/12", b"long name.o\0data"), member("b.o", b"x")]);
        let archive = Archive::parse(&bytes).unwrap();
        assert_eq!(symbols(&archive), [("one".into(), 500), ("two".into(), 600)]);
        assert_eq!(names(&archive), ["long name.o", "b.o"]);
        let first = archive.members().next().unwrap().unwrap();
        assert_eq!(first.data, MemberData::Inline(b"data"));
        assert_eq!(first.size, 4);
    }
}

#[test]
fn bsd_index_with_64_bit_words() {
    let words = [16u64, 0, 77, 2];
    let mut index: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    index.extend(b"f\0");
    let bytes = archive(&[member("__.SYMDEF_64", &index)]);
    assert_eq!(symbols(&Archive::parse(&bytes).unwrap()), [("f".into(), 77)]);
}

#[test]
fn coff_second_linker_member_and_ec_symbols_are_skipped() {
    let bytes = archive(&[
        member("/", &gnu_index(&[300], b"f\0")),
        member("/", b"\x01\0\0\0sorted"),
        member("//", b"some_long_name.obj\0"),
        member("/<ECSYMBOLS>/", b"\0\0\0\0"),
        member("/<XFGHASHMAP>/", b"\0\0\0\0"),
        member("/CXXMODWEAKSYM/", b"any\0"),
        member("/0", b"obj"),
    ]);
    let archive = Archive::parse(&bytes).unwrap();
    assert_eq!(names(&archive), ["some_long_name.obj"]);
    assert_eq!(symbols(&archive), [("f".into(), 300)]);
}

#[test]
fn thin_members_are_paths() {
    let bytes = thin(&[
        member("/", &gnu_index(&[100], b"f\0")),
        member("//", b"../dir/a.o/\nn.a/\n"),
        header("/0", 1104),
        header("/12:1340", 1120),
        header("/12", 99),
    ]);
    let archive = Archive::parse(&bytes).unwrap();
    assert!(archive.is_thin());
    let found: Vec<_> = archive.members().map(|m| m.unwrap()).collect();
    assert_eq!(names(&archive), ["../dir/a.o", "n.a", "n.a"]);
    assert_eq!((found[0].data, found[0].size), (MemberData::Thin, 1104));
    assert_eq!(found[1].data, MemberData::ThinNested { header_offset: 1340 });
    assert_eq!(found[2].data, MemberData::Thin);
}

#[test]
fn empty_archives_and_empty_indexes() {
    assert!(Archive::parse(MAGIC).unwrap().members().next().is_none());
    assert!(Archive::parse(THIN_MAGIC).unwrap().symbols().is_none());
    let bytes = archive(&[member("/", &gnu_index(&[], b""))]);
    assert!(Archive::parse(&bytes).unwrap().symbols().is_none());
}

#[test]
fn the_last_member_may_lack_its_padding() {
    let mut bytes = archive(&[member("a.o/", b"abc")]);
    bytes.pop();
    assert_eq!(names(&Archive::parse(&bytes).unwrap()), ["a.o"]);
}

#[test]
fn split_gives_the_same_symbols() {
    let all: Vec<String> = (0..100).map(|i| "x".repeat(i * 7 % 30)).collect();
    let text: String = all.iter().map(|n| format!("{n}\0")).collect();
    let offsets: Vec<u32> = (0..100).collect();
    let gnu = archive(&[member("/", &gnu_index(&offsets, (text + "\0\0\0").as_bytes()))]);
    let mut index = 800u32.to_le_bytes().to_vec();
    index.extend((0..100u32).flat_map(|i| [i.to_le_bytes(), (i + 8).to_le_bytes()]).flatten());
    index.extend(100u32.to_le_bytes());
    index.extend(b"y\0".repeat(50));
    let bsd = archive(&[member("__.SYMDEF", &index)]);
    for bytes in [gnu, bsd] {
        let archive = Archive::parse(&bytes).unwrap();
        let armap = archive.armap().unwrap();
        assert_eq!(armap.count(), 100);
        for parts in [0, 1, 2, 3, 7, 99, 100, 1000] {
            let runs = armap.split(parts);
            assert!(runs.len() <= parts.max(1));
            assert!(runs.into_iter().flatten().eq(armap.symbols()), "{parts} parts");
        }
        assert_eq!(armap.symbols().len(), 100);
        assert_eq!(armap.offset(99), armap.symbols().last().unwrap().1);
    }
}

#[test]
fn malformed_headers() {
    let good = archive(&[member("a.o/", b"abcd")]);
    assert_eq!(problem(b"!<arch>"), "no archive magic");
    assert_eq!(problem(&good[..40]), "truncated member header");
    assert_eq!(problem(&good[..70]), "member reaches past the end of the archive");
    assert_eq!(problem(&[&good[..], b"x"].concat()), "truncated member header");
    let patch = |at: usize, text: &[u8]| {
        let mut bytes = good.clone();
        bytes[8 + at..8 + at + text.len()].copy_from_slice(text);
        problem(&bytes)
    };
    assert_eq!(patch(48, b"x"), "bad size in a member header");
    assert_eq!(patch(48, b"-1"), "bad size in a member header");
    assert_eq!(patch(48, b"          "), "bad size in a member header");
    assert_eq!(patch(48, b"9999999999"), "member reaches past the end of the archive");
    assert_eq!(patch(58, b"??"), "no member header");
    assert_eq!(patch(0, b"/12 "), "reference past the table of long names");
    assert_eq!(patch(0, b"/x  "), "bad reference to the table of long names");
    assert_eq!(patch(0, b"/1:2"), "reference past the table of long names");
    assert_eq!(patch(0, b"#1/5"), "bad length of a member name");
    assert_eq!(patch(0, b"#1/ "), "bad length of a member name");
}

#[test]
fn malformed_special_members() {
    let short = |data: &[u8]| problem(&archive(&[member("/", data)]));
    assert_eq!(short(b""), "symbol index is larger than its member");
    assert_eq!(short(b"\xff\xff\xff\xff\0\0\0\0"), "symbol index is larger than its member");
    assert_eq!(short(&gnu_index(&[1, 2], b"a\0b")), "symbol index has fewer names than symbols");
    let wide = archive(&[member("/SYM64/", &[0xff; 16])]);
    assert_eq!(problem(&wide), "symbol index is larger than its member");
    let bsd = |words: &[u32]| {
        let data: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        problem(&archive(&[member("__.SYMDEF", &data)]))
    };
    assert_eq!(bsd(&[4, 0, 0]), "symbol index does not fit its member");
    assert_eq!(bsd(&[8, 4, 0, 4, 0]), "symbol index does not fit its member");
    assert_eq!(bsd(&[8, 0, 0, 99, 0]), "symbol index does not fit its member");
    let twice = archive(&[member("//", b"a/\n"), member("//", b"b/\n")]);
    assert_eq!(problem(&twice), "second table of long names");
    let late = archive(&[member("a.o/", b""), member("/", b"\0\0\0\0")]);
    assert_eq!(problem(&late), "special member among ordinary ones");
}

#[test]
fn references_that_are_not_to_members() {
    let bytes = archive(&[member("/", &gnu_index(&[8], b"f\0")), member("a.o/", &[b'x'; 200])]);
    let archive = Archive::parse(&bytes).unwrap();
    let at = |offset| archive.member_at(offset).unwrap_err().problem;
    assert_eq!(at(0), "reference to something that is not a member");
    assert_eq!(at(8), "reference to something that is not a member");
    assert_eq!(at(90), "no member header");
    assert_eq!(at(bytes.len() as u64), "truncated member header");
    assert_eq!(at(u64::MAX), "truncated member header");
}

/// Every prefix and every single changed byte: an answer, never a panic.
#[test]
fn hostile_bytes() {
    let plain = archive(&[
        member("/", &gnu_index(&[150], b"one\0")),
        member("//", b"a_long_member_name.o/\n"),
        member("/0", b"defg"),
        member("#1/3", b"abcdef"),
    ]);
    let thin = thin(&[member("//", b"x/\n"), header("/0:5", 3)]);
    let walk = |bytes: &[u8]| {
        if let Ok(archive) = Archive::parse(bytes) {
            archive.members().for_each(drop);
            for (_, offset) in archive.symbols().into_iter().flatten() {
                let _ = archive.member_at(offset);
            }
        }
    };
    for good in [plain, thin] {
        for i in 0..good.len() {
            walk(&good[..i]);
            for value in [0, b' ', b'/', b'9', b'`', 0xff] {
                let mut bytes = good.clone();
                bytes[i] = value;
                walk(&bytes);
            }
        }
    }
}

/// What all threads together find is what one finds, whatever the index says.
#[test]
fn members_found_by_several_threads() {
    let count = 5 * MEMBERS_PER_TASK as u32;
    // Each holds what looks like the header of another one.
    let inner = member("inside/", b"no member");
    let members: Vec<Vec<u8>> = (0..count).map(|i| member(&format!("m{i}/"), &inner)).collect();
    let size = members[0].len() as u32;
    let names = b"s\0".repeat(count as usize);
    let first = 8 + 60 + 4 + 6 * count;
    let build = |offsets: &[u32], behind: &[u8]| {
        let index = member("/", &gnu_index(offsets, &names));
        [archive(&[vec![index], members.clone()].concat()), behind.to_vec()].concat()
    };
    let honest: Vec<u32> = (0..count).map(|i| first + i * size).collect();
    let inside: Vec<u32> = honest.iter().map(|offset| offset + 60).collect();
    let few: Vec<u32> =
        honest.iter().enumerate().map(|(i, at)| if i % 3 == 0 { *at } else { first }).collect();
    let nonsense: Vec<u32> = (0..count).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    for offsets in [honest, inside, few, nonsense] {
        for (behind, problem) in [(&b""[..], None), (&b"rest"[..], Some("truncated member header"))] {
            let bytes = build(&offsets, behind);
            let archive = Archive::parse(&bytes).unwrap();
            let (found, error) = archive.each_member(true, |member| member);
            assert!(found.iter().copied().eq(archive.members().flatten()));
            assert_eq!((found.len() as u32, error.map(|e| e.problem)), (count, problem));
        }
    }
}
