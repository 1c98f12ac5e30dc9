//! The switches of Java's expressions, in front of one by name and inside it by letters.

/// Which of them are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags(u16);

impl Flags {
    pub(super) const UNIX_LINES: Flags = Flags(1);
    pub(super) const IGNORE_CASE: Flags = Flags(1 << 1);
    pub(super) const COMMENTS: Flags = Flags(1 << 2);
    pub(super) const MULTILINE: Flags = Flags(1 << 3);
    pub(super) const LITERAL: Flags = Flags(1 << 4);
    pub(super) const DOT_ALL: Flags = Flags(1 << 5);
    /// Whether case is that of all letters, rather than of those of ASCII.
    pub(super) const UNICODE_CASE: Flags = Flags(1 << 6);
    /// Whether words, digits and spaces are those of all scripts, and case too.
    pub(super) const UNICODE: Flags = Flags((1 << 7) | (1 << 6));

    /// The flags of names that `|` parts.
    ///
    /// # Errors
    /// When there is no such flag.
    pub(super) fn named(names: &str) -> Result<Self, String> {
        let mut flags = Flags::default();
        for name in names.split('|').filter(|name| !name.is_empty()) {
            let name = name.to_uppercase();
            flags.turn_on(match name.as_str() {
                "CASE_INSENSITIVE" => Flags::IGNORE_CASE,
                "MULTILINE" => Flags::MULTILINE,
                "DOTALL" => Flags::DOT_ALL,
                "UNICODE_CASE" => Flags::UNICODE_CASE,
                // Texts are taken as they are written: their letters and marks are not joined.
                "CANON_EQ" => Flags::default(),
                "UNIX_LINES" => Flags::UNIX_LINES,
                "LITERAL" => Flags::LITERAL,
                "COMMENTS" => Flags::COMMENTS,
                "UNICODE_CHAR_CLASS" | "UNICODE_CHARACTER_CLASS" => Flags::UNICODE,
                _ => return Err(format!("Unknown regex flag [{name}]")),
            });
        }
        Ok(flags)
    }

    /// The flag of a letter, as in `(?i)`.
    pub(super) fn of_letter(letter: char) -> Option<Self> {
        Some(match letter {
            'i' => Flags::IGNORE_CASE,
            'm' => Flags::MULTILINE,
            's' => Flags::DOT_ALL,
            'd' => Flags::UNIX_LINES,
            'u' => Flags::UNICODE_CASE,
            'x' => Flags::COMMENTS,
            'U' => Flags::UNICODE,
            'c' => Flags::default(),
            _ => return None,
        })
    }

    pub(super) fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 == flag.0
    }

    pub(super) fn turn_on(&mut self, flag: Flags) {
        self.0 |= flag.0;
    }

    pub(super) fn turn_off(&mut self, flag: Flags) {
        self.0 &= !flag.0;
    }
}
