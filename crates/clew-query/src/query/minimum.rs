//! `minimum_should_match`: a count, a percentage, or conditions on the number of clauses.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How many of the optional clauses must match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MinimumShouldMatch {
    /// So many; negative: all but so many.
    Count(i64),
    /// That share of the clauses, rounded down; negative: all but that share.
    Percent(i64),
    /// Pairs of a number of clauses and what holds above it; all are required below the first.
    Above(Vec<(usize, MinimumShouldMatch)>),
}

impl MinimumShouldMatch {
    /// The number of clauses, of `clauses`, that must match; it may exceed `clauses`.
    pub fn resolve(&self, clauses: usize) -> usize {
        let all = i64::try_from(clauses).unwrap_or(i64::MAX);
        let required = match self {
            MinimumShouldMatch::Count(n) if *n < 0 => all.saturating_add(*n),
            MinimumShouldMatch::Count(n) => *n,
            MinimumShouldMatch::Percent(p) if *p < 0 => {
                all.saturating_sub(all.saturating_mul(p.saturating_neg()) / 100)
            }
            MinimumShouldMatch::Percent(p) => all.saturating_mul(*p) / 100,
            MinimumShouldMatch::Above(conditions) => {
                return conditions
                    .iter()
                    .rev()
                    .find(|(above, _)| clauses > *above)
                    .map_or(clauses, |(_, inner)| inner.resolve(clauses));
            }
        };
        usize::try_from(required.max(0)).unwrap_or(usize::MAX)
    }
}

impl FromStr for MinimumShouldMatch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong = || format!("For input string: \"{text}\"");
        if text.contains('<') {
            // Blanks part conditions, but not those around a sign.
            let sides: Vec<&str> = text.split('<').map(str::trim).collect();
            let conditions = sides
                .join("<")
                .split_whitespace()
                .map(|part| {
                    let (above, rest) = part.split_once('<').ok_or_else(wrong)?;
                    // As in Lucene: there are no conditions inside of one, and what follows another sign says nothing.
                    let inner = rest.split('<').next().unwrap_or_default();
                    Ok((above.parse().map_err(|_| wrong())?, inner.parse()?))
                })
                .collect::<Result<Vec<_>, String>>()?;
            return Ok(MinimumShouldMatch::Above(conditions));
        }
        match text.strip_suffix('%') {
            Some(number) => number.parse().map(MinimumShouldMatch::Percent),
            None => text.parse().map(MinimumShouldMatch::Count),
        }
        .map_err(|_| wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_not_inside_of_each_other() {
        let read = |text: &str| text.parse::<MinimumShouldMatch>();
        let two = MinimumShouldMatch::Count(2);
        assert_eq!(
            read("1<2"),
            Ok(MinimumShouldMatch::Above(vec![(1, two.clone())]))
        );
        assert_eq!(read("1<2<3"), Ok(MinimumShouldMatch::Above(vec![(1, two)])));
        // As many as took the stack of a thread when each was read by the one before it.
        assert!(read(&("1<".repeat(1_000_000) + "1")).is_ok());
        assert!(read("1<").is_err());
        let spaced = read("2 < 75%  9< -3").unwrap();
        assert_eq!(Ok(&spaced), read("2<75% 9<-3").as_ref());
        assert_eq!(
            (spaced.resolve(2), spaced.resolve(4), spaced.resolve(10)),
            (2, 3, 7)
        );
        assert_eq!(read(&format!("{}%", i64::MIN)).unwrap().resolve(3), 0);
    }
}
