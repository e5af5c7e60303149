//! Writes the PDB that objects have between them, and tells how long each step takes: for measurements.
//!
//!     pdb-of-objects OUTPUT THREADS [--like IMAGE MAP] OBJECT...
//!
//! Code is nowhere, unless `lld-link /lldmap:MAP` has linked the same objects to IMAGE: then everything is
//! where it is there, and the PDB says the same as lld-link's.

use std::path::Path;
use std::time::Instant;

#[path = "../tests/toy/mod.rs"]
mod toy;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [output, threads, objects @ ..] = &args[..] else {
        eprintln!("usage: pdb-of-objects OUTPUT THREADS OBJECT...");
        std::process::exit(2);
    };
    let (like, objects) = match objects {
        [flag, image, map, rest @ ..] if flag == "--like" => (Some((image, map)), rest),
        objects => (None, objects),
    };
    let mut start = Instant::now();
    let mut tell = |what: &str| {
        println!("{:>8.1} ms  {what}", start.elapsed().as_secs_f64() * 1000.0);
        start = Instant::now();
    };
    let files: Vec<Vec<u8>> = objects.iter().map(|name| std::fs::read(name).expect(name)).collect();
    let parsed = objects.iter().zip(&files).map(|(name, bytes)| toy::Object::parse(name, bytes)).collect();
    let link = match like {
        None => toy::Link::nowhere(parsed),
        Some((image, map)) => {
            let map = std::fs::read_to_string(map).expect("a map");
            toy::Link::like(parsed, &map, &std::fs::read(image).expect("an image"))
        }
    };
    let threads = threads.parse().expect("a number of threads");
    match link.write(Path::new(output), threads, &mut tell) {
        Ok((_, warnings)) => warnings.iter().for_each(|warning| println!("{warning}")),
        Err(error) => println!("{error}"),
    }
}
