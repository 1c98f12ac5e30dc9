use crate::parse::{ParserName, testing};

#[test]
fn objects_with_and_without_a_time() {
    let check = |line, expected| testing::check(ParserName::Json, line, expected);
    check(
        r#"{"ts":"2026-01-02T03:04:05.678Z","level":"WARN","a":{"b":[1,2]}}"#,
        Some(
            r#"2026-01-02T03:04:05.678Z warning {"json":{"ts":"2026-01-02T03:04:05.678Z","level":"WARN","a":{"b":[1,2]}}}"#,
        ),
    );
    check(
        r#" {"tim\u0065":1767323045,"level":30} "#,
        Some(r#"2026-01-02T03:04:05.000Z info {"json":{"tim\u0065":1767323045,"level":30}}"#),
    );
    check(
        r#"{"time":1767323045678.4}"#,
        Some(r#"2026-01-02T03:04:05.678Z - {"json":{"time":1767323045678.4}}"#),
    );
    check(r#"{"level":60}"#, Some(r#" fatal {"json":{"level":60}}"#));
    check(r#"{"level":35}"#, Some(r#" - {"json":{"level":35}}"#));
    check(
        r#"{"ts":7,"ts":null}"#,
        Some(r#" - {"json":{"ts":7,"ts":null}}"#),
    );
    check("{}", Some(r#" - {"json":{}}"#));
    check(r#"{"a":1"#, None);
    check(r#"{"a":1} x"#, None);
    check("[1]", None);
    check("7", None);
    let nested = |depth| format!("{}1{}", "{\"a\":[".repeat(depth), "]}".repeat(depth));
    assert!(testing::parsed(ParserName::Json, &nested(30)).is_some());
    assert!(testing::parsed(ParserName::Json, &nested(31)).is_none());
    assert!(testing::parsed(ParserName::Json, &nested(9_999)).is_none());
    let wide = format!(
        "{{\"a\":[{}{{}}],\"b\":\"{}\"}}",
        "[],".repeat(99),
        "[".repeat(99)
    );
    assert!(testing::parsed(ParserName::Json, &wide).is_some());
}

#[test]
fn times_and_levels_of_many_libraries() {
    let told = |line: &str, time_and_level: &str| {
        let expected = format!(r#"{time_and_level} {{"json":{line}}}"#);
        testing::check(ParserName::Json, line, Some(&expected));
    };
    let (seconds, millis) = ("2026-01-02T03:04:05.000Z", "2026-01-02T03:04:05.678Z");
    told(
        r#"{"@t":"2026-01-02T03:04:05.678Z","@m":"x"}"#,
        &format!("{millis} info"),
    );
    told(
        r#"{"@t":"2026-01-02T03:04:05.678Z","@l":"Warning"}"#,
        &format!("{millis} warning"),
    );
    told(
        r#"{"instant":{"epochSecond":1767323045,"nanoOfSecond":678000000},"level":"ERROR"}"#,
        &format!("{millis} error"),
    );
    told(
        r#"{"timeMillis":1767323045678,"level":"INFO"}"#,
        &format!("{millis} info"),
    );
    told(
        r#"{"t":{"$date":"2026-01-02T04:04:05.678+01:00"},"s":"W","c":"NETWORK"}"#,
        &format!("{millis} warning"),
    );
    told(r#"{"t":5,"s":"x"}"#, " -");
    told(
        r#"{"level":400,"level_name":"ERROR","datetime":{"date":"2026-01-02 03:04:05.678000"}}"#,
        &format!("{millis} error"),
    );
    told(
        r#"{"timestamp":"1767323045.678","level":3}"#,
        &format!("{millis} error"),
    );
    told(r#"{"ts":1767323045678123}"#, &format!("{millis} -"));
    told(r#"{"ts":1767323045000000000}"#, &format!("{seconds} -"));
    for written in [
        r#"{"EventTime":"2026-01-02 03:04:05","Severity":"ERROR"}"#,
        r#"{"time_local":"02/Jan/2026:04:04:05 +0100","@level":"error"}"#,
        r#"{"eventTime":"2026-01-02T03:04:05Z","log":{"level":"error","logger":"x"}}"#,
        r#"{"__REALTIME_TIMESTAMP":"1767323045000000","PRIORITY":"3"}"#,
        r#"{"date":1767323045.0,"log":"x","level":"error"}"#,
        r#"{"date":"2026-01-01","time":"2026-01-02T03:04:05Z","level":"error"}"#,
    ] {
        told(written, &format!("{seconds} error"));
    }
    told(r#"{"date":"2026-01-01","log":{"level":7}}"#, " debug");
    told(r#"{"log":{"level":{}}}"#, " -");
    told(
        r#"{"asctime":"2026-01-02 03:04:05,678","levelname":"WARNING"}"#,
        &format!("{millis} warning"),
    );
}

#[test]
fn levels_that_single_libraries_have() {
    for (written, level) in [
        (
            r#"{"L":"WARN","T":"2026-01-02T03:04:05.678Z","M":"x"}"#,
            "warning",
        ),
        (r#"{"level":"dpanic","ts":1767323045.678}"#, "critical"),
        (
            r#"{"level":"silly","timestamp":"2026-01-02T03:04:05.678Z"}"#,
            "trace",
        ),
        (
            r#"{"level":"http","timestamp":"2026-01-02 03:04:05.678"}"#,
            "info",
        ),
        (
            r#"{"event":"x","level":"exception","timestamp":1767323045.678}"#,
            "error",
        ),
        (
            r#"{"time":"2026-01-02T04:04:05.678+01:00","level":"ERROR+4"}"#,
            "error",
        ),
        (
            r#"{"time":"2026-01-02T03:04:05.678Z","level":"DEBUG-4"}"#,
            "debug",
        ),
        (
            r#"{"lvl":"eror","dt":"2026-01-02T03:04:05.678Z","L":5}"#,
            "error",
        ),
        (r#"{"level":"WARN-x","time":1767323045678}"#, "-"),
    ] {
        let expected = format!(r#"2026-01-02T03:04:05.678Z {level} {{"json":{written}}}"#);
        testing::check(ParserName::Json, written, Some(&expected));
    }
}
