//! Which indexes writes make that find none.

use clew_schema::glob::matches;

/// Which indexes writes make that find none, where they make any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AutoCreation {
    /// All of them.
    #[default]
    Everything,
    /// None.
    Nothing,
    /// As the first rule says that fits the name; none where none fits.
    Rules(Vec<CreationRule>),
}

/// Whether indexes of some names are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreationRule {
    /// The names, with `*` for anything.
    pub pattern: String,
    /// Whether these are made.
    pub made: bool,
}

impl AutoCreation {
    /// Whether a write makes an index of this name.
    pub(crate) fn makes(&self, name: &str) -> bool {
        match self {
            AutoCreation::Everything => true,
            AutoCreation::Nothing => false,
            AutoCreation::Rules(rules) => rules
                .iter()
                .find(|rule| matches(&rule.pattern, name))
                .is_some_and(|rule| rule.made),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rule = |pattern: &str, made| CreationRule {
            pattern: pattern.to_string(),
            made,
        };
        let rules = AutoCreation::Rules(vec![
            rule("logs-old*", false),
            rule("logs-*", true),
            rule("*", false),
        ]);
        assert!(rules.makes("logs-new"));
        assert!(!rules.makes("logs-old-1"));
        assert!(!rules.makes("other"));
        assert!(!AutoCreation::Rules(Vec::new()).makes("any"));
        assert!(AutoCreation::default().makes("any"));
        assert!(!AutoCreation::Nothing.makes("any"));
    }
}
