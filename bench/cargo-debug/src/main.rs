//! `cargo-debug self-test` runs everything in the library.

use anyhow::Context;
use clap::Parser;

/// A program over hundreds of crates.
#[derive(Parser)]
enum Command {
    /// Run all checks.
    SelfTest {
        #[arg(long, value_enum, default_value = "low")]
        level: cargo_debug::Level,
    },
}

fn main() -> anyhow::Result<()> {
    let Command::SelfTest { level } = Command::parse();
    if level == cargo_debug::Level::High {
        println!("level {level}");
    }
    for (name, check) in cargo_debug::CHECKS {
        check().context(name)?;
    }
    println!("all is well");
    Ok(())
}
