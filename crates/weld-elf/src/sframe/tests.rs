use super::*;

/// A table as assemblers make them; what it says can be changed in the bytes.
struct Made {
    format: Format,
    version: Version,
    flags: u8,
    /// Size, `func_info` and rows of each function.
    functions: Vec<(u32, u8, Vec<Vec<u8>>)>,
}

/// A row of a place of one byte with these numbers of one byte each.
fn row(place: u8, numbers: &[u8]) -> Vec<u8> {
    [&[place, 1 | (numbers.len() as u8) << 1], numbers].concat()
}

impl Made {
    fn new(version: Version, format: Format) -> Made {
        let functions = vec![
            (16, 0, vec![row(0, &[8]), row(4, &[16, 0xf0])]),
            (5, 0, vec![row(0, &[8])]),
            (7, 0, vec![]),
        ];
        Made { format, version, flags: 0, functions }
    }

    fn bytes(&self) -> Vec<u8> {
        let Made { format, version, flags, ref functions } = *self;
        let u32 = |number: usize| format.u32_bytes(number as u32).to_vec();
        let (mut index, mut rows, mut n_rows) = (Vec::new(), Vec::new(), 0);
        for (size, info, of_function) in functions {
            index.extend(vec![0; version.address_size()]);
            index.extend(u32(*size as usize).into_iter().chain(u32(rows.len())));
            let count = of_function.len();
            match version {
                Version::One => index.extend([u32(count), vec![*info]].concat()),
                Version::Two => index.extend([u32(count), vec![*info, 0, 0, 0]].concat()),
                Version::Three => {
                    rows.extend(format.u16_bytes(count as u16));
                    rows.extend([*info, 0, 0]);
                }
            }
            n_rows += count;
            of_function.iter().for_each(|row| rows.extend(row));
        }
        let mut bytes = format.u16_bytes(MAGIC).to_vec();
        bytes.extend([version as u8, flags, 3, 0, 0xf8, 0]);
        let numbers = [functions.len(), n_rows, rows.len(), 0, index.len()];
        bytes.extend(numbers.into_iter().flat_map(u32).chain(index).chain(rows));
        bytes
    }

    /// Where functions' addresses are.
    fn addresses(&self) -> Vec<u64> {
        (0..self.functions.len()).map(|i| (HEADER + i * self.version.fde_size()) as u64).collect()
    }
}

const VERSIONS: [Version; 3] = [Version::One, Version::Two, Version::Three];

fn read(data: &[u8], relocs: &[u64]) -> Result<Vec<Table>> {
    parse(data, Format::NATIVE, relocs, |reloc| *reloc)
}

/// What is wrong with a table of a version that `change` has changed.
fn damaged(version: Version, change: impl Fn(&mut Vec<u8>)) -> Wrong {
    let made = Made::new(version, Format::NATIVE);
    let mut bytes = made.bytes();
    change(&mut bytes);
    read(&bytes, &[]).unwrap_err().wrong
}

#[test]
fn tables_of_all_versions_and_orders() {
    for version in VERSIONS {
        for format in Format::ALL {
            let made = Made::new(version, format);
            let (bytes, relocs) = (made.bytes(), made.addresses());
            let tables = parse(&bytes, format, &relocs, |reloc| *reloc).unwrap();
            let [table] = &tables[..] else { panic!("{tables:?}") };
            assert_eq!((table.at, table.version, table.flags), (0, version, 0));
            assert_eq!(table.conventions, Conventions { abi: 3, fixed_fp: 0, fixed_ra: -8 });
            let sizes: Vec<_> = table.fdes.iter().map(|f| (f.size, f.n_rows, f.rows_size, f.reloc)).collect();
            assert_eq!(sizes, [(16, 2, 7, Some(0)), (5, 1, 3, Some(1)), (7, 0, 0, Some(2))]);
            let first = &table.fdes[0];
            assert_eq!(bytes[first.rows as usize..][..7], [0, 3, 8, 4, 5, 16, 0xf0]);
            assert_eq!(u64::from(table.fdes[1].at), relocs[1]);
        }
    }
}

