//! A seeded corpus of log events, and questions about it. Words are as unevenly frequent as those of real texts (Zipf).

use clap::ValueEnum;
use serde_json::{Value, json};

use super::dice::Dice;

/// Different words.
const WORDS: u32 = 30_000;
/// Fewest words of a message, and how many more it may have.
const WORDS_MIN: u64 = 5;
const WORDS_MORE: u64 = 20;
/// The first event: 2026-01-01T00:00:00Z.
const START_MS: u64 = 1_767_225_600_000;
/// From one event to the next.
const STEP_MS: u64 = 250;
const HOSTS: u64 = 40;
const LEVELS: [&str; 10] = [
    "info", "info", "info", "info", "info", "info", "info", "debug", "warn", "error",
];
const STATUSES: [u16; 8] = [200, 200, 200, 200, 201, 301, 404, 500];

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum QuestionKind {
    /// A word.
    Term,
    /// Two words, both.
    And,
    /// Three words, any.
    Or,
    /// Two words beside each other.
    Phrase,
    /// The newest of a hundredth of the time.
    Range,
    /// A word, counted by level and over time.
    Aggregation,
    /// As one looks through logs: the newest errors of some time with a word.
    Logs,
}

impl QuestionKind {
    pub(super) const ALL: [QuestionKind; 7] = [
        QuestionKind::Term,
        QuestionKind::And,
        QuestionKind::Or,
        QuestionKind::Phrase,
        QuestionKind::Range,
        QuestionKind::Aggregation,
        QuestionKind::Logs,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            QuestionKind::Term => "term",
            QuestionKind::And => "and",
            QuestionKind::Or => "or",
            QuestionKind::Phrase => "phrase",
            QuestionKind::Range => "range",
            QuestionKind::Aggregation => "aggregation",
            QuestionKind::Logs => "logs",
        }
    }
}

/// The events of a seed, each by its number, without end.
#[derive(Debug)]
pub(super) struct Corpus {
    seed: u64,
    words: Vec<String>,
}

impl Corpus {
    pub(super) fn new(seed: u64) -> Self {
        Corpus {
            seed,
            words: (0..WORDS).map(word).collect(),
        }
    }

    /// Settings and mappings of an index of events.
    pub(super) fn index(shards: u32) -> Value {
        json!({
            "settings": {"index": {"number_of_shards": shards, "number_of_replicas": 0}},
            "mappings": {"properties": {
                "@timestamp": {"type": "date"}, "level": {"type": "keyword"}, "host": {"type": "keyword"},
                "status": {"type": "integer"}, "took_ms": {"type": "float"}, "message": {"type": "text"},
            }},
        })
    }

    /// Adds an event as two lines of a bulk request. Without a name of its own: the server gives it one.
    pub(super) fn append(&self, number: u64, lines: &mut Vec<u8>) {
        let mut dice = Dice::of(self.seed, number);
        let message = self.message(&mut dice).join(" ");
        let event = json!({
            "@timestamp": START_MS + STEP_MS * number,
            "level": dice.pick(&LEVELS),
            "host": format!("web-{}", dice.below(HOSTS)),
            "status": dice.pick(&STATUSES),
            "took_ms": (dice.share().powi(4) * 1e6).round() / 1e3,
            "message": message,
        });
        lines.extend(b"{\"index\":{}}\n");
        serde_json::to_writer(&mut *lines, &event).expect("it has no unusual keys");
        lines.push(b'\n');
    }

