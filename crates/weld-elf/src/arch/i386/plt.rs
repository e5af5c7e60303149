//! The procedure linkage table. An entry jumps through its word of `.got.plt`, which it names by its address,
//! or, where an image may be moved, by its distance from the GOT's base, which callers have in `%ebx`. With
//! IBT, `.plt` keeps the lazy part and `.plt.sec` the entries that are called, both starting with `endbr32`,
//! as those of `.iplt` (IFUNCs of this output) do.
//!
//! `-z retpolineplt`: an entry saves `%eax` on the stack and loads its word into it; a call, whose return
//! address is replaced by the word, and a return make the jump. The processor takes the call's own return
//! address for the target; there is a loop that does nothing.
//!
//! Not all callers have something in `%ebx`: those of hidden functions do not know that there is an entry
//! (IFUNCs), and a function's address, if it is that of its entry, is called by anybody. So if a moving plan
//! has such, its entries find out where they are ([`Style::Anywhere`]): they keep all registers, put the
//! target on the stack, and return to it.
//!
//! The loader is told the relocation by its offset in `.rel.plt`.
//!
//! Specification: Intel386 psABI 5.2 "Procedure Linkage Table".

use crate::address::Address;
use crate::arch::facts::{Entries, Plt, Retpolines};
use crate::arch::plt::{self, First, Plan, Style};

/// Bytes of an entry.
const ENTRY: u64 = 16;

pub const PLT: Plt = Plt {
    ordinary: Entries { header: ENTRY, entry: ENTRY },
    retpolines: Some(Retpolines {
        lazy: Entries { header: LAZY_JUMP + JUMP.len() as u64, entry: 32 },
        bound: Entries { header: BOUND_JUMP + JUMP.len() as u64, entry: ENTRY },
    }),
    anywhere: Some(Entries { header: 64, entry: 32 }),
    align: 16,
    reserved_words: 3,
    ..Plt::NONE
};

/// Where in the header of retpolines [`JUMP`] is, if some functions are bound at their first call, and if
/// none is.
const LAZY_JUMP: u64 = 32;
const BOUND_JUMP: u64 = 16;

/// Bytes of a relocation in `.rel.plt`.
const RELOCATION: u32 = 8;

/// Returns to what was pushed. The processor takes the call's return address for the target, where it waits;
/// the target is the word after that.
#[rustfmt::skip]
const RETURN: [u8; 32] = [
    // call 2f
    0xe8, 0x0b, 0, 0, 0,
    // 1: pause; lfence; jmp 1b
    0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9,
    0xcc, 0xcc, 0xcc, 0xcc,
    // 2: lea 4(%esp), %esp; ret
    0x8d, 0x64, 0x24, 0x04, 0xc3,
    0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
];

/// What waits for ever: pause; lfence; jmp to the start.
const LOOP: [u8; 7] = [0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9];

/// Goes to where `%eax` says, which is called. What is under the call's return address is the register's
/// value.
#[rustfmt::skip]
const JUMP: [u8; 16] = [
    // mov %ecx, (%esp); mov 4(%esp), %ecx: that value
    0x89, 0x0c, 0x24, 0x8b, 0x4c, 0x24, 0x04,
    // mov %eax, 4(%esp); mov %ecx, %eax; pop %ecx; ret
    0x89, 0x44, 0x24, 0x04, 0x89, 0xc8, 0x59, 0xc3,
    0xcc,
];

const MARK: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfb];

/// Code in the making: what is after it traps.
struct Writer<'o> {
    out: &'o mut [u8],
    at: usize,
    /// Where `out` lies.
    address: Address,
}

