//! Statements in a chain: thousands can be put among thousands (`INSERT`) without moving those that are there.

use std::collections::HashMap;

use super::sections::Statement;

#[derive(Default)]
pub(super) struct Chain {
    statements: Vec<Statement>,
    /// The number of the statement behind each, and before it. The chain is closed through number 0, which is no statement.
    next: Vec<usize>,
    previous: Vec<usize>,
    /// The first output section of each name.
    pub named: HashMap<Vec<u8>, usize>,
}

impl Chain {
    /// Puts statements behind the one with number `beside`, or in front of it; without one, at the end. Returns the names of the
    /// output sections that there were not before.
    pub fn add(
        &mut self,
        statements: Vec<Statement>,
        (beside, after): (Option<usize>, bool),
    ) -> Vec<Vec<u8>> {
        if self.next.is_empty() {
            (self.next, self.previous) = (vec![0], vec![0]);
        }
        let mut at = match beside {
            Some(beside) if after => beside,
            other => self.previous[other.unwrap_or(0)],
        };
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
            self.statements.push(statement);
            self.next.push(next);
            self.previous.push(at);
            (self.next[at], self.previous[next]) = (number, number);
            at = number;
        }
        names
    }

    /// All statements, in order.
    pub fn into_list(self) -> Vec<Statement> {
        let mut statements: Vec<Option<Statement>> = self.statements.into_iter().map(Some).collect();
        let mut list = Vec::with_capacity(statements.len());
        let mut at = self.next.first().copied().unwrap_or(0);
        while at != 0 {
            list.extend(statements[at - 1].take());
            at = self.next[at];
        }
        list
    }
}
