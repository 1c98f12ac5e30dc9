use clew_platform::{MemoryAccount, MemoryLimits};
use serde_json::{Value, json};

use super::*;

fn limits(bytes_max: usize, memory: MemoryLimits) -> BodyLimits {
    BodyLimits {
        bytes_max,
        memory: MemoryAccount::new(memory),
    }
}

fn read_within(reader: Reader, body: &[u8], limits: &BodyLimits) -> Result<Bytes, ApiError> {
    let mut json = JsonText::beside(body.len(), limits);
    reader(body, &mut json)?;
    Ok(json.into_bytes())
}

fn read(reader: Reader, body: &[u8]) -> Result<Bytes, ApiError> {
    read_within(reader, body, &limits(1 << 20, MemoryLimits::none()))
}

fn text_of(reader: Reader, body: &[u8]) -> String {
    String::from_utf8(read(reader, body).unwrap().to_vec()).unwrap()
}

fn from_hex(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Values of every kind and of every length that has a way of writing of its own.
fn values() -> Vec<Value> {
    let of_length = |count: usize| json!({"a".repeat(count): "b".repeat(count), "é".repeat(count): "ü".repeat(count)});
    let mut all = vec![
        json!(null),
        json!([true, false, null, "", {"": []}, {}]),
        json!("\"\\\n\t\u{1}é𝄞"),
        json!([0, 1, -1, 15, 16, -16, -17, 63, 64, 127, 128, 8191, 8192]),
        json!([
            i32::MAX,
            i32::MIN,
            i64::MAX,
            i64::MIN,
            u64::MAX,
            1_u64 << 63
        ]),
        json!([0.5, -0.1, 1e300, 1.1, 65504.0, f64::MIN_POSITIVE]),
        json!({"took": 1, "hits": {"hits": [{"_id": "1", "_source": {"a": [1, {"b": "c"}]}}]}}),
    ];
    all.extend([1, 2, 28, 29, 31, 32, 33, 63, 64, 65, 100, 5000].map(of_length));
    all
}

#[test]
fn what_is_written_is_read_again() {
    for (format, reader) in [
        (Format::Yaml, yaml::read as Reader),
        (Format::Cbor, cbor::read),
        (Format::Smile, smile::read),
    ] {
        for value in values() {
            let document = format.document(&value);
            let read: Value = serde_json::from_slice(&read(reader, &document).unwrap()).unwrap();
            assert_eq!(read, value, "{format:?}");
        }
    }
}

#[test]
fn formats_are_known_by_their_names_and_types() {
    for (text, format) in [
        ("application/json", Some(Format::Json)),
        ("application/x-ndjson", Some(Format::Json)),
        (
            "application/vnd.elasticsearch+json; compatible-with=8",
            Some(Format::Json),
        ),
        ("Application/YAML; charset=utf-8", Some(Format::Yaml)),
        ("application/cbor", Some(Format::Cbor)),
        (" application/smile ", Some(Format::Smile)),
        ("application/yaml,application/json", None),
        ("text/yaml", None),
        ("yaml", None),
        ("", None),
    ] {
        assert_eq!(Format::of_media_type(text), format, "{text}");
    }
    for (text, format) in [
        ("yaml", Some(Format::Yaml)),
        ("SMILE", Some(Format::Smile)),
        ("application/cbor", None),
        ("txt", None),
    ] {
        assert_eq!(Format::named(text), format, "{text}");
    }
}

#[test]
fn yaml_becomes_json() {
    for (yaml, json) in [
        (
            "query: {match_all: {}}\nsize: 3\n",
            r#"{"query":{"match_all":{}},"size":3}"#,
        ),
        (
            "---\na: [1, -2.5, true, ~, x, '1', 0x1f]\n",
            r#"{"a":[1,-2.5,true,null,"x","1",31]}"#,
        ),
        ("1: a\ntrue: b\n", r#"{"1":"a","true":"b"}"#),
        ("a: &x {b: 1}\nc: *x\n", r#"{"a":{"b":1},"c":{"b":1}}"#),
        ("a: |\n  one\n  two\n", r#"{"a":"one\ntwo\n"}"#),
        ("a: !mine b\nc: .nan\n", r#"{"a":"b","c":"NaN"}"#),
        // What stands twice is told by whoever reads the JSON.
        ("a: 1\na: 2\n", r#"{"a":1,"a":2}"#),
    ] {
        assert_eq!(text_of(yaml::read, yaml.as_bytes()), json, "{yaml}");
    }
    for yaml in [
        "a: 1\n---\nb: 2\n",
        "a: [1",
        "a: *x",
        "? [a]\n: b",
        "a: 'b",
        "\t- a",
        "a: \u{1}",
    ] {
        let error = read(yaml::read, yaml.as_bytes()).unwrap_err();
        assert_eq!(error.status(), StatusCode::BAD_REQUEST, "{yaml}");
    }
}

#[test]
fn cbor_becomes_json() {
    for (hex, json) in [
        // Without lengths, in pieces, with tags, and names that are numbers.
        ("bf 61 61 9f 01 20 ff ff", r#"{"a":[1,-1]}"#),
        ("7f 61 61 62 c3 a9 ff", r#""aé""#),
        ("d9 d9 f7 a1 01 f5", r#"{"1":true}"#),
        ("a1 21 f7", r#"{"-2":null}"#),
        ("43 01 02 03", r#""AQID""#),
        ("5f 41 01 42 02 03 ff", r#""AQID""#),
        (
            "83 f9 3e 00 fa 3f 8c cc cd fb 3f f1 99 99 99 99 99 9a",
            "[1.5,1.1,1.1]",
        ),
        ("82 f9 7e 00 f9 fc 00", r#"["NaN","-Infinity"]"#),
        ("c2 49 01 00 00 00 00 00 00 00 00", "18446744073709551616"),
        ("c3 41 00", "-1"),
        ("3b ff ff ff ff ff ff ff ff", "-18446744073709551616"),
    ] {
        assert_eq!(text_of(cbor::read, &from_hex(hex)), json, "{hex}");
    }
    for hex in [
        "",
        "a1",
        "a1 61",
        "62 61",
        "9f 01",
        "ff",
        "01 01",
        "1c",
        "61 ff",
        "a1 80 01",
        "82 01 ff",
        // Longer than what is there, whatever they promise.
        "7b ff ff ff ff ff ff ff ff 61",
        "9b ff ff ff ff ff ff ff ff 01",
        "5b 00 00 00 ff ff ff ff ff 01",
    ] {
        let error = read(cbor::read, &from_hex(hex)).unwrap_err();
        assert_eq!(error.status(), StatusCode::BAD_REQUEST, "{hex}");
    }
}

#[test]
fn smile_becomes_json() {
    for (hex, json) in [
        ("3a 29 0a 00 fa 80 61 c2 fb", r#"{"a":1}"#),
        (
            "3a 29 0a 01 f8 fa 80 61 c2 fb fa 40 c4 fb f9 ff",
            r#"[{"a":1},{"a":2}]"#,
        ),
        (
            "3a 29 0a 03 f8 40 61 41 62 63 01 02 f9",
            r#"["a","bc","a","bc"]"#,
        ),
        // A float, a double, a short and a long whole number.
        ("3a 29 0a 00 28 03 7c 33 19 4d", "1.1"),
        ("3a 29 0a 00 29 00 3f 78 66 33 19 4c 66 33 1a", "1.1"),
        ("3a 29 0a 00 24 01 80", "32"),
        (
            "3a 29 0a 00 26 89 00 40 00 00 00 00 00 00 00 00 00",
            "18446744073709551616",
        ),
        ("3a 29 0a 00 2a 84 81 3d 01", "123e-2"),
        // Bytes, as they are and seven bits each.
        ("3a 29 0a 04 fd 83 01 02 03", r#""AQID""#),
        ("3a 29 0a 00 e8 83 00 40 40 03", r#""AQID""#),
        ("3a 29 0a 00 e4 c3 a9 fc", r#""é""#),
    ] {
        assert_eq!(text_of(smile::read, &from_hex(hex)), json, "{hex}");
    }
    for hex in [
        "",
        "3a 29 0a",
        "3a 29 0a 10 c2",
        "c2",
        "3a 29 0a 00",
        "3a 29 0a 00 00",
        "3a 29 0a 00 f8 c2",
        "3a 29 0a 00 fa c2 c2 fb",
        "3a 29 0a 00 c2 c2",
        "3a 29 0a 00 01",
        "3a 29 0a 02 01",
        "3a 29 0a 01 fa 40 c2 fb",
        "3a 29 0a 00 41 61",
        "3a 29 0a 00 e0 61",
        "3a 29 0a 00 41 ff fe",
        "3a 29 0a 00 24 7f 7f 7f 7f 7f 7f 7f 7f 7f 7f bf",
        "3a 29 0a 04 fd 7f 7f 7f 7f 7f 7f 7f 7f bf 01",
        "3a 29 0a 00 e8 7f 7f 7f 7f 7f 7f 7f 7f bf 01",
    ] {
        let error = read(smile::read, &from_hex(hex)).unwrap_err();
        assert_eq!(error.status(), StatusCode::BAD_REQUEST, "{hex}");
    }
}

#[test]
fn values_of_smile_that_are_each_ended_are_lines() {
    let of = |value: Value| Format::Smile.document(&value);
    let mut body = of(json!({"index": {}}));
    body.push(0xff);
    body.extend(of(json!({"a": "b"})));
    assert_eq!(
        text_of(smile::read_lines, &body),
        "{\"index\":{}}\n{\"a\":\"b\"}"
    );
    body.extend([0xff, 0xff]);
    assert_eq!(
        text_of(smile::read_lines, &body),
        "{\"index\":{}}\n{\"a\":\"b\"}\n\n"
    );
    assert!(read(smile::read_lines, b"{}\n{}\n").is_err());
}

#[test]
fn values_lie_no_deeper_than_in_json() {
    for (reader, begin, open, close) in [
        (yaml::read as Reader, &b""[..], &b"["[..], &b"]"[..]),
        (cbor::read, b"", b"\x9f", b"\xff"),
        (smile::read, b":)\n\0", b"\xf8", b"\xf9"),
    ] {
        let nested = |depth: usize| [begin, &open.repeat(depth), &close.repeat(depth)].concat();
        let text = text_of(reader, &nested(127));
        assert_eq!(text, "[".repeat(127) + &"]".repeat(127));
        assert!(serde_json::from_str::<Value>(&text).is_ok());
        for depth in [129, 5000] {
            let error = read(reader, &nested(depth)).unwrap_err();
            assert_eq!(error.status(), StatusCode::BAD_REQUEST);
        }
    }
}

#[test]
fn yaml_that_would_take_its_parser_hours_is_refused_at_once() {
    let directives: String = (0..100_000).map(|at| format!("%TAG !a{at}! x\n")).collect();
    for body in ["{a: ".repeat(1 << 18), "[".repeat(1 << 20), directives] {
        let error = read(yaml::read, body.as_bytes()).unwrap_err();
        assert_eq!(error.status(), StatusCode::BAD_REQUEST);
    }
}

#[test]
fn what_is_short_in_its_format_alone_meets_the_limits() {
    // Each byte means a text of 64 bytes; each of the names means all that was there before.
    let mut smile = [b":)\n\x02\xf8\x7f".as_slice(), &[b'a'; 64]].concat();
    smile.extend([1; 10_000]);
    smile.push(0xf9);
    let mut yaml = "a0: &a0 [x, x, x, x, x, x, x, x]\n".to_string();
    for level in 1..9 {
        let earlier = format!("*a{}, ", level - 1).repeat(8);
        yaml.push_str(&format!("a{level}: &a{level} [{earlier}]\n"));
    }
    for (reader, body) in [
        (smile::read as Reader, &smile[..]),
        (yaml::read, yaml.as_bytes()),
    ] {
        let error = read_within(reader, body, &limits(600_000, MemoryLimits::none())).unwrap_err();
        assert!(matches!(
            error.status(),
            StatusCode::PAYLOAD_TOO_LARGE | StatusCode::BAD_REQUEST
        ));
        let none = MemoryLimits {
            bodies: 500_000,
            ..MemoryLimits::none()
        };
        let limits = limits(1 << 30, none);
        assert!(read_within(reader, body, &limits).is_err());
        assert_eq!(limits.memory.total().used, 0);
    }
}
