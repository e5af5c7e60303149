use weld_common::diag::DiagSink;
use weld_testkit::codeview as cv;

use super::*;
use crate::codeview::records::Record;

fn merge<'a>(objects: &[ObjectTypes<'a>]) -> (Types<'a>, Vec<String>) {
    let sink = DiagSink::new();
    let types = Types::merge(objects, &[], false, &sink).unwrap();
    (types, sink.finish().into_iter().map(|d| [d.message, d.notes.join(" ")].join(": ")).collect())
}

fn object<'a>(name: &'a str, types: &'a [u8]) -> ObjectTypes<'a> {
    ObjectTypes { name, types, ..Default::default() }
}

/// All records of a stream, in order.
fn records(types: &Types<'_>, space: Space) -> Vec<Vec<u8>> {
    let stream = types.stream(space);
    let mut bytes = vec![0xcc; stream.bytes as usize];
    let mut buckets = vec![0xcc; stream.count as usize * 4];
    for piece in &stream.pieces {
        let (at, first) = (piece.at as usize, piece.first as usize);
        let out = &mut bytes[at..at + piece.size as usize];
        types.write_piece(space, piece, out, &mut buckets[4 * first..4 * (first + piece.count as usize)]);
    }
    let mut all = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let record = Record::at(&bytes, at).unwrap();
        all.push(record.bytes.to_vec());
        at += record.bytes.len();
    }
    assert_eq!(all.len(), stream.count as usize);
    for (record, bucket) in all.iter().zip(buckets.chunks(4)) {
        assert_eq!(tpi_hash::bucket(record).to_le_bytes(), bucket);
    }
    all
}

/// A list: `S { int a; S *next; }`, a function of it, with `extra` types before all.
fn list_object(extra: u32) -> Vec<u8> {
    let mut t = cv::Types::new();
    for i in 0..extra {
        t.arguments(&vec![cv::INT; 40 + i as usize]);
    }
    let forward = t.forward("S");
    let pointer = t.pointer(forward);
    let fields = t.fields(&[("a", cv::INT), ("next", pointer)]);
    t.structure("S", fields, 2);
    let arguments = t.arguments(&[pointer]);
    let procedure = t.procedure(cv::INT, arguments);
    t.function_id(procedure, "f");
    t.finish()
}

#[test]
fn equal_types_at_different_numbers_are_one() {
    let (first, second) = (list_object(0), list_object(3));
    let (types, warnings) = merge(&[object("a.obj", &first), object("b.obj", &second)]);
    assert!(warnings.is_empty());
    assert_eq!((types.count(Space::Type), types.count(Space::Id)), (6 + 3, 1));
    let (a, b) = (types.lookup(0).unwrap(), types.lookup(1).unwrap());
    let (in_a, in_b) = (|i| a.get(i, Space::Type), |i| b.get(i, Space::Type));
    assert!((0..6).all(|i| in_a(0x1000 + i) == in_b(0x1003 + i) && in_a(0x1000 + i) == Some(0x1000 + i)));
    assert_eq!((in_b(0x1000), in_b(cv::INT), in_b(0x100a)), (Some(0x1006), Some(cv::INT), None));
    // Types and ids are counted apart.
    assert_eq!((a.get(0x1006, Space::Id), in_a(0x1006)), (Some(0x1000), None));
    assert_eq!((a.get(0x1006, Space::Id), types.function_type(0x1000)), (Some(0x1000), Some(0x1005)));
    let ids = records(&types, Space::Id);
    assert_eq!(u32_of(&ids[0], 8), 0x1005);
    let all = records(&types, Space::Type);
    assert_eq!(all.len(), 9);
    assert_eq!(u32_of(&all[1], 4), 0x1000, "the pointer's type");
}

