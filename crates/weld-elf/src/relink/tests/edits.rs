//! What people do to programs.

use weld_testkit::mutate::Rng;

use super::program::{Function, Program, Ref, Seen, Unit, bytes};

fn pick<'p, T>(list: &'p mut [T], rng: &mut Rng) -> &'p mut T {
    let at = rng.below(list.len());
    &mut list[at]
}

impl Program {
    /// Other constants, instructions, data or debug information of the same size.
    pub fn change_bytes(&mut self, rng: &mut Rng) {
        let unit = match rng.below(5) {
            0 => &mut self.library[0],
            _ => pick(&mut self.units, rng),
        };
        let place = match rng.below(4) {
            0 => &mut unit.data,
            1 => &mut unit.debug,
            _ => {
                &mut loop {
                    // What lost with its group is not in the output.
                    let function = pick(&mut unit.functions, rng);
                    if !function.comdat {
                        break function;
                    }
                }
                .code
            }
        };
        let at = rng.below(place.len());
        place[at] ^= 1 + rng.below(255) as u8;
    }

    /// A function or debug information that grows or shrinks, and calls of what is called already.
    pub fn change_sizes(&mut self, rng: &mut Rng) {
        let unit = match rng.below(5) {
            0 => &mut self.library[0],
            _ => pick(&mut self.units, rng),
        };
        let size = 1 + rng.below(12);
        if rng.below(4) == 0 {
            return match rng.below(2) {
                0 => unit.debug.extend(bytes(rng, size)),
                _ => unit.debug.truncate(20.max(unit.debug.len().saturating_sub(size))),
            };
        }
        let first = rng.below(3);
        let function = &mut unit.functions[first];
        match rng.below(4) {
            0 => function.code.truncate(2.max(function.code.len().saturating_sub(size))),
            1 => function.refs.extend(function.refs.iter().find(|r| matches!(r, Ref::Call(_))).cloned()),
            _ => function.code.extend(bytes(rng, size)),
        }
    }

    /// Anything else, which may be wrong.
    pub fn edit(&mut self, rng: &mut Rng) {
        let units = self.units.len();
        match rng.below(17) {
            0 => {
                let size = 1 + rng.below(20);
                let more = bytes(rng, size);
                self.function(rng).code.extend(more);
            }
            1 => _ = self.function(rng).code.pop(),
            2 => {
                let name = format!("new{}", rng.below(3));
                let code = bytes(rng, 9);
                let (comdat, seen) =
                    [(true, Seen::ByAll), (false, Seen::ByAll), (false, Seen::ByItself)][rng.below(3)];
                let function = Function { name, code, refs: vec![Ref::Local], weak: true, comdat, seen };
                pick(&mut self.units, rng).add(function);
            }
            3 => {
                let unit = pick(&mut self.units, rng);
                let at = 1 + rng.below(unit.functions.len() - 1);
                let goes = unit.functions[at].name.starts_with("new") || rng.below(4) == 0;
                if goes && unit.functions.len() > 3 {
                    unit.functions.remove(at);
                }
            }
            4 => {
                let target = format!("f{}_{}", rng.below(units), rng.below(3));
                self.refer(Ref::Call(target), rng);
            }
            5 => {
                let target = format!("f{}_{}", rng.below(units), rng.below(3));
                let relaxable = rng.below(2) == 0;
                self.refer(Ref::Slot(target, relaxable), rng);
            }
            6 => {
                for reference in &mut self.function(rng).refs {
                    if let Ref::Slot(_, relaxable) = reference {
                        *relaxable = !*relaxable;
                    }
                }
            }
            7 => {
                let text = pick(&mut pick(&mut self.units, rng).strings, rng);
                *text = text.bytes().rev().map(char::from).collect();
            }
            8 => pick(&mut pick(&mut self.units, rng).strings, rng).push('x'),
            9 => pick(&mut self.units, rng).strings.swap(0, 1),
            10 => {
                let function = self.function(rng);
                function.weak = !function.weak;
            }
            11 => {
                let function = pick(&mut pick(&mut self.units, rng).functions, rng);
                if function.comdat {
                    function.code.push(0x90);
                }
            }
            12 => {
                let from = rng.below(units);
                if self.units[from].functions.len() > 3
                    && let Some(last) = self.units[from].functions.pop()
                {
                    pick(&mut self.units, rng).add(last);
                }
            }
            13 => self.function(rng).refs.rotate_left(1),
            14 => {
                let unit = pick(&mut self.library, rng);
                let name = format!("f{}_{}", rng.below(units), rng.below(3));
                let is_free = !unit.has(&name);
                let function = pick(&mut unit.functions, rng);
                match rng.below(3) {
                    0 => function.code.push(0x90),
                    1 if is_free => function.name = name,
                    _ => {
                        let at = rng.below(function.code.len());
                        function.code[at] ^= 1;
                    }
                }
            }
            15 => match rng.below(3) {
                0 => self.library.push(Unit::default().with_function(rng)),
                1 if self.library.len() > 2 => _ = self.library.pop(),
                _ => self.library.swap(0, 1),
            },
            _ => match rng.below(3) {
                0 => self.units.push(Unit::default().with_function(rng)),
                1 if units > 3 => _ = self.units.pop(),
                _ => self.units.swap(1, units - 1),
            },
        }
    }

    /// Has a function refer to another one instead of what it did.
    fn refer(&mut self, reference: Ref, rng: &mut Rng) {
        let refs = &mut self.function(rng).refs;
        match refs.is_empty() {
            true => refs.push(reference),
            false => *pick(refs, rng) = reference,
        }
    }

    /// A function with code and references.
    fn function(&mut self, rng: &mut Rng) -> &mut Function {
        let unit = pick(&mut self.units, rng);
        let found =
            unit.functions.iter().position(|function| !function.refs.is_empty() && function.code.len() > 2);
        let at = found.unwrap_or(0);
        &mut unit.functions[at]
    }
}

impl Unit {
    fn has(&self, name: &str) -> bool {
        self.functions.iter().any(|function| function.name == name)
    }

    /// No object defines a name twice.
    fn add(&mut self, function: Function) {
        if !self.has(&function.name) {
            self.functions.push(function);
        }
    }

    fn with_function(mut self, rng: &mut Rng) -> Unit {
        let refs = vec![Ref::Call("f1_1".into()), Ref::Local];
        let name = format!("more{}", rng.below(1000));
        self.functions = ["a", "b", "c"]
            .map(|end| Function {
                name: format!("{name}{end}"),
                code: vec![0x90; 12],
                refs: refs.clone(),
                weak: true,
                comdat: false,
                seen: Seen::ByAll,
            })
            .to_vec();
        (self.strings, self.data, self.debug) = (vec!["x".into(), "y".into()], vec![1; 9], vec![2; 30]);
        self
    }
}
