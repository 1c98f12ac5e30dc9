//! Terms that a script chooses: `predicate_token_filter` keeps them alone, `condition` sends them alone through more
//! filters.

use super::filter::Filter;
use super::part::Part;
use super::shingle::Behind;
use super::token_script::TokenScript;
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

    pub(super) fn apply(&self, mut terms: Vec<Term>) -> Vec<Term> {
        match self {
            Chosen::Alone(script) => {
                let mut fits = fitting(script, &terms).into_iter();
                terms.retain(|_| fits.next() == Some(true));
                terms
            }
            Chosen::Changed { script, filters } => {
                let fits = fitting(script, &terms);
                let mut out = Vec::with_capacity(terms.len());
                // Neighbours that are chosen go through the filters together.
                let mut run = Vec::new();
                for (term, fits) in terms.into_iter().zip(fits) {
                    if fits {
                        run.push(term);
                        continue;
                    }
                    out.extend(through(filters, std::mem::take(&mut run)));
                    out.push(term);
                }
                out.extend(through(filters, run));
                out
            }
        }
    }
}

/// Which of the terms a script chooses.
fn fitting(script: &TokenScript, terms: &[Term]) -> Vec<bool> {
    let mut before: Option<usize> = None;
    let fits = terms.iter().map(|term| {
        let place = term.token.position;
        let step = before.map_or(place + 1, |before| place.saturating_sub(before));
        before = Some(place);
        script.fits(term, step)
    });
    fits.collect()
}

fn through(filters: &[Filter], run: Vec<Term>) -> Vec<Term> {
    if run.is_empty() {
        return run;
    }
    let each = filters.iter();
    each.fold(run, |terms, filter| filter.apply(terms, Behind::default()))
}
