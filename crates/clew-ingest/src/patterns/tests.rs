use std::collections::HashMap;

use super::*;

const OPTIONS: PatternOptions = PatternOptions {
    similarity: 0.7,
    first_words: 1,
    patterns_max: 1_000,
};

/// Patterns as a program would write them; `{w}` is a word without digits, the others are what masks know.
const TEMPLATES: [&str; 16] = [
    "user {w} logged in from {ip}",
    "user {w} logged out after {n} s",
    "user {w} failed to log in from {ip} port {n} ssh2",
    "Accepted publickey for {w} from {ip} port {n} ssh2: RSA {hex}",
    "Accepted password for {w} from {ip} port {n} ssh2",
    "Starting session {n} of user {w}.",
    "Received block blk_{n} of size {n} from /{ip}",
    "PacketResponder {n} for block blk_{n} terminating",
    "request {uuid} took {n}ms",
    "request {uuid} was refused: quota of {n} bytes is used up",
    "connection from {ip}:{n} closed by peer",
    "worker {w} picked job {uuid} of queue {w} at priority {n}",
    "cache hit ratio {n}.{n} over the last {n} minutes",
    "GC pause of {n}.{n} ms, heap {n} -> {n} KB",
    "configuration was read again",
    "disk /dev/{w} is {n} percent full, {n} inodes are left",
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn value(&mut self, kind: &str) -> String {
        let number = self.next();
        match kind {
            "w" => (0..5 + number % 4)
                .map(|at| char::from(b'a' + (number >> (5 * at) & 15) as u8))
                .collect(),
            "ip" => {
                let [a, b, c, d, ..] = number.to_le_bytes();
                format!("{a}.{b}.{c}.{d}")
            }
            "n" => (number % 100_000).to_string(),
            "hex" => format!("{number:016x}"),
            _ => {
                let text = format!("{number:016x}{:016x}", self.next());
                let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
                parts.map(|part| text[part].to_owned()).join("-")
            }
        }
    }

    fn line(&mut self, template: &str) -> String {
        let mut line = String::new();
        let mut rest = template;
        while let Some((before, behind)) = rest.split_once('{') {
            let (kind, behind) = behind.split_once('}').unwrap();
            line.push_str(before);
            line.push_str(&self.value(kind));
            rest = behind;
        }
        line + rest
    }
}

/// Lines, each with the number of its template.
fn lines(seed: u64, count: usize) -> Vec<(usize, String)> {
    let mut random = Random(seed);
    let mut line = || {
        let number = usize::try_from(random.next() % TEMPLATES.len() as u64).unwrap();
        (number, random.line(TEMPLATES[number]))
    };
    (0..count).map(|_| line()).collect()
}

/// The share of lines whose group has exactly the lines of its template.
fn accuracy(seed: u64) -> f64 {
    let lines = lines(seed, 2_000);
    let mut patterns = Patterns::new(OPTIONS);
    let ids: Vec<u64> = lines
        .iter()
        .map(|(_, line)| patterns.place(line).id)
        .collect();
    let (mut truth, mut found) = (HashMap::new(), HashMap::new());
    for (at, (template, _)) in lines.iter().enumerate() {
        truth.entry(*template).or_insert_with(Vec::new).push(at);
        found.entry(ids[at]).or_insert_with(Vec::new).push(at);
    }
    let right = truth
        .values()
        .filter(|group| found[&ids[group[0]]] == **group);
    right.map(Vec::len).sum::<usize>() as f64 / lines.len() as f64
}

#[test]
fn lines_are_grouped_by_the_template_that_made_them() {
    for seed in [1, 20_171, 77_777_777] {
        let accuracy = accuracy(seed);
        assert!(accuracy > 0.99, "seed {seed}: {accuracy}");
    }
}

#[test]
fn a_pattern_keeps_its_id_while_its_words_are_found_to_differ() {
    let mut patterns = Patterns::new(OPTIONS);
    let mut place = |line: &str| {
        let placed = patterns.place(line);
        (placed.id, placed.text.to_owned(), placed.is_new)
    };
    let (id, text, is_new) = place("user  anna logged in from 10.0.0.1");
    assert_eq!(
        (text.as_str(), is_new),
        ("user anna logged in from <ip>", true)
    );
    let expected = |is_new| (id, "user <*> logged in from <ip>".to_owned(), is_new);
    assert_eq!(place("user bert logged in from 10.0.0.2"), expected(false));
    assert_eq!(place("user anna logged in from 10.0.0.3"), expected(false));
    // Other words, another number of words, another beginning.
    for other in [
        "user anna is gone for good",
        "user anna logged in",
        "guest anna logged in from 10.0.0.1",
    ] {
        assert!(place(other).2, "{other}");
    }
    assert_eq!(patterns.len(), 4);
    // Blank lines are one.
    assert!(patterns.place("").is_new);
    assert!(!patterns.place("  ").is_new);
}

#[test]
fn the_same_lines_have_the_same_patterns() {
    let lines = lines(7, 500);
    let all = || {
        let mut patterns = Patterns::new(OPTIONS);
        let placed = lines.iter().map(|(_, line)| {
            let placed = patterns.place(line);
            (placed.id, placed.text.to_owned())
        });
        placed.collect::<Vec<_>>()
    };
    assert_eq!(all(), all());
    // And the first of them in every build.
    assert_eq!(id(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(id("a"), 0xaf63_dc4c_8601_ec8c);
}

#[test]
fn memory_is_bounded_whatever_comes() {
    let mut random = Random(3);
    let mut patterns = Patterns::new(PatternOptions {
        patterns_max: 300,
        ..OPTIONS
    });
    for _ in 0..20_000 {
        let words = 1 + random.next() % 4;
        let line: Vec<String> = (0..words).map(|_| random.value("w")).collect();
        patterns.place(&line.join(" "));
    }
    assert_eq!(patterns.len(), 300);
    assert!(patterns.children.len() <= (WORDS_MAX + 1) * (CHILDREN_MAX as usize + 2));
    // What is known is still found, and what is not is not taken for new.
    let known = patterns.patterns[0].text.clone();
    assert_eq!(patterns.place(&known).text, known);
    assert!(
        !patterns
            .place("nothing like any of them at all, not at all")
            .is_new
    );
    let long = "word ".repeat(100_000);
    assert!(patterns.place(&long).text.len() <= LINE_BYTES_MAX + WILD.len());
}