#[test]
fn wide_rows() {
    // Places of four bytes, three numbers of two.
    let wide = [&[0; 4][..], &[3 << 1 | 1 << 5], &[0; 6]].concat();
    let mut made = Made::new(Version::Two, Format::NATIVE);
    made.functions = vec![(1 << 20, 2 | REPEATS | KEY, vec![wide.clone(), wide])];
    let table = &read(&made.bytes(), &[]).unwrap()[0];
    assert_eq!((table.fdes[0].rows_size, table.fdes[0].reloc), (22, None));
}

#[test]
fn nothing_empty_and_several() {
    assert_eq!(read(&[], &[]), Ok(Vec::new()));
    assert_eq!(read(&[0; 8], &[]), Ok(Vec::new()));
    let mut made = Made::new(Version::One, Format::NATIVE);
    let (mut bytes, first) = (made.bytes(), made.addresses());
    made.functions.clear();
    let empty = made.bytes();
    assert_eq!(empty.len(), HEADER);
    assert!(read(&empty, &[]).unwrap()[0].fdes.is_empty());
    // As a joined object has them, with padding in between.
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.extend(empty);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let (start, other) = (bytes.len() as u64, Made::new(Version::Two, Format::NATIVE));
    bytes.extend(other.bytes());
    let relocs = [first, other.addresses().iter().map(|at| at + start).collect()].concat();
    let tables = read(&bytes, &relocs).unwrap();
    assert_eq!(tables.iter().map(|t| t.fdes.len()).collect::<Vec<_>>(), [3, 0, 3]);
    assert_eq!((tables[2].at, tables[2].fdes[2].reloc), (start as u32, Some(5)));
}

#[test]
fn functions_without_code_are_left_out() {
    let mut made = Made::new(Version::Two, Format::NATIVE);
    made.functions[1].0 = 0;
    let tables = read(&made.bytes(), &made.addresses()).unwrap();
    assert_eq!(tables[0].fdes.iter().map(|f| f.size).collect::<Vec<_>>(), [16, 7]);
}

#[test]
fn relocations() {
    let made = Made::new(Version::Two, Format::NATIVE);
    let (bytes, at) = (made.bytes(), made.addresses());
    let of = |relocs: &[u64]| {
        let tables = read(&bytes, relocs)?;
        Ok::<_, SFrameError>(tables[0].fdes.iter().map(|fde| fde.reloc).collect::<Vec<_>>())
    };
    // In another order, and for some only.
    assert_eq!(of(&[at[2], at[0], at[1]]), Ok(vec![Some(1), Some(2), Some(0)]));
    assert_eq!(of(&[at[1]]), Ok(vec![None, Some(0), None]));
    for (relocs, place) in [(vec![at[0], at[0]], at[0]), (vec![4], 4), (vec![at[1] + 4], at[1] + 4)] {
        assert_eq!(of(&relocs), Err(SFrameError { at: place, wrong: Wrong::Reloc }), "{relocs:?}");
    }
    let end = bytes.len() as u64;
    assert_eq!(of(&[at[2], end]), Err(SFrameError { at: end, wrong: Wrong::Reloc }));
}