impl<'o> Writer<'o> {
    fn new(out: &'o mut [u8], address: Address) -> Writer<'o> {
        out.fill(0xcc);
        Writer { out, at: 0, address }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.out[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    fn word(&mut self, value: u64) {
        self.bytes(&(value as u32).to_le_bytes());
    }

    /// Where the next byte lies.
    fn here(&self) -> Address {
        self.address + self.at as u64
    }

    /// `jmp target`
    fn jump(&mut self, target: Address) {
        self.bytes(&[0xe9]);
        self.word(target.wrapping_sub(self.here() + 4));
    }

    /// `push $offset; jmp header`, for PLT entry `entry`.
    fn call_loader(&mut self, entry: u32, header: Address) {
        self.bytes(&[0x68]);
        self.word((entry * RELOCATION).into());
        self.jump(header);
    }

    /// `call target`
    fn call(&mut self, target: Address) {
        self.bytes(&[0xe8]);
        self.word(target.wrapping_sub(self.here() + 4));
    }

    /// `push %eax; mov word, %eax`, for a word of `.got.plt`.
    fn save_and_load(&mut self, plan: &Plan, word: Address) {
        match plan.pic {
            true => {
                self.bytes(&[0x50, 0x8b, 0x83]);
                self.word(word.wrapping_sub(plan.got_base));
            }
            false => {
                self.bytes(&[0x50, 0xa1]);
                self.word(word.get());
            }
        }
    }

    /// `push word` or `jmp *word`, for a word of `.got.plt`.
    fn through(&mut self, plan: &Plan, operation: Operation, word: Address) {
        let register = operation as u8;
        match plan.pic {
            true => {
                self.bytes(&[0xff, 0x83 | register]);
                self.word(word.wrapping_sub(plan.got_base));
            }
            false => {
                self.bytes(&[0xff, 0x05 | register]);
                self.word(word.get());
            }
        }
    }

    /// `call 1f; 1: pop %ecx`, and where 1 is.
    fn find_place(&mut self) -> Address {
        self.bytes(&[0xe8, 0, 0, 0, 0]);
        let place = self.here();
        self.bytes(&[0x59]);
        place
    }

    /// `mov word, %ecx; xchg %ecx, (%esp)`, if `%ecx` has `place` in it.
    fn push_and_restore(&mut self, word: Address, place: Address) {
        self.bytes(&[0x8b, 0x89]);
        self.word(word.wrapping_sub(place));
        self.bytes(&[0x87, 0x0c, 0x24]);
    }
}

/// What an instruction with opcode `0xff` does, as a part of ModRM.
#[derive(Clone, Copy)]
enum Operation {
    Jump = 4 << 3,
    Push = 6 << 3,
}

/// Writes `.plt` from byte `start` on, where an entry starts.
pub fn write_plt(plan: &Plan, start: u64, out: &mut [u8]) {
    let header = plan.header_size();
    let size = plan.entry_size();
    let (head, entries) = out.split_at_mut(header.saturating_sub(start) as usize);
    if !head.is_empty() {
        write_header(plan, head);
    }
    let table = plan.plt + header;
    for (i, address, entry) in
        plt::entries(size, First { number: 0, address: table }, start.saturating_sub(header), entries)
    {
        write_entry(plan, i, Writer::new(entry, address));
    }
}

/// Writes `.iplt` from byte `start` on, where an entry starts.
pub fn write_iplt(plan: &Plan, start: u64, out: &mut [u8]) {
    let size = plan.entry_size();
    for (i, address, entry) in
        plt::entries(size, First { number: plan.jump_slots, address: plan.iplt }, start, out)
    {
        let code = Writer::new(entry, address);
        match plan.style {
            Style::Marked => write_marked(plan, i, code),
            _ => write_entry(plan, i, code),
        }
    }
}

fn write_header(plan: &Plan, head: &mut [u8]) {
    let mut code = Writer::new(head, plan.plt);
    let [map, loader] = [4, 8].map(|offset| plan.got_plt + offset);
    match plan.style {
        Style::Retpoline { lazy } => {
            if lazy {
                code.through(plan, Operation::Push, map);
                code.save_and_load(plan, loader);
            }
            let jump = jump_part(plan, lazy);
            code.call(jump);
            code.bytes(&LOOP);
            code.at = (jump - code.address) as usize;
            code.bytes(&JUMP);
        }
        Style::Anywhere { retpoline, .. } => {
            code.bytes(&RETURN);
            // push %ecx, twice: what the loader is told first will be in the upper place.
            code.bytes(&[0x51, 0x51]);
            let place = code.find_place();
            code.bytes(&[0xff, 0xb1]);
            code.word(map.wrapping_sub(place));
            // pop 4(%esp)
            code.bytes(&[0x8f, 0x44, 0x24, 0x04]);
            code.push_and_restore(loader, place);
            return_to(&mut code, retpoline, plan.plt);
        }
        _ => {
            code.through(plan, Operation::Push, map);
            code.through(plan, Operation::Jump, loader);
            // nop, four times
            code.bytes(&[0x90; 4]);
        }
    }
}

/// Goes to what has been pushed.
fn return_to(code: &mut Writer, retpoline: bool, header: Address) {
    match retpoline {
        true => code.jump(header),
        false => code.bytes(&[0xc3]),
    }
}

/// Where in the header of retpolines the code begins that is called.
fn jump_part(plan: &Plan, lazy: bool) -> Address {
    plan.plt + if lazy { LAZY_JUMP } else { BOUND_JUMP }
}

/// How far from the start of the header of retpolines that are lazy the loop is: after two words that are
/// pushed and a call.
fn loop_part(plan: &Plan) -> u64 {
    17 + u64::from(plan.pic)
}

fn write_entry(plan: &Plan, entry: u32, mut code: Writer) {
    let (header, word) = (plan.plt, plan.word(entry));
    let lazy = entry < plan.jump_slots;
    match plan.style {
        Style::Retpoline { lazy: false } => {
            code.save_and_load(plan, word);
            code.jump(header);
        }
        Style::Retpoline { lazy: true } => {
            code.save_and_load(plan, word);
            code.call(jump_part(plan, true));
            code.jump(header + loop_part(plan));
            if lazy {
                code.call_loader(entry, header);
            }
        }
        Style::Anywhere { marked, retpoline } => {
            if marked {
                code.bytes(&MARK);
            }
            // push %ecx
            code.bytes(&[0x51]);
            let place = code.find_place();
            code.push_and_restore(word, place);
            return_to(&mut code, retpoline, header);
            if lazy {
                code.call_loader(entry, header + RETURN.len() as u64);
            }
        }
        Style::Marked => {
            code.bytes(&MARK);
            code.call_loader(entry, header);
            code.bytes(&[0x66, 0x90]);
        }
        _ => {
            code.through(plan, Operation::Jump, word);
            // Of entries of IFUNCs it is never reached.
            code.call_loader(entry.checked_sub(plan.jump_slots).unwrap_or(entry), header);
        }
    }
}

/// Writes `.plt.sec` from byte `start` on, where an entry starts.
pub fn write_plt_sec(plan: &Plan, start: u64, out: &mut [u8]) {
    for (i, address, entry) in plt::entries(ENTRY, First { number: 0, address: plan.plt_sec }, start, out) {
        write_marked(plan, i, Writer::new(entry, address));
    }
}

/// Writes an entry that is called and starts with a mark.
fn write_marked(plan: &Plan, entry: u32, mut code: Writer) {
    // endbr32; jmp *slot; nop
    code.bytes(&MARK);
    code.through(plan, Operation::Jump, plan.word(entry));
    code.bytes(&[0x66, 0x0f, 0x1f, 0x44, 0, 0]);
}

/// The word of an entry bound by name starts as the address of its lazy part.
pub fn unbound(plan: &Plan, entry: u32) -> Address {
    let lazy = match plan.style {
        Style::Ordinary | Style::Guarded { .. } | Style::Thumb | Style::Relative { .. } => 6,
        Style::Marked => 0,
        // After the word's load, a call and a jump.
        Style::Retpoline { lazy: true } => 16 + u64::from(plan.pic),
        // All are bound before anything runs.
        Style::Retpoline { lazy: false } => return Address::ZERO,
        Style::Anywhere { marked, retpoline } => {
            17 + MARK.len() as u64 * u64::from(marked) + 4 * u64::from(retpoline)
        }
    };
    let header = plan.header_size();
    plan.plt + header + plan.entry_size() * u64::from(entry) + lazy
}
