//! Compressed sections: damaged ones are read, and what is compressed reads back.
#![no_main]

use weld_elf::compressed::{Algorithm, Compressed, CompressedSection, Compressor};
use weld_elf::elf::Format;

fn read(parsed: Compressed) -> Option<Vec<u8>> {
    if parsed.uncompressed_size() > 1 << 20 {
        return None;
    }
    let mut out = vec![0; parsed.uncompressed_size() as usize];
    parsed.decompress_into(&mut out).ok().map(|()| out)
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(parsed) = Compressed::parse(data, Format::NATIVE) {
        read(parsed);
    }
    if let Ok(parsed) = Compressed::parse_zdebug(data, 1) {
        read(parsed);
    }
    for algorithm in [Algorithm::Zlib, Algorithm::Zstd] {
        let mut compressor = Compressor::new(algorithm, None).expect("a compressor");
        let (first, second) = data.split_at(data.len() / 3);
        let chunks = vec![
            compressor.chunk(first, false).expect("compresses"),
            compressor.chunk(second, true).expect("compresses"),
        ];
        let section = CompressedSection::new(Format::NATIVE, algorithm, 1, chunks);
        let bytes = section.parts().collect::<Vec<_>>().concat();
        assert_eq!(bytes.len() as u64, section.size());
        let parsed = Compressed::parse(&bytes, Format::NATIVE).expect("own sections can be read");
        assert!(read(parsed).expect("and decompressed") == data);
    }
});
