//! The example for a JIT: what it writes says where its functions and lines are.

use std::process::Command;

#[path = "../examples/jit.rs"]
mod example;

#[test]
fn functions_and_lines() {
    let path = std::env::temp_dir().join(format!("weld-pdb-jit-{}.pdb", std::process::id()));
    example::write(&path).unwrap();
    let dump =
        Command::new("llvm-pdbutil-22").args(["dump", "-symbols", "-l", "-publics"]).arg(&path).output();
    std::fs::remove_file(&path).unwrap();
    let dump = String::from_utf8(dump.unwrap().stdout).unwrap();
    for part in
        ["`update`", "addr = 0001:0032, code size = 16", "game.lua", "0001:00000020-00000030", "S_PUB32"]
    {
        assert!(dump.contains(part), "{part}: {dump}");
    }
}
