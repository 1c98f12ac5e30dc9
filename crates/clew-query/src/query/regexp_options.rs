//! How a regular expression is to be read.

use serde::{Deserialize, Serialize};

/// How large an expression's table may grow where a request does not say otherwise.
const STATES_MAX: usize = 10_000;

/// Which signs beyond the usual ones mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegexpSyntax(u32);

impl Default for RegexpSyntax {
    fn default() -> Self {
        RegexpSyntax(u32::MAX)
    }
}

impl RegexpSyntax {
    /// `a&b`: both.
    pub const INTERSECTION: u32 = 1;
    /// `~a`: anything else.
    pub const COMPLEMENT: u32 = 1 << 1;
    /// `#`: no text at all.
    pub const EMPTY: u32 = 1 << 2;
    /// `@`: any text.
    pub const ANY_TEXT: u32 = 1 << 3;
    /// `<1-100>`: numbers in a range.
    pub const INTERVAL: u32 = 1 << 4;

    /// From names joined by `|`.
    ///
    /// # Errors
    /// The reason, naming what is not known.
    pub fn parse(names: &str) -> Result<Self, String> {
        let mut syntax = 0;
        for name in names.split('|').filter(|name| !name.is_empty()) {
            syntax |= match name.to_ascii_uppercase().as_str() {
                "NONE" => 0,
                "ALL" => u32::MAX,
                "INTERSECTION" => Self::INTERSECTION,
                "COMPLEMENT" => Self::COMPLEMENT,
                "EMPTY" => Self::EMPTY,
                "ANYSTRING" => Self::ANY_TEXT,
                "INTERVAL" => Self::INTERVAL,
                _ => return Err(format!("Unknown regexp flag [{name}]")),
            };
        }
        Ok(RegexpSyntax(syntax))
    }

    /// Whether a sign means something.
    pub fn has(self, sign: u32) -> bool {
        self.0 & sign != 0
    }
}

/// How an expression is read, and how much may be made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegexpOptions {
    /// Which signs mean something.
    pub syntax: RegexpSyntax,
    /// Whether upper and lower case are the same.
    pub ignore_case: bool,
    /// How large its table may grow, as `max_determinized_states` of the protocol; at most 100,000.
    pub states_max: usize,
}

impl Default for RegexpOptions {
    fn default() -> Self {
        RegexpOptions {
            syntax: RegexpSyntax::default(),
            ignore_case: false,
            states_max: STATES_MAX,
        }
    }
}
