//! What a link is asked for, apart from its files: command line, environment, directory, program, system.

use std::collections::HashMap;
use std::io;
use std::ops::Range;

use weld_common::args::response::Expanded;
use weld_common::digest::UnitDigest;
use weld_common::host::Host;
use weld_common::io::reason;

pub use weld_common::relink::system::{boot, build};
use weld_common::relink::witness::is_of_rustc;

use super::full_link_reason::Why;
use super::units;
use crate::options::Options;
use crate::relink_state::fields::put_bytes;
use crate::relink_state::keys;
use crate::relink_state::outline::short;

/// What a link is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Of all of it, without the words that compilers choose at random.
    pub digest: u128,
    /// The paths that have such a word, as they were given.
    pub random: Vec<Vec<u8>>,
    /// Objects of which there may be others ([`super::units`]), as they were given; they stand side by side.
    pub units: Vec<Vec<u8>>,
}

impl Request {
    /// Words that options leave to the system are in `options`.
    ///
    /// # Errors
    /// If the working directory cannot be read.
    pub fn new(args: &Expanded, options: &Options, host: &dyn Host) -> Result<Request, Why> {
        let failed = |e: io::Error| Why::System(format!("cannot read the working directory: {}", reason(&e)));
        let here = std::env::current_dir().map_err(failed)?;
        let mut all = Vec::new();
        let (mut random, mut units) = (Vec::new(), Vec::new());
        let given: Vec<&[u8]> = args.args().into_iter().map(|arg| arg.as_encoded_bytes()).collect();
        let are_units = units_of(&given, options);
        let mut add = |part: &[u8]| put_bytes(part, &mut all);
        for (number, arg) in given.into_iter().enumerate() {
            if are_units.contains(&number) {
                if units.is_empty() {
                    add(b"<units>");
                }
                units.push(arg.to_vec());
                continue;
            }
            match std::str::from_utf8(arg) {
                // How the link is asked to relink does not change what it makes.
                Ok(text) if is_about_relinking(text) => {}
                // Compilers name temporary files for plugins, which intermediate code is for; that is not
                // relinked.
                Ok(text) if text.trim_start_matches('-').starts_with("plugin-opt=") => {}
                Ok(text) if is_of_rustc(text.as_bytes()) => {
                    let value = text
                        .split_once('=')
                        .filter(|_| text.starts_with('-'))
                        .map_or(text, |(_, value)| value);
                    let known = keys::normalised(value);
                    if known != value {
                        random.push(value.as_bytes().to_vec());
                    }
                    add(&text.as_bytes()[..text.len() - value.len()]);
                    add(known.as_bytes());
                }
                _ => add(arg),
            }
        }
        add(host.program_name().as_bytes());
        add(here.as_os_str().as_encoded_bytes());
        add(host.run_path().unwrap_or_default().as_bytes());
        // What -R means depends on what is there.
        add(format!("{:?}", options.dynamic).as_bytes());
        Ok(Request { digest: short(UnitDigest::of(&all)), random, units })
    }

    /// What files that the `last` request named are called in this one, which asks for the same.
    pub fn renamed<'r>(&'r self, last: &'r Request) -> HashMap<&'r [u8], &'r [u8]> {
        let known = |path: &Vec<u8>| keys::normalised(&String::from_utf8_lossy(path));
        let units: HashMap<String, &[u8]> = self.units.iter().map(|path| (known(path), &path[..])).collect();
        let of_units = last.units.iter().filter_map(|path| Some((&path[..], *units.get(&known(path))?)));
        let random = last.random.iter().map(Vec::as_slice).zip(self.random.iter().map(Vec::as_slice));
        random.chain(of_units).filter(|(a, b)| a != b).collect()
    }
}

/// Which arguments are units; none if they do not stand side by side, or some objects are like members of archives.
fn units_of(given: &[&[u8]], options: &Options) -> Range<usize> {
    let is_unit = |arg: &&[u8]| std::str::from_utf8(arg).is_ok_and(units::is_unit);
    let first = given.iter().position(is_unit).unwrap_or(0);
    let run = first..first + given[first..].iter().take_while(|arg| is_unit(arg)).count();
    let are_all = !given[run.end..].iter().any(is_unit);
    let has_lazy = options.inputs.args.iter().any(|input| input.flags.in_lib);
    if are_all && !has_lazy { run } else { 0..0 }
}

fn is_about_relinking(arg: &str) -> bool {
    let name = arg.strip_prefix('-').map(|name| name.strip_prefix('-').unwrap_or(name));
    let of_itself = |name: &str| matches!(name, "incremental" | "detach" | "no-detach" | "fork" | "no-fork");
    name.is_some_and(|name| of_itself(name) || name.starts_with("incremental="))
}
