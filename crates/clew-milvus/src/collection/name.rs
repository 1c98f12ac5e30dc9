//! Names, by Milvus' rule: a letter or an underscore, then letters, digits and underscores.

use crate::error::{MilvusError, Result};

/// Longest name, in bytes.
const NAME_MAX: usize = 255;

/// What a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameOf {
    Collection,
    Alias,
    Partition,
    Field,
    Database,
    Index,
    ResourceGroup,
    PrivilegeGroup,
}

impl NameOf {
    fn words(self) -> &'static str {
        match self {
            NameOf::Collection => "collection name",
            NameOf::Alias => "collection alias",
            NameOf::Partition => "partition name",
            NameOf::Field => "field name",
            NameOf::Database => "database name",
            NameOf::Index => "index name",
            NameOf::ResourceGroup => "resource group name",
            NameOf::PrivilegeGroup => "privilege group name",
        }
    }

    /// Refuses names that break the rule.
    ///
    /// # Errors
    /// In Milvus' words and with its code, which are others for each kind of name.
    pub(crate) fn check(self, name: &str) -> Result<()> {
        match self.broken(name) {
            None => Ok(()),
            Some(rule) => Err(self.refused(name, &rule)),
        }
    }

    pub(crate) fn is_allowed(self, name: &str) -> bool {
        self.broken(name).is_none()
    }

    /// The part of the rule that a name breaks.
    fn broken(self, name: &str) -> Option<String> {
        let words = self.words();
        let letter = |c: char| c == '_' || c.is_ascii_alphabetic();
        // A partition may be named by a number.
        let begins = |c: char| letter(c) || (self == NameOf::Partition && c.is_ascii_digit());
        let follows = |c: char| {
            let is_own = match self {
                NameOf::Partition => c == '-',
                // That of a part of structs has its field's name.
                NameOf::Index => matches!(c, '[' | ']'),
                _ => false,
            };
            letter(c) || c.is_ascii_digit() || is_own
        };
        // Blanks alone are no name of a partition, and a wrong one of anything else.
        let read = match self {
            NameOf::Partition => name.trim(),
            _ => name,
        };
        let Some(first) = read.chars().next() else {
            return Some(format!("{words} should not be empty"));
        };
        if name.len() > NAME_MAX {
            return Some(format!(
                "the length of a {words} must be less than {NAME_MAX} characters"
            ));
        }
        if !begins(first) {
            return Some(format!(
                "the first character of a {words} must be an underscore or letter"
            ));
        }
        if !name.chars().all(follows) {
            return Some(format!(
                "{words} can only contain numbers, letters and underscores"
            ));
        }
        (self == NameOf::Field && is_keyword(name)).then(|| format!("{name} is keyword in milvus"))
    }

    fn refused(self, name: &str, rule: &str) -> MilvusError {
        let words = self.words();
        match self {
            NameOf::Database => MilvusError::InvalidDatabaseName(name.into(), rule.into()),
            NameOf::Field if is_keyword(name) => {
                MilvusError::InvalidFieldName(name.into(), format!("{rule}."))
            }
            NameOf::Field => {
                let rule = sentence(rule).replace("letters and", "letters, and");
                MilvusError::InvalidFieldName(name.into(), rule)
            }
            NameOf::Partition | NameOf::Index => MilvusError::invalid(format!(
                "Invalid {words}: {}. {}",
                name.trim(),
                sentence(rule)
            )),
            NameOf::PrivilegeGroup if name.is_empty() => {
                MilvusError::InvalidPrivilegeGroup(rule.into())
            }
            NameOf::PrivilegeGroup => {
                let said = rule.replacen(words, &format!("{words} {name}"), 1);
                // What is wrong with a name's rest has another code than what is wrong with its beginning.
                match rule.starts_with(words) {
                    true => MilvusError::invalid(said),
                    false => MilvusError::InvalidPrivilegeGroup(said),
                }
            }
            NameOf::ResourceGroup if name.is_empty() => {
                MilvusError::missing("resource group name couldn't be empty")
            }
            NameOf::Collection | NameOf::Alias if name.is_empty() => MilvusError::invalid(rule),
            NameOf::Collection | NameOf::Alias | NameOf::ResourceGroup => {
                MilvusError::invalid(format!("Invalid {words}: {name}. {rule}"))
            }
        }
    }
}

