//! A list that many threads add to and read without locks. It only grows, so what is in it stays where it is, and may be
//! borrowed as long as the list. Whoever looks for something goes through all of it: it is for few.

use std::iter;
use std::sync::OnceLock;

pub struct Growing<T>(OnceLock<Box<(T, Growing<T>)>>);

impl<T> Default for Growing<T> {
    fn default() -> Self {
        Growing(OnceLock::new())
    }
}

impl<T> Growing<T> {
    /// In the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        iter::successors(self.0.get(), |one| one.1.0.get()).map(|one| &one.0)
    }

    /// Adds `new` behind all others, unless one of them `is` what it is: that one, or the new one.
    pub fn find_or_add(&self, new: T, is: impl Fn(&T, &T) -> bool) -> &T {
        let mut new = Box::new((new, Growing::default()));
        let mut list = self;
        loop {
            let one = match list.0.get() {
                Some(one) => one,
                None => match list.0.set(new) {
                    Ok(()) => return &list.0.get().expect("it has just been set").0,
                    Err(back) => {
                        new = back;
                        continue;
                    }
                },
            };
            if is(&one.0, &new.0) {
                return &one.0;
            }
            list = &one.1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_behind_the_other() {
        let list = Growing::default();
        for new in [3, 1, 3, 2] {
            assert_eq!(*list.find_or_add(new, |one, new| one == new), new);
        }
        list.find_or_add(1, |_, _| false);
        assert_eq!(list.iter().copied().collect::<Vec<_>>(), [3, 1, 2, 1]);
    }

    #[test]
    fn by_several_threads() {
        let list = Growing::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50).for_each(|new| _ = list.find_or_add(new, |one, new| one == new)));
            }
        });
        let mut all: Vec<u32> = list.iter().copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..50).collect::<Vec<_>>());
    }
}
