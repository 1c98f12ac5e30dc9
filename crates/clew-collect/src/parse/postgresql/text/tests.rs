use crate::parse::{ParserName, testing};

fn check(line: &str, expected: Option<&str>) {
    testing::check(ParserName::Postgresql, line, expected);
}

#[test]
fn lines_of_the_usual_prefixes() {
    check(
        "2026-01-02 03:04:05.678 UTC [12] LOG:  database system is ready",
        Some(
            r#"2026-01-02T03:04:05.678Z info {"postgresql":{"log":{"severity":"LOG"}},"process":{"name":"postgres","pid":12}}"#,
        ),
    );
    check(
        "2026-07-02 03:04:05.678 CEST [12-3] a@shop ERROR:  relation \"x\" does not exist at character 8",
        Some(
            r#"2026-07-02T01:04:05.678Z error {"postgresql":{"log":{"database":"shop","session_line_number":3,"severity":"ERROR"}},"process":{"name":"postgres","pid":12},"user":{"name":"a"}}"#,
        ),
    );
    check(
        "2026-01-02 03:04:05 UTC [12] [unknown]@[unknown] LOG:  incomplete startup packet",
        Some(
            r#"2026-01-02T03:04:05.000Z info {"postgresql":{"log":{"severity":"LOG"}},"process":{"name":"postgres","pid":12}}"#,
        ),
    );
    check(
        "2026-01-02 03:04:05 UTC [12]: user=a,db=b,app=[unknown],client=10.0.0.7 LOG:  duration: 112.337 ms  statement: select 1",
        Some(
            r#"2026-01-02T03:04:05.000Z info {"event":{"duration":112337000},"postgresql":{"log":{"client_addr":"10.0.0.7","database":"b","query":"select 1","query_step":"statement","severity":"LOG"}},"process":{"name":"postgres","pid":12},"source":{"address":"10.0.0.7","ip":"10.0.0.7"},"user":{"name":"a"}}"#,
        ),
    );
    check(
        "2026-01-02 03:04:05 UTC STATEMENT:  select 1",
        Some(
            r#"2026-01-02T03:04:05.000Z - {"postgresql":{"log":{"severity":"STATEMENT"}},"process":{"name":"postgres"}}"#,
        ),
    );
    check("\tfrom orders", Some(" - {}"));
    check(
        "2026-01-02 03:04:05.678 UTC [12] a@b LOG:  duration: 0.455 ms  execute q1: select 1,\n\t2",
        Some(
            r#"2026-01-02T03:04:05.678Z info {"event":{"duration":455000},"postgresql":{"log":{"database":"b","query":"select 1,\n\t2","query_name":"q1","query_step":"execute","severity":"LOG"}},"process":{"name":"postgres","pid":12},"user":{"name":"a"}}"#,
        ),
    );
}

#[test]
fn lines_of_the_prefixes_of_clouds() {
    let client = r#""client_addr":"10.0.0.7","client_port":49804,"#;
    let source = r#""source":{"address":"10.0.0.7","ip":"10.0.0.7","port":49804},"#;
    let told = |log: &str, pid: &str, source: &str, user: &str| {
        let severity = r#""severity":"ERROR"}}"#;
        format!(
            r#"2026-01-02T03:04:05.000Z error {{"postgresql":{{"log":{{{log}{severity},"process":{{"name":"postgres"{pid}}}{source}{user}}}"#
        )
    };
    let (pid, user) = (r#","pid":12"#, r#","user":{"name":"a"}"#);
    check(
        "2026-01-02 03:04:05 UTC:10.0.0.7(49804):a@b:[12]:ERROR:  no such table",
        Some(&told(
            &format!(r#"{client}"database":"b","#),
            pid,
            &format!(",{}", source.trim_end_matches(',')),
            user,
        )),
    );
    check(
        "2026-01-02 03:04:05 UTC [12]: [3-1] db=b,user=a ERROR:  no such table",
        Some(&told(
            r#""database":"b","session_line_number":3,"#,
            pid,
            "",
            user,
        )),
    );
    check(
        "2026-01-02 03:04:05 UTC-5f0a.1b-ERROR:  no such table",
        Some(&told(r#""session_id":"5f0a.1b","#, "", "", "")),
    );
    check(
        "2026-01-02 03:04:05 UTC pid=12,user=a,db=b,app=psql,client=[local] ERROR:  no such table",
        Some(&told(
            r#""application_name":"psql","database":"b","#,
            pid,
            "",
            user,
        )),
    );
}

#[test]
fn values_have_blanks_and_messages_states() {
    let log =
        |members: &str, severity: &str| format!(r#"{{"log":{{{members}"severity":"{severity}""#);
    check(
        "2026-01-02 03:04:05 +03 [12]: user=a,db=b,app=PostgreSQL JDBC Driver,client=10.0.0.7(5) ERROR:  42P01: relation \"x\" does not exist",
        Some(&format!(
            r#"2026-01-02T00:04:05.000Z error {{"postgresql":{},"sql_state_code":"42P01"}}}},"process":{{"name":"postgres","pid":12}},"source":{{"address":"10.0.0.7","ip":"10.0.0.7","port":5}},"user":{{"name":"a"}}}}"#,
            log(
                r#""application_name":"PostgreSQL JDBC Driver","client_addr":"10.0.0.7","client_port":5,"database":"b","#,
                "ERROR"
            ),
        )),
    );
    check(
        "2026-01-02 03:04:05 CST [12] user=a db=b [3-1] LOG:  00000: statement: select 1",
        Some(&format!(
            r#"2026-01-02T03:04:05.000Z info {{"postgresql":{},"sql_state_code":"00000"}}}},"process":{{"name":"postgres","pid":12}},"user":{{"name":"a"}}}}"#,
            log(
                r#""database":"b","query":"select 1","query_step":"statement","session_line_number":3,"#,
                "LOG"
            ),
        )),
    );
    // A severity in what is said is none of the line.
    check(
        "2026-01-02 03:04:05 UTC [12] a@b HINT:  see LOG:  x",
        Some(
            r#"2026-01-02T03:04:05.000Z - {"postgresql":{"log":{"database":"b","severity":"HINT"}},"process":{"name":"postgres","pid":12},"user":{"name":"a"}}"#,
        ),
    );
}

#[test]
fn lines_of_others_are_refused() {
    for line in [
        "2026-01-02 03:04:05 UTC ERROR:  whose",
        "2026-01-02 03:04:05 UTC [12] ERROR: one blank",
        "2026-01-02 03:04:05 [main] LOG:  x",
        "2026-01-02 03:04:05 INFO app LOG:  x",
        "2026-01-02 03:04:05.678 UTC,\"a\",\"b\",12,,5ff,1,,,LOG,00000,\"x\"",
        "LOG:  x",
    ] {
        check(line, None);
    }
}
