//! The figures of a scorer, told in Lucene's words.

use serde_json::Value;

use super::Explained;

/// Reads the figures that the scorer gives.
pub(super) fn read(figures: &Value) -> Explained {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "it was printed from 32 bits"
    )]
    let value = figures["value"].as_f64().unwrap_or_default() as f32;
    let details = figures["details"].as_array();
    Explained {
        value,
        description: figures["description"].as_str().unwrap_or("").to_string(),
        details: details.into_iter().flatten().map(read).collect(),
    }
}

/// What a phrase's scorer calls itself.
const PHRASE: &str = "Phrase Scorer";
/// Lengths from here on are kept as the nearest of a few.
const LENGTH_ROUNDED_MIN: f32 = 40.0;
/// What the number of a term's occurrences is called.
const FREQUENCY: &str = "freq, occurrences of term within document";

/// Figures of a scorer as Lucene tells them, whose words tools take apart, with the boosts around them made part of their
/// own; `None` where every match scores the same.
pub(super) fn in_lucenes_words(mut figures: Explained, boost: f32) -> Option<Explained> {
    let description = figures.description.as_str();
    let factor = boost_of(description);
    let is_phrase = description == PHRASE;
    let is_around = factor.is_some() || is_phrase || description == "BooleanClause. sum of ...";
    if is_around
        && figures.details.len() == 1
        && let Some(inner) = figures.details.pop()
    {
        let mut worded = in_lucenes_words(inner, boost * factor.unwrap_or(1.0))?;
        worded.value = figures.value;
        return Some(match is_phrase {
            true => with_phrase_frequency(worded),
            false => worded,
        });
    }
    match description {
        "Const" | "constant" => None,
        "TermQuery, product of..." => Some(scored(figures, boost)),
        _ => {
            let details = std::mem::take(&mut figures.details).into_iter();
            let worded = details.filter_map(|detail| in_lucenes_words(detail, boost));
            figures.details = worded.collect();
            Some(figures)
        }
    }
}

/// By how much a boost multiplies what it stands around.
fn boost_of(description: &str) -> Option<f32> {
    let rest = description.strip_prefix("Boost x")?;
    rest.split(' ').next()?.parse().ok()
}

/// The score of a term or a phrase by BM25.
fn scored(figures: Explained, boost: f32) -> Explained {
    let details = figures.details.into_iter();
    let details: Vec<Explained> = details.map(|detail| renamed(detail, boost)).collect();
    let mut inner = details.iter().flat_map(|detail| &detail.details);
    let frequency = inner.find(|detail| detail.description == FREQUENCY);
    let frequency = frequency.map_or(0.0, |detail| detail.value);
    let description = format!("score(freq={frequency:?}), computed as boost * idf * tf from:");
    Explained::new(figures.value, description, details)
}

/// A figure of BM25 and those that it is made of, by Lucene's names.
fn renamed(mut figure: Explained, boost: f32) -> Explained {
    let name = match figure.description.as_str() {
        "idf" => Some("idf, sum of:"),
        "dl, length of field" if figure.value >= LENGTH_ROUNDED_MIN => {
            Some("dl, length of field (approximate)")
        }
        "(K1+1)" => {
            figure.value *= boost;
            Some("boost")
        }
        "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5))" => {
            Some("idf, computed as log(1 + (N - n + 0.5) / (n + 0.5)) from:")
        }
        "n, number of docs containing this term" => Some("n, number of documents containing term"),
        "N, total number of docs" => Some("N, total number of documents with field"),
        "freq / (freq + k1 * (1 - b + b * dl / avgdl))" => {
            Some("tf, computed as freq / (freq + k1 * (1 - b + b * dl / avgdl)) from:")
        }
        _ => None,
    };
    if let Some(name) = name {
        figure.description = name.to_string();
    }
    let details = std::mem::take(&mut figure.details).into_iter();
    figure.details = details.map(|detail| renamed(detail, boost)).collect();
    figure
}

/// Of a phrase's score: what occurs is the phrase.
fn with_phrase_frequency(mut score: Explained) -> Explained {
    for figure in &mut score.details {
        for detail in &mut figure.details {
            if detail.description == FREQUENCY {
                detail.description = format!("phraseFreq={:?}", detail.value);
            }
        }
    }
    score
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a scorer tells it.
    fn told(value: f32, description: &str, details: Vec<Explained>) -> Explained {
        Explained::new(value, description, details)
    }

    fn term() -> Explained {
        let tf = "freq / (freq + k1 * (1 - b + b * dl / avgdl))";
        let idf = "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5))";
        let details = vec![
            told(2.0, "(K1+1)", vec![]),
            told(0.5, idf, vec![told(3.0, "N, total number of docs", vec![])]),
            told(0.25, tf, vec![told(2.0, FREQUENCY, vec![])]),
        ];
        told(0.25, "TermQuery, product of...", details)
    }

    #[test]
    fn scores_of_terms_are_told_as_lucene_does() {
        let boosted = told(0.75, "Boost x3 of ...", vec![term()]);
        let clause = told(0.75, "BooleanClause. sum of ...", vec![boosted]);
        let worded = in_lucenes_words(clause, 1.0).unwrap();
        let tf = "tf, computed as freq / (freq + k1 * (1 - b + b * dl / avgdl)) from:";
        let idf = "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5)) from:";
        let documents = told(3.0, "N, total number of documents with field", vec![]);
        let details = vec![
            told(6.0, "boost", vec![]),
            told(0.5, idf, vec![documents]),
            told(0.25, tf, vec![told(2.0, FREQUENCY, vec![])]),
        ];
        let score = "score(freq=2.0), computed as boost * idf * tf from:";
        assert_eq!(worded, told(0.75, score, details));
    }

    #[test]
    fn phrases_occur_as_such_and_constants_have_no_figures() {
        let phrase = told(0.25, PHRASE, vec![term()]);
        let worded = in_lucenes_words(phrase, 1.0).unwrap();
        assert_eq!(worded.details[2].details[0].description, "phraseFreq=2.0");
        let constant = told(1.0, "Const", vec![]);
        let clause = told(1.0, "BooleanClause. sum of ...", vec![constant]);
        assert_eq!(in_lucenes_words(clause, 1.0), None);
        // What nobody knows stays as it is told.
        let other = told(1.0, "nearest neighbour", vec![]);
        assert_eq!(in_lucenes_words(other.clone(), 1.0), Some(other));
    }
}
