//! Expressions cut, repeated and mixed at random: each is read or refused, in bounded time and on a small stack, and what
//! is refused is told with a place that is in the text.
//!
//! A second of it is run with the other tests, always by the same seed; `make fuzz-filter` runs longer and by another one.

use std::time::{Duration, Instant};

use clew_platform::thread_cpu_time;

use super::oracle::collection;
use super::printed::{placeless, printed};
use crate::expr::{NOT_BOOLEAN, Templates, lower, parse};

/// Where all begins.
const SEEDS: [&str; 15] = [
    "l > 1 and d <= 2.5 or not (t == 'x')",
    "t in ['a', \"b\", r'\\d'] and l not in [1, -2, 0x1F, 017]",
    "1 < l <= 5 && d ** 2 % 3 != l + 4 * -1",
    "t like 'a%' || t =~ '^a.*b$' or t !~ 'x|y'",
    "json_contains(j['k'], 1) and json_contains_any(j[\"a\"][0], [1, 'x', true])",
    "array_contains_all(a, [1, 2]) and array_length(a) >= 3 and a[0] == 1",
    "exists j['a']['b'] or j['c'] is not null and t is null",
    "text_match(t, 'quick fox', minimum_should_match=2) or phrase_match(t, 'a b', 1)",
    "l == {x} and t in {names}",
    "$meta['colour'] == 'red' and size in [1, 2, 3]",
    "(((l == 1)))",
    "~l & 3 | 4 ^ 5 << 2 >> 1 == 0",
    "l + INTERVAL 'P1DT2H' > ISO '2025-01-01T00:00:00Z' and ISO '2024-01-01' <= l",
    "element_filter(s, $[n] > 1 && $[t] == 'x') or match_least(s, $[n] in [1], threshold=2)",
    "l > 1 and random_sample(0.25)",
];
/// What is put between.
const WORDS: [&str; 44] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "\\",
    ",",
    "=",
    "==",
    "<",
    "<=",
    "&&",
    "||",
    "!",
    "~",
    "-",
    "**",
    "%",
    ".",
    "and",
    "or",
    "not",
    "in",
    "is",
    "null",
    "like",
    "exists",
    "true",
    "$meta",
    "$",
    "ISO",
    "INTERVAL",
    "'P1M'",
    "l",
    "j",
    "1e308",
    "9223372036854775808",
    "ü",
    "\u{1F600}",
    "\n",
    "\0",
];
/// Longest text, in bytes.
const BYTES_MAX: usize = 20_000;
/// Longest text that is printed and read again.
const PRINTED_MAX: usize = 2_000;
/// Processor time of the slowest text.
const SLOWEST: Duration = Duration::from_secs(20);
/// So many texts at least, however slow the machine is.
const TEXTS_MIN: usize = 1_000;
/// As much as the threads have that read requests.
const STACK_BYTES: usize = 2 << 20;

/// Numbers by chance (Steele and others, "Fast splittable pseudorandom number generators", 2014).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % bound.max(1) as u64).unwrap_or_default()
    }

    /// A part of a text, cut between characters.
    fn part<'t>(&mut self, text: &'t str) -> (usize, &'t str) {
        let mut place = || {
            let at = self.below(text.len() + 1);
            (at..=text.len())
                .find(|at| text.is_char_boundary(*at))
                .unwrap_or(text.len())
        };
        let (one, other) = (place(), place());
        let (from, to) = (one.min(other), one.max(other));
        (from, &text[from..to])
    }
}

fn changed(dice: &mut Dice, text: &str) -> String {
    let (at, part) = dice.part(text);
    let behind = &text[at + part.len()..];
    match dice.below(6) {
        0 => format!("{}{behind}", &text[..at]),
        1 => format!("{}{}{behind}", &text[..at], WORDS[dice.below(WORDS.len())]),
        2 => format!(
            "{}{}{part}{behind}",
            &text[..at],
            WORDS[dice.below(WORDS.len())]
        ),
        3 => {
            let times = [2, 3, 50, 300, 3_000][dice.below(5)].min(BYTES_MAX / part.len().max(1));
            format!("{}{}{behind}", &text[..at], part.repeat(times.max(1)))
        }
        4 => {
            let other = SEEDS[dice.below(SEEDS.len())];
            let (_, other) = dice.part(other);
            format!("{}{other}{behind}", &text[..at])
        }
        _ => format!("{}({part}){behind}", &text[..at]),
    }
}

/// Reads a text, and says whether it is an expression.
fn check(text: &str) -> bool {
    let before = thread_cpu_time();
    let read = parse::parse(text);
    let is_read = match &read {
        Err(error) => {
            assert!(
                text.is_char_boundary(error.at),
                "{error:?} is not in {text:?}"
            );
            false
        }
        // Printed, a range is two comparisons: a long text may have too many.
        Ok(_) if text.len() > PRINTED_MAX => true,
        Ok(expr) => {
            let again = printed(expr);
            let read = parse::parse(&again).map(placeless);
            assert_eq!(
                read,
                Ok(placeless(expr.clone())),
                "{text:?} is printed as {again:?}"
            );
            true
        }
    };
    if let Ok(parsed) = crate::expr::parse(text) {
        let lowered = lower(&parsed, &collection(), &Templates::default());
        if let Err(error) = lowered {
            let told = error.to_string();
            let is_told = told.contains("line ") || told.contains(NOT_BOOLEAN);
            assert!(is_told || error.code() == 3000, "{text:?}: {error}");
        }
    }
    let took = thread_cpu_time().saturating_sub(before);
    assert!(took < SLOWEST, "{text:?} takes {took:?}");
    is_read
}

fn run(seed: u64, time: Duration) {
    let mut dice = Dice(seed);
    let mut known: Vec<String> = SEEDS.iter().map(ToString::to_string).collect();
    let (mut texts, mut read) = (0, 0);
    let started = Instant::now();
    while started.elapsed() < time || texts < TEXTS_MIN {
        let mut text = known[dice.below(known.len())].clone();
        for _ in 0..=dice.below(4) {
            text = changed(&mut dice, &text);
        }
        if text.len() > BYTES_MAX {
            continue;
        }
        texts += 1;
        if check(&text) {
            read += 1;
            // Expressions that are read are changed further.
            let place = SEEDS.len() + dice.below(500);
            match known.get_mut(place) {
                Some(old) => *old = text,
                None => known.push(text),
            }
        }
    }
    eprintln!("{texts} texts, of which {read} are expressions");
    assert!(read > 0, "{texts} texts, {read} read");
}

#[test]
fn mutated_expressions_are_read_or_refused() {
    let given = |name: &str| std::env::var(name).ok()?.parse().ok();
    let seconds = given("CLEW_FUZZ_SECONDS").unwrap_or(1);
    let seed = given("CLEW_SEED").unwrap_or(1);
    eprintln!("CLEW_SEED={seed}");
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    let work = move || run(seed, Duration::from_secs(seconds));
    thread.spawn(work).unwrap().join().unwrap();
}
