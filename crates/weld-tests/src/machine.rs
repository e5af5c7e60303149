//! Machines other than the one that tests run on: Debian's cross compilers and libraries, and an emulator of
//! user programs.

use std::process::Command;

/// The machine that tests run on.
pub const NATIVE: &str = "x86-64";

/// How programs for another machine are made and run.
#[derive(Clone, Copy, Debug)]
pub struct Foreign {
    /// What `machines:` and conditions call it.
    pub name: &'static str,
    /// What the names of its tools begin with; clang's target.
    pub triple: &'static str,
    /// `None` if its programs run as they are.
    pub emulator: Option<&'static str>,
    /// Where its libraries are.
    pub root: &'static str,
    /// Its C library has what programs start with that are static and may lie anywhere.
    pub static_pie: bool,
}

const FOREIGN: &[Foreign] = &[
    Foreign {
        name: "aarch64",
        triple: "aarch64-linux-gnu",
        emulator: Some("qemu-aarch64"),
        root: "/usr/aarch64-linux-gnu",
        static_pie: true,
    },
    Foreign {
        name: "riscv64",
        triple: "riscv64-linux-gnu",
        emulator: Some("qemu-riscv64"),
        root: "/usr/riscv64-linux-gnu",
        static_pie: false,
    },
    // Debian's libraries of 32 bits for x86-64 are what its programs run with.
    Foreign {
        name: "i386",
        triple: "i686-linux-gnu",
        emulator: None,
        root: "/usr/i686-linux-gnu",
        static_pie: true,
    },
    Foreign {
        name: "s390x",
        triple: "s390x-linux-gnu",
        emulator: Some("qemu-s390x"),
        root: "/usr/s390x-linux-gnu",
        static_pie: false,
    },
    // Thumb code and hard floating point by default.
    Foreign {
        name: "armhf",
        triple: "arm-linux-gnueabihf",
        emulator: Some("qemu-arm"),
        root: "/usr/arm-linux-gnueabihf",
        static_pie: false,
    },
    Foreign {
        name: "ppc64le",
        triple: "powerpc64le-linux-gnu",
        emulator: Some("qemu-ppc64le"),
        root: "/usr/powerpc64le-linux-gnu",
        static_pie: false,
    },
    // The ABI ELFv1.
    Foreign {
        name: "ppc64",
        triple: "powerpc64-linux-gnu",
        emulator: Some("qemu-ppc64"),
        root: "/usr/powerpc64-linux-gnu",
        static_pie: false,
    },
    Foreign {
        name: "ppc32",
        triple: "powerpc-linux-gnu",
        emulator: Some("qemu-ppc"),
        root: "/usr/powerpc-linux-gnu",
        static_pie: false,
    },
    Foreign {
        name: "mipsel",
        triple: "mipsel-linux-gnu",
        emulator: Some("qemu-mipsel"),
        root: "/usr/mipsel-linux-gnu",
        static_pie: false,
    },
    Foreign {
        name: "mips",
        triple: "mips-linux-gnu",
        emulator: Some("qemu-mips"),
        root: "/usr/mips-linux-gnu",
        static_pie: false,
    },
    Foreign {
        name: "mips64el",
        triple: "mips64el-linux-gnuabi64",
        emulator: Some("qemu-mips64el"),
        root: "/usr/mips64el-linux-gnuabi64",
        static_pie: false,
    },
    Foreign {
        name: "sparc64",
        triple: "sparc64-linux-gnu",
        emulator: Some("qemu-sparc64"),
        root: "/usr/sparc64-linux-gnu",
        static_pie: false,
    },
    Foreign {
        name: "m68k",
        triple: "m68k-linux-gnu",
        emulator: Some("qemu-m68k"),
        root: "/usr/m68k-linux-gnu",
        static_pie: false,
    },
    // ARM code of version 5 by default.
    Foreign {
        name: "armel",
        triple: "arm-linux-gnueabi",
        emulator: Some("qemu-arm"),
        root: "/usr/arm-linux-gnueabi",
        static_pie: false,
    },
];

/// How to make programs for the machine of this name; `None` for that on which tests run.
pub fn foreign(name: &str) -> Option<&'static Foreign> {
    FOREIGN.iter().find(|machine| machine.name == name)
}

impl Foreign {
    /// The compiler or driver that is called `program` natively, and what comes first among its arguments.
    pub fn compiler(&self, program: &str) -> (String, Vec<String>) {
        match program.starts_with("clang") {
            true => (program.to_owned(), vec![format!("--target={}", self.triple)]),
            false => (format!("{}-{program}", self.triple), Vec::new()),
        }
    }

    /// The command line that compiles with what is called `program` natively.
    pub fn compiler_line(&self, program: &str) -> String {
        let (program, flags) = self.compiler(program);
        [vec![program], flags].concat().join(" ")
    }

    /// What stands before a program to run it.
    pub fn runner(&self) -> String {
        self.emulator.map_or_else(String::new, |emulator| format!("{emulator} -L {}", self.root))
    }

    /// Runs a program, whose libraries are also looked for in the working directory. (The emulator takes
    /// commas in the directory's name for something else.)
    pub fn command(&self, program: &str) -> Command {
        let Some(emulator) = self.emulator else { return Command::new(program) };
        let mut command = Command::new(emulator);
        command.args(["-L", self.root, "-E", "LD_LIBRARY_PATH=.", program]);
        command
    }
}
