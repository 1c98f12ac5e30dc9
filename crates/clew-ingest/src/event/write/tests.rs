use serde_json::{Map, Value as Json, json};

use super::*;
use crate::event::Value;
use crate::text::Span;

/// Puts a value at a path of an object.
fn put(object: &mut Map<String, Json>, path: &str, value: Json) {
    match path.split_once('.') {
        None => drop(object.insert(path.to_owned(), value)),
        Some((around, rest)) => {
            let inside = object.entry(around).or_insert_with(|| json!({}));
            put(inside.as_object_mut().unwrap(), rest, value);
        }
    }
}

#[test]
fn events_of_more_kinds_than_are_remembered_are_written_as_they_are() {
    let line = "a \"text\" of a line \\ with more than thirty-two bytes in it";
    let paths: Vec<String> = (0..30)
        .map(|n| match n % 3 {
            0 => format!("f{n}"),
            1 => format!("o{}.f{n}", n % 4),
            _ => format!("o{}.p.f{n}", n % 4),
        })
        .collect();
    let mut event = Event::default();
    let slots: Vec<Slot> = paths.iter().map(|path| event.slot(path).unwrap()).collect();
    let mut dice = 7_u64;
    for round in 0..2_000_u64 {
        // Some kinds come again and again, others once.
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let kind = match round % 3 {
            0 => dice >> 20,
            1 => 0x155 << (round % 7),
            _ => 0x3f,
        };
        let span = event.begin(line).unwrap();
        let mut expected = Map::new();
        for (n, (path, slot)) in paths.iter().zip(&slots).enumerate() {
            if kind >> n & 1 == 0 {
                continue;
            }
            let (value, json) = match (n as u64 + round) % 5 {
                0 => (Value::Text(span), json!(line)),
                1 => (
                    Value::Int(-12_345 + (dice >> 40) as i64),
                    json!(-12_345 + (dice >> 40) as i64),
                ),
                2 => (
                    Value::Time(1_767_323_045_678 + round as i64 * 700),
                    Json::Null,
                ),
                3 => (Value::Bool(true), json!(true)),
                _ => (
                    Value::Text(event.own(|out| out.push_str("é\n"))),
                    json!("é\n"),
                ),
            };
            let json = match value {
                Value::Time(ms) => {
                    let time = jiff::Timestamp::from_millisecond(ms).unwrap();
                    json!(format!("{time:.3}"))
                }
                _ => json,
            };
            event.put(*slot, value).unwrap();
            put(&mut expected, path, json);
        }
        let mut out = b"before".to_vec();
        event.write(&mut out);
        let written: Json = serde_json::from_slice(&out[6..]).unwrap();
        assert_eq!(written, Json::Object(expected), "round {round}");
    }
    assert_eq!(event.layouts.known.len(), LAYOUTS_MAX);
}

#[test]
fn every_part_of_a_line_is_written_as_it_would_be_by_itself() {
    let mut event = Event::default();
    let slot = event.slot("part").unwrap();
    for line in [
        "",
        "plain",
        "\tx",
        "a \"quoted\" word and a \\ in a line that is longer than a block of them is",
    ] {
        for start in 0..=line.len() {
            for end in start..=line.len() {
                let whole = event.begin(line).unwrap();
                let part = Span::new(start, end).after(whole.start());
                event.put(slot, Value::Text(part)).unwrap();
                let mut out = Vec::new();
                event.write(&mut out);
                let text = &line[start..end];
                let expected = json!({"part": text}).to_string();
                assert_eq!(String::from_utf8(out).unwrap(), expected);
            }
        }
    }
}

#[test]
fn a_layout_with_very_long_names_is_not_remembered() {
    let mut event = Event::default();
    let slots: Vec<Slot> = (0..4)
        .map(|n| event.slot(&format!("{n}{}", "x".repeat(30 << 10))).unwrap())
        .collect();
    let short = event.slot("short").unwrap();
    for round in 0..20 {
        event.begin("line").unwrap();
        event.put(short, Value::Int(1)).unwrap();
        for slot in &slots {
            event.put(*slot, Value::Int(round)).unwrap();
        }
        let mut out = Vec::new();
        event.write(&mut out);
        let written: Map<String, Json> = serde_json::from_slice(&out).unwrap();
        assert_eq!(written.len(), 5);
    }
    let remembered: usize = event
        .layouts
        .known
        .iter()
        .map(|known| known.texts.len())
        .sum();
    assert!(remembered < REMEMBERED_BYTES_MAX, "{remembered}");
}
