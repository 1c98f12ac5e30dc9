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

/// Why a write makes no index of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotMade {
    /// Writes make none.
    Nothing,
    /// Names of this pattern are not made.
    Pattern(String),
    /// None of these rules fits the name.
    NoRule(Vec<CreationRule>),
}

impl AutoCreation {
    /// Whether a write makes an index of this name.
    pub(crate) fn makes(&self, name: &str) -> bool {
        self.refusal(name).is_none()
    }

    /// Why it makes none, if it does not.
    pub(crate) fn refusal(&self, name: &str) -> Option<NotMade> {
        let rules = match self {
            AutoCreation::Everything => return None,
            AutoCreation::Nothing => return Some(NotMade::Nothing),
            AutoCreation::Rules(rules) => rules,
        };
        match rules.iter().find(|rule| matches(&rule.pattern, name)) {
            Some(rule) if rule.made => None,
            Some(rule) => Some(NotMade::Pattern(rule.pattern.clone())),
            None => Some(NotMade::NoRule(rules.clone())),
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
        let refused = Some(NotMade::Pattern("logs-old*".to_string()));
        assert_eq!(rules.refusal("logs-old-1"), refused);
        let only = vec![rule("a", true)];
        let refused = Some(NotMade::NoRule(only.clone()));
        assert_eq!(AutoCreation::Rules(only).refusal("b"), refused);
        assert!(!AutoCreation::Rules(Vec::new()).makes("any"));
        assert!(AutoCreation::default().makes("any"));
        assert!(!AutoCreation::Nothing.makes("any"));
    }
}
