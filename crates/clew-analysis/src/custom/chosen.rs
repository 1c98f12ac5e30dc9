//! Terms that a script chooses: `predicate_token_filter` keeps them alone, `condition` sends them alone through more
//! filters.

use super::char_filter::Filtered;
use super::filter::Filter;
use super::part::Part;
use super::shingle::Behind;
use super::token_script::{Standing, TokenScript};
use super::{Chain, Term};

/// Most filters of a `condition`.
const FILTERS_MAX: usize = 100;
/// The parameter in which the settings hand over the filters that a `condition` names.
pub(super) const CHOSEN: &str = "chosen";

/// One filter of these.
#[derive(Clone)]
pub(super) enum Chosen {
    /// `predicate_token_filter`.
    Alone(TokenScript),
    /// `condition`.
    Changed {
        script: TokenScript,
        filters: Vec<Filter>,
    },
}

impl Chosen {
    /// The filter of a part; `None` where its type is none of these. `before` is what terms went through before it.
    ///
    /// # Errors
    /// A reason, when the script or a filter is missing or not understood.
    pub(super) fn compile(part: &Part<'_>, before: &Chain) -> Result<Option<Self>, String> {
        let kind = part.type_name();
        if !matches!(kind, "condition" | "predicate_token_filter") {
            return Ok(None);
        }
        let source = part.source("script");
        let source =
            source.ok_or_else(|| format!("[{kind}] requires a [script] with a [source]"))?;
        let script = TokenScript::read(&source)?;
        if kind == "predicate_token_filter" {
            return Ok(Some(Chosen::Alone(script)));
        }
        let written = part.inner(CHOSEN);
        if written.len() > FILTERS_MAX {
            return Err(format!("[{kind}] takes {FILTERS_MAX} filters at most"));
        }
        let filters = written.iter().map(|filter| {
            let filter = Part::new(filter);
            if matches!(filter.type_name(), "condition" | "multiplexer") {
                return Err(format!(
                    "a [{}] cannot be part of a [condition]",
                    filter.type_name()
                ));
            }
            Filter::compile(&filter, before)
        });
        Ok(Some(Chosen::Changed {
            filters: filters.collect::<Result<_, _>>()?,
            script,
        }))
    }

    pub(super) fn apply(&self, mut terms: Vec<Term>, behind: Behind<'_>) -> Vec<Term> {
        match self {
            Chosen::Alone(script) => {
                let mut fits = fitting(script, &terms, behind).into_iter();
                terms.retain(|_| fits.next() == Some(true));
                terms
            }
            Chosen::Changed { script, filters } => {
                let fits = fitting(script, &terms, behind);
                let mut out = Vec::with_capacity(terms.len());
                // Neighbours that are chosen go through the filters together.
                let mut run = Vec::new();
                for (term, fits) in terms.into_iter().zip(fits) {
                    if fits {
                        run.push(term);
                        continue;
                    }
                    out.extend(through(filters, std::mem::take(&mut run), behind));
                    out.push(term);
                }
                out.extend(through(filters, run, behind));
                out
            }
        }
    }
}

/// Which of the terms a script chooses.
fn fitting(script: &TokenScript, terms: &[Term], behind: Behind<'_>) -> Vec<bool> {
    let mut before: Option<usize> = None;
    let mut units = Units {
        text: behind.text,
        byte: 0,
        units: 0,
    };
    let fits = terms.iter().map(|term| {
        let place = term.token.position;
        let step = before.map_or(place + 1, |before| place.saturating_sub(before));
        before = Some(place);
        let standing = Standing {
            step,
            start: units.at(term.token.offset_from),
            end: units.at(term.token.offset_to),
        };
        script.fits(term, standing)
    });
    fits.collect()
}

/// Counts a text's letters as Java does, in units of UTF-16, up to places that lie close to each other mostly: each costs
/// the way from the one before.
struct Units<'t> {
    text: Option<(&'t str, &'t Filtered)>,
    byte: usize,
    /// Those before the byte.
    units: usize,
}

impl Units<'_> {
    /// How many there are before a place of what terms were cut from; the place itself where there is no text.
    fn at(&mut self, place: usize) -> usize {
        let Some((text, filtered)) = self.text else {
            return place;
        };
        let byte = text.floor_char_boundary(filtered.origin(place));
        let (first, last) = (byte.min(self.byte), byte.max(self.byte));
        let between = text[first..last].encode_utf16().count();
        self.units = match byte >= self.byte {
            true => self.units + between,
            false => self.units - between,
        };
        self.byte = byte;
        self.units
    }
}

/// What filters make of terms that follow each other.
fn through(filters: &[Filter], run: Vec<Term>, behind: Behind<'_>) -> Vec<Term> {
    if run.is_empty() {
        return run;
    }
    let each = filters.iter();
    let alone = Behind {
        text: behind.text,
        ..Behind::default()
    };
    each.fold(run, |terms, filter| filter.apply(terms, alone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted_as_java_does_and_from_place_to_place() {
        let text = "aé😀b";
        let filtered = Filtered::new(text);
        let mut units = Units {
            text: Some((text, &filtered)),
            byte: 0,
            units: 0,
        };
        let counted = [0, 1, 3, 7, 8, 3, 1, 7].map(|place| units.at(place));
        assert_eq!(counted, [0, 1, 2, 4, 5, 2, 1, 4]);
    }
}
