use crate::parse::{ParserName, testing};

#[test]
fn lines_of_the_usual_layouts() {
    let told = |line: &str, time: &str, members: &str| {
        let expected = format!("{time} info {{{members}}}");
        testing::check(ParserName::Log4j, line, Some(&expected));
    };
    let time = "2026-01-02T03:04:05.678Z";
    let both = r#""log":{"logger":"a.b.C"},"process":{"thread":{"name":"main"}}"#;
    told(
        "2026-01-02 03:04:05,678 INFO [main] a.b.C: text",
        time,
        both,
    );
    told(
        "2026-01-02 03:04:05,678 INFO  [main] a.b.C - text",
        time,
        both,
    );
    told(
        "2026-01-02 03:04:05.678 [main] INFO  a.b.C - text",
        time,
        both,
    );
    told(
        "2026-01-02 03:04:05.678 [main] INFO  a.b.C:12 - text",
        time,
        both,
    );
    told("03:04:05.678 [main] INFO  a.b.C - text", "", both);
    told(
        "2026-01-02 03:04:05,678 INFO  a.b.C [] - text",
        time,
        r#""log":{"logger":"a.b.C"}"#,
    );
    told(
        "2026-01-02T03:04:05.678Z  INFO 1 --- [           main] o.a.C.[Tomcat].[localhost].[/]  : text",
        time,
        r#""log":{"logger":"o.a.C.[Tomcat].[localhost].[/]"},"process":{"pid":1,"thread":{"name":"main"}}"#,
    );
    told(
        "2026-01-02 03:04:05,678 INFO a.b.C: text",
        time,
        r#""log":{"logger":"a.b.C"}"#,
    );
    let spring = r#""log":{"logger":"a.b.C"},"process":{"pid":123,"thread":{"name":"main"}}"#;
    for line in [
        "2026-01-02T04:04:05.678+01:00  INFO 123 --- [app] [           main] a.b.C    : text",
        "2026-01-02 03:04:05.678  INFO 123 --- [           main] a.b.C                    : text",
        "2026-01-02T03:04:05.678Z  INFO 123 --- [app] [           main] [4bf92f-00f067] a.b.C : text",
        "2026-01-02T03:04:05.678Z  INFO 123 --- [app] [           main] [             ] a.b.C : text",
    ] {
        told(line, time, spring);
    }
    told(
        "INFO  [main] 2026-01-02 03:04:05,678 C.java:12 - text",
        time,
        r#""log":{"logger":"C","origin":{"file":{"line":12,"name":"C.java"}}},"process":{"thread":{"name":"main"}}"#,
    );
    told(
        "02-Jan-2026 03:04:05.678 INFO [main] a.b.C.start text",
        time,
        r#""log":{"logger":"a.b.C.start"},"process":{"thread":{"name":"main"}}"#,
    );
    told(
        "2026-01-02 03:04:05,678 INFO [main] a.b.C: text\njava.lang.Error\n\tat x",
        time,
        r#""log":{"logger":"a.b.C"},"error":{"stack_trace":"java.lang.Error\n\tat x","type":"java.lang.Error"},"process":{"thread":{"name":"main"}}"#,
    );
}

#[test]
fn lines_of_spark_and_of_hdfs() {
    for (line, members) in [
        (
            "26/01/02 03:04:05 INFO executor.Backend: Registered",
            r#""log":{"logger":"executor.Backend"}"#,
        ),
        (
            "26/01/02 03:04:05 INFO SparkContext: Running",
            r#""log":{"logger":"SparkContext"}"#,
        ),
        (
            "260102 030405 143 INFO dfs.DataNode$DataXceiver: Receiving",
            r#""log":{"logger":"dfs.DataNode$DataXceiver"},"process":{"thread":{"id":143}}"#,
        ),
    ] {
        let expected = format!("2026-01-02T03:04:05.000Z info {{{members}}}");
        testing::check(ParserName::Log4j, line, Some(&expected));
        assert!(super::begins(line.as_bytes()));
    }
}

#[test]
fn lines_of_others_are_refused() {
    for line in [
        "2024-05-01 00:00:00,012 INFO app-1.prod [main] a.b.C 3ms - done: x",
        "2026-01-02 03:04:05,678 - root - INFO - text",
        "2026-01-02 03:04:05,678 INFO starting now: yes",
        "2026-01-02 03:04:05 INFO note: text",
        "03:04:05.678 INFO a.b.C - text",
        "INFO: text",
        "26/01/02 03:04:05 INFO starting now",
        "260102 030405 143 INFO starting now",
    ] {
        testing::check(ParserName::Log4j, line, None);
        // They are no part of the event before them, if they say when they are from.
        let is_dated = line.starts_with('2');
        assert_eq!(super::begins(line.as_bytes()), is_dated, "{line}");
    }
    for line in [
        b"2026-01-02 03:04:05,678 INFO [main] a.b.C: caf\xe9".as_slice(),
        b"03:04:05.678 [main] INFO  a.b.C - caf\xe9",
        b"02-Jan-2026 03:04:05.678 INFO [main] a.b.C.start text",
    ] {
        assert!(super::begins(line));
    }
    assert!(!super::begins(b"\tat a.b.C(C.java:1)") && !super::begins(b"a\xff"));
}
