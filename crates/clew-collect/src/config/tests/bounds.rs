//! Limits, of what is sent and of the whole run.

use super::*;

#[test]
fn a_limit_of_what_is_sent_is_refused_with_its_line() {
    let check = |input: &str, key: &str| {
        let text = format!("inputs:\n- {{type: stdin}}\n- {input}\noutputs: [{{type: stdout}}]");
        let config = CollectConfig::parse("c.yaml", &text, &|_| None).unwrap();
        let error = config.options(Mode::Once).unwrap_err().to_string();
        let expected = format!("c.yaml, line 3: [inputs[1].{key}] is not in 64 B..=16 MiB");
        assert_eq!(error, expected);
    };
    check(
        "{type: syslog, listen: 'udp://127.0.0.1:1', line_bytes_max: 1}",
        "line_bytes_max",
    );
    check(
        "{type: http, listen: '127.0.0.1:1', line_bytes_max: 1}",
        "line_bytes_max",
    );
    check("{type: journald, entry_bytes_max: 1}", "entry_bytes_max");
}

#[test]
fn a_limit_of_the_whole_run_is_refused_with_its_line() {
    let check = |key: &str, value: &str, expected: &str| {
        let text =
            format!("inputs: [{{type: stdin}}]\noutputs: [{{type: stdout}}]\n{key}: {value}\n");
        let config = CollectConfig::parse("c.yaml", &text, &|_| None).unwrap();
        let error = config.options(Mode::Once).unwrap_err().to_string();
        assert_eq!(error, format!("c.yaml, line 3: [{key}] {expected}"));
    };
    check("batch_lines_max", "0", "is not in 1..=100000");
    check("batch_bytes_max", "1", "is not in 1 KiB..=64 MiB");
    check("registry", "/", "does not name a file");
}
