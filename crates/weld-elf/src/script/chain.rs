//! Statements in chains: thousands can be put among thousands (`INSERT`) without moving those that are there.

use std::collections::HashMap;

use super::sections::Statement;

#[derive(Default)]
pub(super) struct Chains {
    /// Each chain is closed through its head, which has no statement.
    statements: Vec<Option<Statement>>,
    /// The number of the statement after each, and before it.
    next: Vec<usize>,
    previous: Vec<usize>,
    heads: Vec<usize>,
    /// The first output section of each name.
    pub named: HashMap<Vec<u8>, usize>,
}

impl Chains {
    /// Begins another chain. Returns its head.
    pub fn begin(&mut self) -> usize {
        let head = self.next.len();
        self.statements.push(None);
        self.next.push(head);
        self.previous.push(head);
        self.heads.push(head);
        head
    }

    /// Puts statements after the one with number `beside`, or in front of it; in front of a head is the end
    /// of its chain. Returns the names of the output sections that there were not before.
    pub fn add(&mut self, statements: Vec<Statement>, beside: usize, after: bool) -> Vec<Vec<u8>> {
        let mut at = if after { beside } else { self.previous[beside] };
        let mut names = Vec::new();
        for statement in statements {
            let number = self.next.len();
            if let Statement::Section(section) = &statement
                && !self.named.contains_key(&section.name)
            {
                self.named.insert(section.name.clone(), number);
                names.push(section.name.clone());
            }
            let next = self.next[at];
            self.statements.push(Some(statement));
            self.next.push(next);
            self.previous.push(at);
            (self.next[at], self.previous[next]) = (number, number);
            at = number;
        }
        names
    }

    /// The statements of each chain, in order.
    pub fn into_lists(mut self) -> Vec<Vec<Statement>> {
        let heads = std::mem::take(&mut self.heads);
        let list = |head: usize| {
            let mut list = Vec::new();
            let mut at = self.next[head];
            while at != head {
                list.extend(self.statements[at].take());
                at = self.next[at];
            }
            list
        };
        heads.into_iter().map(list).collect()
    }
}