fn u32_of(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

#[test]
fn records_that_refer_to_different_types_differ() {
    let make = |of: u32| {
        let mut t = cv::Types::new();
        let arguments = t.arguments(&[of]);
        let procedure = t.procedure(cv::INT, arguments);
        t.pointer(procedure);
        t.finish()
    };
    let (a, b) = (make(cv::INT), make(0x75));
    let (types, _) = merge(&[object("a.obj", &a), object("b.obj", &b), object("c.obj", &a)]);
    assert_eq!(types.count(Space::Type), 6);
    assert_eq!(types.lookup(1).unwrap().get(0x1002, Space::Type), Some(0x1005));
    assert_eq!(types.lookup(2).unwrap().get(0x1002, Space::Type), Some(0x1002));
}

/// An object whose types are wrong gives a warning, and the others are as without it.
#[test]
fn malformed_lists_are_dropped() {
    let good = list_object(0);
    let bad = |make: &dyn Fn(&mut cv::Types)| {
        let mut t = cv::Types::new();
        t.pointer(cv::INT);
        make(&mut t);
        t.finish()
    };
    let cases: [(&str, Vec<u8>); 8] = [
        ("itself", bad(&|t| _ = t.pointer(0x1001))),
        ("a later one", bad(&|t| _ = t.pointer(0x1002))),
        ("far out", bad(&|t| _ = t.pointer(u32::MAX))),
        (
            "a string",
            bad(&|t| {
                let id = t.string_id("x");
                t.pointer(id);
            }),
        ),
        ("a type", bad(&|t| _ = t.record(0x1605, cv::Body::new().u32(0x1000).text("x")))),
        ("an unknown kind", bad(&|t| _ = t.record(0x1999, cv::Body::new()))),
        ("many arguments", bad(&|t| _ = t.record(0x1201, cv::Body::new().u32(u32::MAX).u32(0)))),
        ("cut off", bad(&|t| _ = t.pointer(0x1000)).split_last_chunk::<4>().unwrap().0.to_vec()),
    ];
    for (what, bad) in &cases {
        let (types, warnings) = merge(&[object("bad.obj", bad), object("good.obj", &good)]);
        assert_eq!(warnings.len(), 1, "{what}");
        assert!(
            warnings[0].starts_with("Cannot use debug info for 'bad.obj': type record 0x100"),
            "{what}: {warnings:?}"
        );
        assert!(types.lookup(0).is_none());
        assert_eq!((types.count(Space::Type), types.count(Space::Id)), (6, 1), "{what}");
    }
    let (types, warnings) = merge(&[object("bad.obj", &[1, 2]), object("none.obj", &[])]);
    assert_eq!(warnings.len(), 1);
    assert!(types.lookup(0).is_none() && types.lookup(1).unwrap().get(0x1000, Space::Type).is_none());
}

/// The maker of a precompiled header may come after its users.
#[test]
fn precompiled_headers_are_found_by_their_signature() {
    let mut t = cv::Types::new();
    let forward = t.forward("S");
    t.pointer(forward);
    t.header(0x0014, cv::Body::new().u32(0x1234));
    let header = t.finish();
    // What its maker has after it.
    let mut rest = cv::Types::from(0x1003);
    rest.pointer(0x1000);
    rest.procedure(0x1001, 0x1003);
    let rest = rest.finish();
    let header = [&header[..], &rest[4..]].concat();
    let user = |signature: u32, count: u32| {
        let mut t = cv::Types::from(0x1000 + count);
        t.header(0x1509, cv::Body::new().u32(0x1000).u32(count).u32(signature).text("pch.obj"));
        let arguments = t.arguments(&[0x1001]);
        t.procedure(0x1001, arguments);
        t.finish()
    };
    let (good, lost, long) = (user(0x1234, 2), user(0x99, 2), user(0x1234, 9));
    let maker = ObjectTypes { name: "pch.obj", precompiled: &header, ..Default::default() };
    let objects = [object("a.obj", &good), object("b.obj", &lost), maker, object("c.obj", &long)];
    let (types, warnings) = merge(&objects);
    assert_eq!(warnings.len(), 2);
    assert!(warnings[0].contains("no object has the precompiled header 0x00000099"));
    assert!(warnings[1].contains("c.obj"));
    let a = |i| types.lookup(0).unwrap().get(i, Space::Type);
    assert_eq!((a(0x1001), a(0x1002), a(0x1003)), (Some(0x1001), Some(0x1003), Some(0x1004)));
    assert!(types.lookup(1).is_none() && types.lookup(3).is_none());
    let all = records(&types, Space::Type);
    assert_eq!((all.len(), u32_of(&all[3], 8)), (5, 0x1001));
    // The pointer is the one before the end.
    let maker = |i| types.lookup(2).unwrap().get(i, Space::Type);
    assert_eq!((maker(0x1001), maker(0x1002), maker(0x1003)), (Some(0x1001), Some(0x1001), Some(0x1001)));
    assert_eq!((maker(0x1004), maker(0x1005)), (Some(0x1002), None));
}

#[test]
fn streams_do_not_depend_on_threads_and_places_can_be_skipped_to() {
    let objects: Vec<Vec<u8>> = (0..40).map(|i| list_object(i * 7 % 23)).collect();
    let mut big = cv::Types::new();
    (0..20_000).fold(cv::INT, |of, _| big.pointer(of));
    let big = big.finish();
    let mut inputs: Vec<ObjectTypes<'_>> = objects.iter().map(|types| object("o", types)).collect();
    inputs.push(object("big", &big));
    let (alone, _) = merge(&inputs);
    let pool = weld_common::par::Pool::new(4, &weld_common::trace::Trace::new(false));
    let sink = DiagSink::new();
    let together = pool.install(|| Types::merge(&inputs, &[], true, &sink)).unwrap();
    for space in [Space::Type, Space::Id] {
        let all = records(&alone, space);
        assert_eq!(all, records(&together, space));
        assert_eq!(alone.stream(space).skips, together.stream(space).skips);
        let mut places = vec![0];
        all.iter().for_each(|record| places.push(places[places.len() - 1] + record.len() as u32));
        let skips = &alone.stream(space).skips;
        assert!(skips.iter().all(|&(number, at)| places[(number - 0x1000) as usize] == at));
        assert!(skips.windows(2).all(|w| w[1].1 - w[0].1 <= 8192 + 256));
        assert_eq!(skips[0], (0x1000, 0));
    }
    assert!(alone.stream(Space::Type).pieces.len() > 2);
}

/// A compiler's PDB with these streams of types and ids, which begin with a signature like sections do.
fn server(guid: [u8; 16], types: &[u8], ids: &[u8]) -> Vec<u8> {
    let stream = |section: &[u8]| {
        let records = &section[4..];
        let words = [2004_0203, 56, 0x1000, 0x1000, records.len() as u32];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.resize(56, 0);
        [&bytes[..], records].concat()
    };
    let info = [&[0; 12][..], &guid].concat();
    let streams = [vec![], info, stream(types), vec![], stream(ids)];
    let lens: Vec<u32> = streams.iter().map(|stream| stream.len() as u32).collect();
    let layout = crate::msf::Layout::new(&lens, 4096).unwrap();
    let mut file = vec![0; layout.file_len() as usize];
    file[..4096].copy_from_slice(&layout.superblock());
    let (directory, places) = layout.directory();
    places.for_each(|(at, range)| file[at as usize..][..range.len()].copy_from_slice(&directory[range]));
    for (i, stream) in streams.iter().enumerate() {
        layout.places(i, 0..stream.len() as u64).for_each(|(at, range)| {
            file[at as usize..][..range.len()].copy_from_slice(&stream[range]);
        });
    }
    file
}

/// An object whose types are in the PDB with this GUID.
fn client(guid: [u8; 16]) -> Vec<u8> {
    let mut t = cv::Types::new();
    t.record(0x1515, cv::Body::new().bytes(&guid).u32(1).text("c:\\vc.pdb"));
    t.finish()
}

#[test]
fn types_in_a_pdb_of_the_compilers() {
    const GUID: [u8; 16] = *b"0123456789abcdef";
    // A pointer to what stands behind it, and an id that refers to a later id.
    let mut t = cv::Types::new();
    t.pointer(0x1001);
    t.forward("S");
    let fields = t.fields(&[("a", cv::INT), ("next", 0x1000)]);
    t.structure("S", fields, 2);
    let arguments = t.arguments(&[0x1000]);
    let procedure = t.procedure(cv::INT, arguments);
    let types = t.finish();
    let mut t = cv::Types::new();
    t.record(0x1601, cv::Body::new().u32(0x1001).u32(procedure).text("g"));
    t.string_id("scope");
    t.function_id(procedure, "f");
    let ids = t.finish();
    let file = server(GUID, &types, &ids);
    let servers = [TypeServer { name: "vc.pdb", file: &file }];
    let (plain, user, stale) = (list_object(2), client(GUID), client([7; 16]));
    assert_eq!(server::server_of(&user).unwrap().path, b"c:\\vc.pdb");
    assert!(server::server_of(&plain).is_none());
    let uses = |types| ObjectTypes { name: "user.obj", types, server: Some(0), ..Default::default() };
    let lost = ObjectTypes { server: None, ..uses(&user) };
    let objects = [object("plain.obj", &plain), uses(&user), uses(&user), uses(&stale), lost];
    let sink = DiagSink::new();
    let types = Types::merge(&objects, &servers, false, &sink).unwrap();
    let warnings: Vec<String> = sink.finish().iter().map(|d| d.to_string()).collect();
    assert_eq!(warnings.len(), 2);
    assert!(warnings[0].contains("user.obj") && warnings[0].contains("might be out of date"), "{warnings:?}");
    assert!(warnings[1].contains("'c:\\vc.pdb': No such file"), "{warnings:?}");
    let [a, b, c] = [0, 1, 2].map(|i| types.lookup(i).unwrap());
    // What is in both is one.
    let pairs = [(0x1002, 0x1001), (0x1003, 0x1000), (0x1004, 0x1002), (0x1007, 0x1005)];
    for (plain, server) in pairs {
        assert_eq!(a.get(plain, Space::Type).unwrap(), b.get(server, Space::Type).unwrap());
        assert_eq!(b.get(server, Space::Type), c.get(server, Space::Type));
    }
    assert_eq!(a.get(0x1008, Space::Id), b.get(0x1002, Space::Id));
    assert_eq!((types.count(Space::Type), types.count(Space::Id)), (8, 3));
    assert!(b.get(0x1006, Space::Type).is_none() && b.get(0x1003, Space::Id).is_none());
    assert!(types.lookup(3).is_none() && types.lookup(4).is_none());
}

/// Every byte of a compiler's PDB changed that is of its container, its types or its ids, whether its pages
/// follow each other or not.
#[test]
fn changed_bytes_in_a_pdb_of_the_compilers() {
    const GUID: [u8; 16] = *b"0123456789abcdef";
    let mut t = cv::Types::new();
    t.pointer(0x1001);
    t.forward("S");
    let fields = t.fields(&[("a", cv::INT), ("next", 0x1000)]);
    t.structure("S", fields, 2);
    let arguments = t.arguments(&[0x1000]);
    let procedure = t.procedure(cv::INT, arguments);
    // The stream has three pages.
    (0..900).fold(cv::INT, |of, _| t.pointer(of));
    let types = t.finish();
    let mut t = cv::Types::new();
    t.string_id("scope");
    t.function_id(procedure, "f");
    let ids = t.finish();
    let mut file = server(GUID, &types, &ids);
    let (plain, user) = (list_object(2), client(GUID));
    let user = ObjectTypes { name: "user.obj", types: &user, server: Some(0), ..Default::default() };
    let objects = [object("plain.obj", &plain), user];
    let read = |file: &[u8]| {
        let servers = [TypeServer { name: "vc.pdb", file }];
        let sink = DiagSink::new();
        let types = Types::merge(&objects, &servers, false, &sink).unwrap();
        let all = [Space::Type, Space::Id].map(|space| records(&types, space));
        assert_eq!(types.lookup(1).is_none(), !sink.finish().is_empty());
        all
    };
    let good = read(&file);
    let word = |file: &[u8], at: usize| u32_of(file, at) as usize;
    let directory = word(&file, word(&file, 52) * 4096) * 4096;
    // Five streams with their lengths, then the page of the info stream.
    let pages = directory + 4 * (1 + 5 + 1);
    let first = word(&file, pages) * 4096;
    // The second and third page of types change places.
    for i in 0..4096 {
        file.swap(first + 4096 + i, first + 2 * 4096 + i);
    }
    for i in 4..8 {
        file.swap(pages + i, pages + i + 4);
    }
    assert_eq!(read(&file), good);
    let ids = word(&file, pages + 12) * 4096;
    let places = [0..60, directory..pages + 20, first..first + 200, ids..ids + 120];
    let mut warned = 0;
    for at in places.into_iter().flatten() {
        for value in [0, 0xff, file[at] ^ 4] {
            let old = std::mem::replace(&mut file[at], value);
            warned += usize::from(read(&file) != good);
            file[at] = old;
        }
    }
    assert!(warned > 300, "{warned}");
}

#[test]
fn circles_and_damage_in_a_pdb_of_the_compilers() {
    let mut t = cv::Types::new();
    t.pointer(cv::INT);
    t.pointer(0x1002);
    t.pointer(0x1003);
    t.pointer(0x1001);
    let (circle, empty) = (t.finish(), cv::Types::new().finish());
    let (good, user) = (list_object(0), client([7; 16]));
    let file = server([7; 16], &circle, &empty);
    for file in [&file[..], &file[..5000], b"no PDB"] {
        let servers = [TypeServer { name: "vc.pdb", file }];
        let user = ObjectTypes { name: "user.obj", types: &user, server: Some(0), ..Default::default() };
        let sink = DiagSink::new();
        let types = Types::merge(&[user, object("good.obj", &good)], &servers, false, &sink).unwrap();
        assert!(sink.finish().iter().any(|d| d.to_string().contains("vc.pdb")));
        assert!(types.lookup(0).is_none());
        assert_eq!(types.count(Space::Type), 6);
    }
}
