//! Classes of characters as tokenizers name them: those of Java, and the general categories of Unicode.

use regex::Regex;

use super::char_filter::unescaped;
use super::part::Part;

/// What tokenizers of pieces may name, and the same as a part of a class of a regular expression, in the order in which
/// OpenSearch tells the names.
const NAMED: [(&str, &str); 35] = [
    ("symbol", r"\p{S}"),
    ("private_use", r"\p{Co}"),
    ("paragraph_separator", r"\p{Zp}"),
    ("start_punctuation", r"\p{Ps}"),
    ("unassigned", r"\p{Cn}"),
    ("enclosing_mark", r"\p{Me}"),
    ("connector_punctuation", r"\p{Pc}"),
    ("letter_number", r"\p{Nl}"),
    ("other_number", r"\p{No}"),
    ("math_symbol", r"\p{Sm}"),
    ("lowercase_letter", r"\p{Ll}"),
    ("space_separator", r"\p{Zs}"),
    // No text has halves of characters.
    ("surrogate", r"[^\x{0}-\x{10ffff}]"),
    ("initial_quote_punctuation", r"\p{Pi}"),
    ("decimal_digit_number", r"\p{Nd}"),
    ("digit", r"\p{Nd}"),
    ("other_punctuation", r"\p{Po}"),
    ("dash_punctuation", r"\p{Pd}"),
    ("currency_symbol", r"\p{Sc}"),
    ("non_spacing_mark", r"\p{Mn}"),
    ("format", r"\p{Cf}"),
    ("modifier_letter", r"\p{Lm}"),
    ("control", r"\p{Cc}"),
    ("uppercase_letter", r"\p{Lu}"),
    ("other_symbol", r"\p{So}"),
    ("end_punctuation", r"\p{Pe}"),
    ("modifier_symbol", r"\p{Sk}"),
    ("other_letter", r"\p{Lo}"),
    ("line_separator", r"\p{Zl}"),
    ("titlecase_letter", r"\p{Lt}"),
    ("letter", r"\p{L}"),
    ("punctuation", r"\p{P}"),
    ("combining_spacing_mark", r"\p{Mc}"),
    ("final_quote_punctuation", r"\p{Pf}"),
    // Without spaces at which lines may not end.
    (
        "whitespace",
        r"\t-\r\x{1c}-\x{20}\x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{2028}\x{2029}\x{205f}\x{3000}",
    ),
];
/// Where `custom` stands among the names that OpenSearch tells.
const CUSTOM_PLACE: usize = 20;
/// What `char_group` may name.
const OF_GROUPS: [&str; 5] = ["letter", "digit", "whitespace", "punctuation", "symbol"];

/// Classes of characters, and single ones.
#[derive(Clone, Debug, Default)]
pub(super) struct CharacterClasses {
    /// The ASCII characters that are of a class, a bit for each.
    ascii: u128,
    /// All that are of a class; absent where no class is named.
    all: Option<Regex>,
}

impl CharacterClasses {
    /// Those that `ngram` and its like cut.
    ///
    /// # Errors
    /// A reason in OpenSearch's words, when there is no such class.
    pub(super) fn of_pieces(part: &Part<'_>) -> Result<Self, String> {
        let mut inside = String::new();
        for name in part.list("token_chars").unwrap_or_default() {
            if name.eq_ignore_ascii_case("custom") {
                let own = part.text("custom_token_chars");
                let own =
                    own.ok_or("Token type: 'custom' requires setting `custom_token_chars`")?;
                own.chars()
                    .for_each(|single| push_single(&mut inside, single));
                continue;
            }
            let class = named(&name.to_lowercase()).ok_or_else(|| unknown(&name))?;
            inside.push_str(class);
        }
        Self::compile(&inside)
    }

    /// Those at which `char_group` cuts.
    ///
    /// # Errors
    /// A reason in OpenSearch's words, when there is no such class.
    pub(super) fn of_groups(names: &[String]) -> Result<Self, String> {
        let mut inside = String::new();
        for name in names {
            if OF_GROUPS.contains(&name.as_str()) {
                inside.push_str(named(name).unwrap_or_default());
                continue;
            }
            let written = if name.starts_with('\\') && name.len() > 1 {
                unescaped(name).unwrap_or_default()
            } else {
                name.clone()
            };
            let mut letters = written.chars();
            match (letters.next(), letters.next()) {
                (Some(single), None) => push_single(&mut inside, single),
                _ => return Err(format!("Invalid escaped char in [{name}]")),
            }
        }
        Self::compile(&inside)
    }

