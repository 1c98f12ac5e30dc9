//! What the scripts of `terms_set` say, as OpenSearch's documentation writes them: they are known by their text, and no
//! script is run for each document. Others are refused.

/// How many of its terms a script of `terms_set` wants.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TermsMinimum {
    All,
    Count(usize),
    /// As many as a field says; or all, where these are fewer.
    Field {
        path: String,
        at_most_all: bool,
    },
}

/// How scripts of `terms_set` call the number of its terms.
const TERMS: &str = "params.num_terms";

impl TermsMinimum {
    /// What a script says, where it is one of the few that need not be run.
    pub(super) fn of(source: &str) -> Option<TermsMinimum> {
        let source: String = source.split_whitespace().collect();
        let source = source.strip_prefix("return").unwrap_or(&source);
        let source = source.trim_end_matches(';');
        if source == TERMS {
            return Some(TermsMinimum::All);
        }
        let lesser = source.strip_prefix("Math.min(");
        if let Some(both) = lesser.and_then(|both| both.strip_suffix(')')) {
            let ((TERMS, other) | (other, TERMS)) = both.split_once(',')? else {
                return None;
            };
            return Some(TermsMinimum::Field {
                path: field_of(other)?,
                at_most_all: true,
            });
        }
        match field_of(source) {
            Some(path) => Some(TermsMinimum::Field {
                path,
                at_most_all: false,
            }),
            None => source.parse().ok().map(TermsMinimum::Count),
        }
    }
}

/// The field of `doc['field'].value`.
fn field_of(value: &str) -> Option<String> {
    let quoted = value.strip_prefix("doc[")?.strip_suffix("].value")?;
    let within = |quote: char| quoted.strip_prefix(quote)?.strip_suffix(quote);
    let path = within('\'').or_else(|| within('"'))?;
    (!path.contains(['\'', '"'])).then(|| path.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_of_terms_sets_are_known_by_what_they_say() {
        let field = |at_most_all| TermsMinimum::Field {
            path: "a.b".to_string(),
            at_most_all,
        };
        for (source, expected) in [
            ("params.num_terms", Some(TermsMinimum::All)),
            ("return params.num_terms;", Some(TermsMinimum::All)),
            ("2", Some(TermsMinimum::Count(2))),
            ("doc['a.b'].value", Some(field(false))),
            (
                "Math.min(params.num_terms, doc['a.b'].value)",
                Some(field(true)),
            ),
            (
                "Math.min(doc[\"a.b\"].value, params.num_terms)",
                Some(field(true)),
            ),
            ("Math.max(params.num_terms, 1)", None),
            ("Math.min(params.num_terms, 1)", None),
            ("doc['a'].value + doc['b'].value", None),
        ] {
            assert_eq!(TermsMinimum::of(source), expected, "{source}");
        }
    }
}
