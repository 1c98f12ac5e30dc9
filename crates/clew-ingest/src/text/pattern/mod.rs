//! Regular expressions with look-around, as grok's named patterns are written, over lines of ASCII: a backtracking matcher
//! whose runs of one class of bytes are single steps, which is what grok's patterns are made of.
//!
//! It does what the engine of the `grok` crate does, several times faster, or says that it cannot: expressions that have more
//! than is known here are not compiled, and lines that are not ASCII, or take too many steps, are not decided. Then that
//! engine is asked. So it is where the borders of lines are asked for and a text has several lines.

mod known;
mod parse;
mod program;
mod run;
mod usual;

pub(crate) use run::{Decision, Machine};
pub(crate) use usual::usual_patterns;

use super::separator::Separator;
use super::span::Span;

use program::Program;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Pattern {
    program: Program,
    /// What every line that matches has in it, in this order.
    needed: Vec<Separator>,
    names: Vec<String>,
    /// Whether borders of lines are in it, which are those of the text as long as that is one line.
    has_borders: bool,
}

impl Pattern {
    /// Compiles an expression; `named` finds the definitions of `%{NAME}`. Nothing if it has more than is known here.
    pub(crate) fn compile<'d>(
        expression: &str,
        named: &dyn Fn(&str) -> Option<&'d str>,
    ) -> Option<Self> {
        let mut names = Vec::new();
        let tree = parse::parse(expression, named, &mut names)?;
        let program = Program::compile(&tree)?;
        let needed = tree.needed();
        Some(Pattern {
            needed: needed.iter().map(|text| Separator::new(text)).collect(),
            program,
            names,
            has_borders: tree.has_borders(),
        })
    }

    /// The names of groups, in the order of their places.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Looks for the first match in a line; the groups' places are then in the machine.
    pub(crate) fn find(&self, line: &str, machine: &mut Machine) -> Decision {
        let bytes = line.as_bytes();
        // A line that lacks something is refused for the price of looking for it, and not tried from every byte.
        let mut at = 0;
        for needed in &self.needed {
            match needed.find(bytes, at) {
                Some(found) => at = found + needed.len(),
                None => return Decision::No,
            }
        }
        if !line.is_ascii() || line.len() > super::span::TEXT_BYTES_MAX {
            return Decision::Unknown;
        }
        if self.has_borders && memchr::memchr(b'\n', bytes).is_some() {
            return Decision::Unknown;
        }
        machine.find(&self.program, bytes, self.names.len())
    }

    /// Where a group was found.
    pub(crate) fn group(&self, machine: &Machine, group: usize) -> Option<Span> {
        machine.group(group)
    }
}

#[cfg(test)]
mod tests;