/// A rule, which begins with a plain letter, as a sentence of its own.
fn sentence(rule: &str) -> String {
    let (first, rest) = rule.split_at(1);
    format!("{}{rest}.", first.to_uppercase())
}

/// Whether a name is a word of expressions, in which a field of that name could not be spoken of.
fn is_keyword(name: &str) -> bool {
    const IN_SMALL: [&str; 7] = ["like", "and", "or", "not", "in", "True", "False"];
    // These are words in small and in capital letters.
    const IN_EITHER: [&str; 13] = [
        "exists",
        "true",
        "false",
        "json_contains",
        "json_contains_all",
        "json_contains_any",
        "array_contains",
        "array_contains_all",
        "array_contains_any",
        "array_length",
        "text_match",
        "phrase_match",
        "random_sample",
    ];
    let either = |word: &&str| **word == *name || word.to_ascii_uppercase() == name;
    IN_SMALL.contains(&name) || name.eq_ignore_ascii_case("null") || IN_EITHER.iter().any(either)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_expressions_name_no_field() {
        for name in [
            "like",
            "null",
            "NULL",
            "True",
            "TRUE",
            "EXISTS",
            "text_match",
        ] {
            let told = NameOf::Field.check(name).map_err(|error| error.code());
            assert_eq!(told, Err(1701), "{name}");
            assert!(NameOf::Collection.is_allowed(name), "{name}");
        }
        for name in ["likes", "Like", "In", "nulls", "Exists", "a_in"] {
            assert_eq!(NameOf::Field.check(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn names_are_letters_digits_and_underscores() {
        for name in ["a", "_1", "Aa_9", &"x".repeat(255)] {
            assert_eq!(NameOf::Collection.check(name), Ok(()));
        }
        for name in ["", "  ", "1a", "a-b", "a b", "é", &"x".repeat(256)] {
            assert!(!NameOf::Collection.is_allowed(name), "{name}");
        }
        assert!(NameOf::Partition.is_allowed("2024-05"));
    }

    #[test]
    fn what_is_refused_has_the_code_of_its_kind() {
        let code = |of: NameOf| of.check("a b").map_err(|error| error.code());
        assert_eq!(code(NameOf::Collection), Err(1100));
        assert_eq!(code(NameOf::Partition), Err(1100));
        assert_eq!(code(NameOf::Index), Err(1100));
        assert_eq!(code(NameOf::Field), Err(1701));
        assert_eq!(code(NameOf::Database), Err(802));
        for (name, said) in [
            (
                "1",
                "The first character of a field name must be an underscore or letter.",
            ),
            (
                "a b",
                "Field name can only contain numbers, letters, and underscores.",
            ),
            ("like", "like is keyword in milvus."),
        ] {
            let told = NameOf::Field.check(name).unwrap_err().to_string();
            let want =
                format!("Invalid field name: {name}. {said}: field name invalid[field={name}]");
            assert_eq!(told, want);
        }
        for (name, code, want) in [
            (
                "a b",
                1100,
                "privilege group name a b can only contain numbers, letters and underscores: invalid parameter",
            ),
            (
                "1",
                1402,
                "the first character of a privilege group name 1 must be an underscore or letter: invalid privilege group name",
            ),
            (
                "",
                1402,
                "privilege group name should not be empty: invalid privilege group name",
            ),
        ] {
            let refused = NameOf::PrivilegeGroup.check(name).unwrap_err();
            assert_eq!((refused.code(), refused.to_string()), (code, want.into()));
        }
        let unnamed = NameOf::ResourceGroup.check("").unwrap_err();
        assert_eq!(
            (unnamed.code(), unnamed.to_string()),
            (
                1101,
                "resource group name couldn't be empty: missing parameter".to_string()
            )
        );
        assert_eq!(
            NameOf::Alias.check("1").unwrap_err().to_string(),
            "Invalid collection alias: 1. the first character of a collection alias must be an underscore or letter: invalid parameter"
        );
    }
}