    fn compile(inside: &str) -> Result<Self, String> {
        if inside.is_empty() {
            return Ok(Self::default());
        }
        let all = Regex::new(&format!(r"\A[{inside}]")).map_err(|error| error.to_string())?;
        let mut classes = CharacterClasses {
            ascii: 0,
            all: Some(all),
        };
        for byte in 0..128_u8 {
            let is_of_class = classes.matches(char::from(byte));
            classes.ascii |= u128::from(is_of_class) << byte;
        }
        Ok(classes)
    }

    /// Whether no class is named.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_none()
    }

    pub(super) fn has(&self, c: char) -> bool {
        if c.is_ascii() {
            return (self.ascii >> u32::from(c)) & 1 == 1;
        }
        self.matches(c)
    }

    fn matches(&self, c: char) -> bool {
        let all = self.all.as_ref();
        all.is_some_and(|all| all.is_match(c.encode_utf8(&mut [0; 4])))
    }
}

fn named(name: &str) -> Option<&'static str> {
    let found = NAMED.iter().find(|(known, _)| *known == name);
    found.map(|(_, class)| *class)
}

fn push_single(inside: &mut String, single: char) {
    inside.push_str(&format!(r"\x{{{:x}}}", u32::from(single)));
}

fn unknown(name: &str) -> String {
    let mut names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
    names.insert(CUSTOM_PLACE, "custom");
    let names = names.join(", ");
    format!(
        "Unknown token type: '{}', must be one of [{names}]",
        name.to_lowercase()
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn classes_are_those_of_java() {
        let signs = "a§€™©«_-$+<^´|~!\"\\·†→😀\u{93c}ⅷ½²٣1 \u{a0}\u{3000}\u{2028}\u{ad}áʰ";
        for (name, expected) in [
            ("symbol", "€™©$+<^´|~→😀"),
            ("punctuation", "§«_-!\"\\·†"),
            ("letter", "aáʰ"),
            ("digit", "٣1"),
            ("whitespace", " \u{3000}\u{2028}"),
            ("other_number", "½²"),
            ("letter_number", "ⅷ"),
            ("non_spacing_mark", "\u{93c}"),
            ("space_separator", " \u{a0}\u{3000}"),
            ("format", "\u{ad}"),
            ("surrogate", ""),
        ] {
            let part = json!({"token_chars": [name]});
            let classes = CharacterClasses::of_pieces(&Part::new(&part)).unwrap();
            let found: String = signs.chars().filter(|sign| classes.has(*sign)).collect();
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn single_characters_are_classes_of_their_own() {
        let part = json!({"token_chars": ["letter", "custom"], "custom_token_chars": "+-]^"});
        let classes = CharacterClasses::of_pieces(&Part::new(&part)).unwrap();
        let found: String = "a1+-]^[_"
            .chars()
            .filter(|sign| classes.has(*sign))
            .collect();
        assert_eq!(found, "a+-]^");
        let names = ["\\n", "\\u0041", "é", "\\", "digit"].map(String::from);
        let classes = CharacterClasses::of_groups(&names).unwrap();
        let found: String = "\nABé1n\\"
            .chars()
            .filter(|sign| classes.has(*sign))
            .collect();
        assert_eq!(found, "\nAé1\\");
        assert!(CharacterClasses::default().is_empty());
    }

    #[test]
    fn unknown_classes_are_refused() {
        let part = json!({"token_chars": ["foo"]});
        let reason = CharacterClasses::of_pieces(&Part::new(&part)).unwrap_err();
        let told = "Unknown token type: 'foo', must be one of [symbol, private_use, ";
        assert!(reason.starts_with(told), "{reason}");
        assert!(
            reason.contains(", non_spacing_mark, custom, format, "),
            "{reason}"
        );
        let reason = CharacterClasses::of_groups(&["math_symbol".to_string()]).unwrap_err();
        assert_eq!(reason, "Invalid escaped char in [math_symbol]");
    }
}
