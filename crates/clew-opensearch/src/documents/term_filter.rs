//! Which terms of a document tell the most of it: the `filter` of `_termvectors`.

use serde_json::Value;

use crate::http::error::ApiError;

/// What a request wants of the terms of each field. An upper bound of none lets everything through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TermFilter {
    terms_max: usize,
    term_freq_min: u64,
    term_freq_max: Option<u64>,
    doc_freq_min: u64,
    doc_freq_max: Option<u64>,
    chars_min: u64,
    chars_max: Option<u64>,
}

/// How often a term is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frequency {
    /// In the document.
    pub(crate) in_document: u64,
    /// Documents that have it.
    pub(crate) docs: u64,
    /// Documents that have the field.
    pub(crate) docs_of_field: u64,
}

impl TermFilter {
    /// Reads the object `filter`.
    ///
    /// # Errors
    /// Members that there are not, and values that are no whole numbers from 0 on.
    pub(crate) fn read(value: &Value) -> Result<Self, ApiError> {
        let mut filter = TermFilter {
            terms_max: 25,
            term_freq_min: 1,
            term_freq_max: None,
            doc_freq_min: 1,
            doc_freq_max: None,
            chars_min: 0,
            chars_max: None,
        };
        let refuse = |reason: String| ApiError::bad_request("parse_exception", reason);
        let members = value
            .as_object()
            .ok_or_else(|| refuse("[filter] must be an object".to_string()))?;
        for (name, value) in members {
            let number = value.as_u64().ok_or_else(|| {
                refuse(format!(
                    "[{name}] must be a whole number that is not negative"
                ))
            })?;
            match name.as_str() {
                "max_num_terms" => filter.terms_max = usize::try_from(number).unwrap_or(usize::MAX),
                "min_term_freq" => filter.term_freq_min = number,
                "max_term_freq" => filter.term_freq_max = Some(number),
                "min_doc_freq" => filter.doc_freq_min = number,
                "max_doc_freq" => filter.doc_freq_max = Some(number),
                "min_word_length" => filter.chars_min = number,
                // None at all would be meant by it otherwise.
                "max_word_length" => filter.chars_max = Some(number).filter(|most| *most > 0),
                other => {
                    return Err(refuse(format!(
                        "The parameter {other} is not valid for filtering terms in term vectors!"
                    )));
                }
            }
        }
        Ok(filter)
    }

    /// How much a term tells; none where it is to be left out. As Lucene's classic similarity weighs it.
    pub(crate) fn score(&self, term: &str, frequency: Frequency) -> Option<f32> {
        let within = |number: u64, min: u64, max: Option<u64>| {
            number >= min && max.is_none_or(|max| number <= max)
        };
        let chars = term.chars().count().try_into().unwrap_or(u64::MAX);
        let wanted = within(chars, self.chars_min, self.chars_max)
            && within(
                frequency.in_document,
                self.term_freq_min,
                self.term_freq_max,
            )
            && within(frequency.docs, self.doc_freq_min, self.doc_freq_max);
        wanted.then(|| tf_idf(frequency))
    }

    /// Which of the terms of a field stay, by their scores: the places of the best in the order of `scores`.
    pub(crate) fn best(&self, scores: &[f32]) -> Vec<usize> {
        let mut places: Vec<usize> = (0..scores.len()).collect();
        let score = |place: usize| scores.get(place).copied().unwrap_or_default();
        places.sort_by(|a, b| score(*b).total_cmp(&score(*a)));
        places.truncate(self.terms_max);
        places.sort_unstable();
        places
    }
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "scores have 32 bits, and so have counts in them"
)]
fn tf_idf(frequency: Frequency) -> f32 {
    let rare = (frequency.docs_of_field as f64 + 1.0) / (frequency.docs as f64 + 1.0);
    let idf = (rare.ln() + 1.0) as f32;
    frequency.in_document as f32 * idf
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn frequency(in_document: u64, docs: u64) -> Frequency {
        Frequency {
            in_document,
            docs,
            docs_of_field: 9,
        }
    }

    #[test]
    fn terms_outside_the_bounds_are_left_out() {
        let filter = TermFilter::read(&json!({
            "min_term_freq": 2, "max_term_freq": 5, "min_doc_freq": 2, "max_doc_freq": 4,
            "min_word_length": 3, "max_word_length": 4,
        }))
        .expect("a filter");
        assert!(filter.score("word", frequency(2, 2)).is_some());
        for (term, in_document, docs) in [
            ("wo", 2, 2),
            ("words", 2, 2),
            ("word", 1, 2),
            ("word", 6, 2),
            ("word", 2, 1),
            ("word", 2, 5),
        ] {
            let score = filter.score(term, frequency(in_document, docs));
            assert_eq!(score, None, "{term} {in_document} {docs}");
        }
    }

    #[test]
    fn the_best_stay_in_their_order() {
        let filter = TermFilter::read(&json!({"max_num_terms": 2})).expect("a filter");
        assert_eq!(filter.best(&[1.0, 3.0, 2.0, 3.0]), [1, 3]);
        let score = filter.score("a", frequency(2, 4)).expect("a score");
        assert!((score - 2.0 * (2f32.ln() + 1.0)).abs() < 1e-6);
        // Words that no document has yet tell nothing.
        assert_eq!(filter.score("a", frequency(1, 0)), None);
    }

    #[test]
    fn what_is_no_filter_is_refused() {
        for value in [
            json!([]),
            json!({"max_num_terms": "many"}),
            json!({"most": 1}),
        ] {
            assert!(TermFilter::read(&value).is_err(), "{value}");
        }
    }
}
