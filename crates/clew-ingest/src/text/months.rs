//! Names of months in languages other than English, as dates have them: whole or cut short, with a point behind or not.

/// The months of a language by their names, small; some have two.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Months(&'static [(&'static str, i64)]);

/// Letters of a name that is cut short.
const SHORT_LETTERS: usize = 3;

/// Languages by their codes.
static LANGUAGES: [(&str, Months); 6] = [
    (
        "fr",
        Months(&[
            ("janvier", 1),
            ("février", 2),
            ("fevrier", 2),
            ("mars", 3),
            ("avril", 4),
            ("mai", 5),
            ("juin", 6),
            ("juillet", 7),
            ("août", 8),
            ("aout", 8),
            ("septembre", 9),
            ("octobre", 10),
            ("novembre", 11),
            ("décembre", 12),
            ("decembre", 12),
        ]),
    ),
    (
        "de",
        Months(&[
            ("januar", 1),
            ("jänner", 1),
            ("februar", 2),
            ("märz", 3),
            ("maerz", 3),
            ("mrz", 3),
            ("april", 4),
            ("mai", 5),
            ("juni", 6),
            ("juli", 7),
            ("august", 8),
            ("september", 9),
            ("oktober", 10),
            ("november", 11),
            ("dezember", 12),
        ]),
    ),
    (
        "es",
        Months(&[
            ("enero", 1),
            ("febrero", 2),
            ("marzo", 3),
            ("abril", 4),
            ("mayo", 5),
            ("junio", 6),
            ("julio", 7),
            ("agosto", 8),
            ("septiembre", 9),
            ("setiembre", 9),
            ("octubre", 10),
            ("noviembre", 11),
            ("diciembre", 12),
        ]),
    ),
    (
        "it",
        Months(&[
            ("gennaio", 1),
            ("febbraio", 2),
            ("marzo", 3),
            ("aprile", 4),
            ("maggio", 5),
            ("giugno", 6),
            ("luglio", 7),
            ("agosto", 8),
            ("settembre", 9),
            ("ottobre", 10),
            ("novembre", 11),
            ("dicembre", 12),
        ]),
    ),
    (
        "pt",
        Months(&[
            ("janeiro", 1),
            ("fevereiro", 2),
            ("março", 3),
            ("marco", 3),
            ("abril", 4),
            ("maio", 5),
            ("junho", 6),
            ("julho", 7),
            ("agosto", 8),
            ("setembro", 9),
            ("outubro", 10),
            ("novembro", 11),
            ("dezembro", 12),
        ]),
    ),
    (
        "nl",
        Months(&[
            ("januari", 1),
            ("februari", 2),
            ("maart", 3),
            ("mrt", 3),
            ("april", 4),
            ("mei", 5),
            ("juni", 6),
            ("juli", 7),
            ("augustus", 8),
            ("september", 9),
            ("oktober", 10),
            ("november", 11),
            ("december", 12),
        ]),
    ),
];

/// Whether dates are read in the language of a locale: `fr`, `de-AT`, `pt_BR`, or English.
pub fn reads_dates_of(locale: &str) -> bool {
    locale.to_ascii_lowercase().starts_with("en") || Months::of(locale).is_some()
}

impl Months {
    /// Those of a locale's language: `fr`, `de-AT`, `pt_BR`; nothing for one that is not known, or English.
    pub(crate) fn of(locale: &str) -> Option<&'static Months> {
        let code = locale.split(['-', '_']).next()?.to_ascii_lowercase();
        let found = LANGUAGES.iter().find(|(known, _)| *known == code)?;
        Some(&found.1)
    }

    /// The month whose name, or beginning of a name, a word is: one that is no other's.
    fn number(&self, word: &str) -> Option<i64> {
        let word = word.to_lowercase();
        if word.chars().count() < SHORT_LETTERS {
            return None;
        }
        let mut fits = self.0.iter().filter(|(name, _)| name.starts_with(&word));
        let (_, number) = fits.next()?;
        fits.all(|(_, other)| other == number).then_some(*number)
    }

    /// The month that a text begins with, and what is behind it.
    pub(super) fn read<'t>(&self, text: &'t str) -> Option<(i64, &'t str)> {
        let (word, rest) = word(text);
        Some((self.number(word)?, rest))
    }
}

/// The letters that a text begins with, of any language, and what is behind them.
pub(super) fn word(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_alphabetic());
    text.split_at(end.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_have_names_that_may_be_cut_short() {
        for (locale, word, expected) in [
            ("fr-FR", "janv", Some(1)),
            ("fr", "juin", Some(6)),
            ("fr", "juil", Some(7)),
            ("fr", "jui", None),
            ("fr", "AOÛT", Some(8)),
            ("de", "Mär", Some(3)),
            ("de", "Mrz", Some(3)),
            ("de_AT", "Jän", Some(1)),
            ("es", "sept", Some(9)),
            ("es", "set", Some(9)),
            ("it", "gen", Some(1)),
            ("pt-BR", "out", Some(10)),
            ("nl", "mei", Some(5)),
            ("de", "Ja", None),
            ("de", "May", None),
        ] {
            let months = Months::of(locale).expect(locale);
            assert_eq!(months.number(word), expected, "{locale} {word}");
        }
        for locale in ["en", "en-US", "ROOT", ""] {
            assert!(Months::of(locale).is_none());
        }
    }
}
