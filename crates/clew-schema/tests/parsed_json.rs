//! What JSON is said to take when it is read, beside what an allocator counts. A program of its own, since the allocator counts for
//! all threads.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::alloc::System;

use clew_platform::{PeakAllocator, SplitMix, live_bytes, peak_bytes, restart_peak};
use clew_schema::{json_value_bytes, parsed_json_bytes};
use serde_json::{Map, Value};

#[global_allocator]
static ALLOCATOR: PeakAllocator<System> = PeakAllocator(System);

/// What is taken at most while a text is read, and what its value holds, with the value.
fn measured(text: &str) -> (usize, usize, Value) {
    let before = live_bytes();
    restart_peak();
    let value: Value = serde_json::from_str(text).unwrap();
    let (taken, held) = (
        peak_bytes().wrapping_sub(before),
        live_bytes().wrapping_sub(before),
    );
    (taken, held, value)
}

/// What is said, and what is taken at most while the text is read; what its value takes then is said, too.
fn told_and_taken(text: &str) -> (usize, usize) {
    let told = parsed_json_bytes(text.as_bytes());
    // The thread that runs tests allocates a little of its own, whenever it comes to that: what is found twice is the text's.
    let mut last = measured(text);
    let (taken, held, value) = loop {
        let next = measured(text);
        if (next.0, next.1) == (last.0, last.1) {
            break next;
        }
        last = next;
    };
    let said = json_value_bytes(&value);
    assert!(
        (held..2 * held + 500).contains(&said),
        "{said} and not {held} bytes: {text}"
    );
    (told, taken)
}

/// Never less, and not half as much again.
fn check(what: &str, text: &str) {
    let (told, taken) = told_and_taken(text);
    let ratio = told as f64 / taken as f64;
    assert!(
        (1.0..1.5).contains(&ratio),
        "{ratio}: {told} and not {taken} bytes for {what}"
    );
}

fn list(item: &str, count: usize) -> String {
    format!("[{}]", vec![item; count].join(","))
}

/// An object of this many members, each of this value.
fn object(value: &str, count: usize) -> String {
    let members: Vec<String> = (0..count).map(|n| format!("\"n{n}\":{value}")).collect();
    format!("{{{}}}", members.join(", "))
}

/// A value that is as deep as this at most.
fn drawn(random: &mut SplitMix, depth: u64) -> Value {
    let count = random.below(12);
    match random.below(if depth == 0 { 4 } else { 6 }) {
        0 => Value::Null,
        1 => Value::from(random.draw()),
        2 => Value::from("word ".repeat(usize::try_from(count).unwrap())),
        3 => Value::from("a \"quoted\" word: {\\},"),
        4 => (0..count).map(|_| drawn(random, depth - 1)).collect(),
        _ => {
            let members = (0..count).map(|n| (format!("name {n}"), drawn(random, depth - 1)));
            Value::Object(members.collect::<Map<_, _>>())
        }
    }
}

/// One test, so that no other one allocates meanwhile.
#[test]
fn json_takes_what_it_is_said_to_take() {
    // Around where lists and objects grow.
    for count in [
        1, 3, 4, 5, 7, 8, 9, 14, 15, 16, 17, 28, 29, 1_000, 1_024, 1_025, 1_792, 1_793,
    ] {
        for value in [
            "0",
            "-1.25e-7",
            "[0]",
            "[]",
            "{}",
            "{\"a\":1}",
            "\"a longer text\"",
        ] {
            check(
                &format!("{count} times {value} in a list"),
                &list(value, count),
            );
            check(
                &format!("{count} times {value} in an object"),
                &object(value, count),
            );
        }
        let rows = list(&object("0", count), 100);
        check(&format!("objects of {count} members"), &rows);
        let rows = object(&list("0", count), 100);
        check(&format!("lists of {count} numbers"), &rows);
    }
    check("a text", &format!("\"{}\"", "much, ".repeat(10_000)));
    let escaped = "\\na line of twenty-eight signs";
    check("escapes", &format!("\"{}\"", escaped.repeat(10_000)));
    let (told, taken) = told_and_taken(&format!("[0.{}]", "123".repeat(10_000)));
    assert!(
        (taken..3 * taken).contains(&told),
        "{told} and not {taken} bytes for a long number"
    );
    let mut random = SplitMix::new(7);
    for number in 0..300 {
        let value = drawn(&mut random, 5);
        for text in [value.to_string(), format!("{value:#}")] {
            let (told, taken) = told_and_taken(&text);
            assert!(told >= taken, "{number}: {told} and not {taken} for {text}");
            assert!(
                told < 2 * taken + 500,
                "{number}: {told}, not {taken}: {text}"
            );
        }
    }
}