#[test]
fn damaged_headers() {
    let put = |at: usize, byte: u8| move |bytes: &mut Vec<u8>| bytes[at] = byte;
    for version in VERSIONS {
        assert_eq!(damaged(version, |bytes| bytes.truncate(HEADER - 1)), Wrong::TruncatedHeader);
        assert_eq!(damaged(version, put(0, 1)), Wrong::Magic);
        assert_eq!(damaged(version, |bytes| bytes.swap(0, 1)), Wrong::ByteOrder);
        assert_eq!(damaged(version, put(2, 4)), Wrong::Version(4));
        assert_eq!(damaged(version, put(3, 8)), Wrong::Flags(8));
        assert_eq!(damaged(version, put(7, 1)), Wrong::MoreHeader);
        // Counts and offsets whose sums or products do not fit.
        assert_eq!(damaged(version, put(11, 0xff)), Wrong::Index(0xff00_0003));
        assert!(matches!(damaged(version, put(19, 0xff)), Wrong::Rows(_)));
        assert!(matches!(damaged(version, put(23, 0xff)), Wrong::Index(3)));
        assert!(matches!(damaged(version, put(27, 0xff)), Wrong::Rows(_)));
    }
    assert_eq!(damaged(Version::One, put(3, PC_RELATIVE)), Wrong::Flags(PC_RELATIVE));
    assert_eq!(damaged(Version::Three, put(3, FRAME_POINTER)), Wrong::Flags(FRAME_POINTER));
}

#[test]
fn damaged_functions() {
    let put = |at: usize, byte: u8| move |bytes: &mut Vec<u8>| bytes[at] = byte;
    for version in VERSIONS {
        let first_row = HEADER + version.address_size() + 4;
        assert_eq!(damaged(version, put(first_row, 0xff)), Wrong::FirstRow);
        assert_eq!(damaged(version, put(first_row + 3, 0xff)), Wrong::FirstRow);
        let rows = HEADER + 3 * version.fde_size();
        let (count, info) = match version {
            Version::Three => (rows, rows + 2),
            _ => (HEADER + 12, HEADER + 16),
        };
        assert_eq!(damaged(version, put(count + 1, 0xff)), Wrong::Row);
        assert_eq!(damaged(version, put(info, 3)), Wrong::RowType(3));
        assert_eq!(damaged(version, put(info, 0x40)), Wrong::Info(0x40));
        let row = rows + version.head_size();
        assert_eq!(damaged(version, put(row + 1, 3 << 5)), Wrong::NumberSize);
        assert_eq!(damaged(version, put(row + 1, 15 << 1 | 2 << 5)), Wrong::Row);
    }
    assert_eq!(damaged(Version::Two, put(HEADER + 16, SIGNAL)), Wrong::Info(SIGNAL));
    let rows = HEADER + 3 * Version::Three.fde_size();
    assert_eq!(damaged(Version::Three, put(rows + 3, 0x20)), Wrong::Info(0x20));
    assert!(read(&changed(Version::Three, rows + 2, SIGNAL), &[]).is_ok());
    assert_eq!(read(&changed(Version::Three, rows + 3, 1), &[]).unwrap()[0].fdes[0].kind, 1);
}

fn changed(version: Version, at: usize, byte: u8) -> Vec<u8> {
    let mut bytes = Made::new(version, Format::NATIVE).bytes();
    bytes[at] = byte;
    bytes
}

/// Every byte changed and every length: what is read lies in the section.
#[test]
fn no_damage_leads_outside() {
    for version in VERSIONS {
        let made = Made::new(version, Format::NATIVE);
        let (bytes, relocs) = (made.bytes(), made.addresses());
        let check = |bytes: &[u8]| {
            for fde in read(bytes, &relocs).iter().flatten().flat_map(|table| &table.fdes) {
                assert!((fde.rows + fde.rows_size) as usize <= bytes.len(), "{fde:?}");
                assert!(fde.at as usize + version.address_size() <= bytes.len());
            }
        };
        for at in 0..bytes.len() {
            check(&bytes[..at]);
            for byte in [0, 1, 2, 3, 0x7f, 0x80, 0xff] {
                check(&changed(version, at, byte));
            }
        }
    }
}

#[test]
fn machines() {
    let [little, big] = [Format::NATIVE, Format::ALL[1]];
    let abis = [(183, big), (183, little), (62, little), (22, big), (62, big), (243, little)];
    let numbers = abis.map(|(machine, format)| Conventions::abi_of(machine, format));
    assert_eq!(numbers, [Some(1), Some(2), Some(3), Some(4), None, None]);
}