    /// A question about the first `events` events; the words of `and` and `phrase` occur together in one at least.
    pub(super) fn question(&self, kind: QuestionKind, number: u64, events: u64) -> Value {
        // Apart from the streams that make events.
        let mut dice = Dice::of(!self.seed, number);
        let mut event = Dice::of(self.seed, dice.below(events));
        let message = self.message(&mut event);
        let at = usize::try_from(dice.below(WORDS_MIN - 1)).unwrap_or_default();
        let (first, second) = (message[at], message[at + 1]);
        let match_all =
            |words: String| json!({"match": {"message": {"query": words, "operator": "and"}}});
        match kind {
            QuestionKind::Term => json!({"query": {"term": {"message": first}}}),
            QuestionKind::And => json!({"query": match_all(format!("{first} {second}"))}),
            QuestionKind::Or => {
                let any = format!("{first} {second} {}", self.draw(&mut dice));
                json!({"query": {"match": {"message": any}}})
            }
            QuestionKind::Phrase => {
                json!({"query": {"match_phrase": {"message": format!("{first} {second}")}}})
            }
            QuestionKind::Range => json!({
                "query": {"range": {"@timestamp": window(&mut dice, events, 100)}},
                "sort": [{"@timestamp": "desc"}],
            }),
            QuestionKind::Aggregation => json!({
                "size": 0, "query": {"term": {"message": first}},
                "aggs": {
                    "levels": {"terms": {"field": "level"}, "aggs": {"took": {"avg": {"field": "took_ms"}}}},
                    "times": {"date_histogram": {"field": "@timestamp", "fixed_interval": interval(events)}},
                },
            }),
            QuestionKind::Logs => json!({
                "size": 20,
                "query": {"bool": {
                    "must": [{"match": {"message": first}}],
                    "filter": [
                        {"term": {"level": "error"}},
                        {"range": {"@timestamp": window(&mut dice, events, 2)}},
                    ],
                }},
                "sort": [{"@timestamp": "desc"}],
            }),
        }
    }

    fn message(&self, dice: &mut Dice) -> Vec<&str> {
        let words = WORDS_MIN + dice.below(WORDS_MORE);
        (0..words).map(|_| self.draw(dice)).collect()
    }

    /// A word: the one of rank `r` about as often as `1 / r`.
    fn draw(&self, dice: &mut Dice) -> &str {
        let rank = (dice.share() * f64::from(WORDS).ln()).exp();
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it lies between 1 and the number of words"
        )]
        let at = rank as usize - 1;
        &self.words[at]
    }
}

/// A word for each number: two syllables, three from ten thousand on.
fn word(number: u32) -> String {
    const FIRST: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
    const SECOND: &[u8; 5] = b"aeiou";
    let syllable = |at: u32| {
        let letter = |letters: &[u8], at: u32| char::from(letters[at as usize % letters.len()]);
        [letter(FIRST, at / 5), letter(SECOND, at)]
    };
    let mut syllables = vec![number % 100, number / 100 % 100];
    if number >= 10_000 {
        syllables.push(number / 10_000);
    }
    syllables.into_iter().flat_map(syllable).collect()
}

/// A range of time that holds one of so many parts of the events.
fn window(dice: &mut Dice, events: u64, parts: u64) -> Value {
    let length = (events / parts).max(1);
    let first = dice.below(events.saturating_sub(length) + 1);
    json!({"gte": START_MS + STEP_MS * first, "lt": START_MS + STEP_MS * (first + length)})
}

/// Such that there are some fifty buckets.
fn interval(events: u64) -> String {
    format!("{}ms", (STEP_MS * events / 50).max(1))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn words_differ_and_frequent_ones_are_frequent() {
        let corpus = Corpus::new(3);
        let words: HashSet<&String> = corpus.words.iter().collect();
        assert_eq!(words.len(), WORDS as usize);
        let mut dice = Dice::of(1, 1);
        let drawn: Vec<&str> = (0..20_000).map(|_| corpus.draw(&mut dice)).collect();
        let count = |word: &String| {
            drawn
                .iter()
                .filter(|drawn| **drawn == word.as_str())
                .count()
        };
        let (first, tenth) = (count(&corpus.words[0]), count(&corpus.words[9]));
        assert!(first > 5 * tenth && tenth > 50, "{first} and {tenth}");
    }

    #[test]
    fn events_are_those_of_the_seed_and_phrases_occur_in_one() {
        let corpus = Corpus::new(3);
        let event = |number| {
            let mut lines = Vec::new();
            corpus.append(number, &mut lines);
            String::from_utf8(lines).unwrap()
        };
        assert_eq!(event(5), event(5));
        assert_ne!(event(5), event(6));
        let all: String = (0..50).map(event).collect();
        for number in 0..20 {
            let question = corpus.question(QuestionKind::Phrase, number, 50);
            let phrase = question.pointer("/query/match_phrase/message").unwrap();
            assert!(all.contains(phrase.as_str().unwrap()), "{phrase}");
        }
    }
}
