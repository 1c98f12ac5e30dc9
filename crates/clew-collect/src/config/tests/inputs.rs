//! What is said of inputs, and what of it is wrong.

use super::*;

#[test]
fn what_is_said_of_files_becomes_the_options_of_a_run() {
    let text = "\
inputs:
  - paths: [/l]
    exclude: ['*.gz']
    encoding: utf-16le
    wrapping: container
    start_at: end
    ignore_older_s: 60
    multiline: {preset: java, lines_max: 7}
outputs: [{type: stdout}]
";
    let options = |text: &str| {
        let config = parse(text).unwrap();
        let options = config.options(crate::Mode::Once)?;
        Ok::<_, crate::CollectError>(options.files[0].clone())
    };
    let read = options(text).unwrap();
    assert_eq!(read.exclude, ["*.gz"]);
    assert_eq!(read.encoding, crate::Encoding::Utf16Le);
    assert_eq!(read.wrapping, crate::Wrapping::Container);
    assert_eq!(read.start_at, crate::StartAt::End);
    assert_eq!(read.ignore_older, Some(Duration::from_secs(60)));
    let multiline = read.multiline.unwrap();
    assert_eq!(Some(multiline.rule), crate::MultilineRule::preset("java"));
    assert_eq!((multiline.lines_max, multiline.timeout.as_secs()), (7, 5));
    for (wrong, expected) in [
        ("{}", "exactly one"),
        ("{start: '^a', continue: b}", "exactly one"),
        ("{while: '^a', count: 2, end: c}", "exactly one"),
        ("{preset: jav}", "no preset [jav]"),
    ] {
        let text = text.replace("{preset: java, lines_max: 7}", wrong);
        let error = options(&text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    for (from, to, expected) in [
        (
            "{preset: java, lines_max: 7}",
            "{start: '('}",
            "c.yaml, line 8: [inputs[0].multiline] regex parse error",
        ),
        (
            "paths: [/l]",
            "paths: []",
            "c.yaml, line 2: [inputs[0].paths] names nothing to read",
        ),
    ] {
        let error = options(&text.replace(from, to)).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let unknown = parse(&text.replace("lines_max", "lines")).unwrap_err();
    assert!(unknown.to_string().contains("line 8"), "{unknown}");
}

#[test]
fn inputs_of_every_kind_stand_beside_each_other() {
    let text = "\
inputs:
  - paths: [/l]
  - {type: syslog, listen: 'udp://127.0.0.1:514'}
  - {type: stdin, parse: json}
outputs: [{type: stdout}]
";
    let options = |text: &str| parse(text).unwrap().options(crate::Mode::Follow);
    let read = options(text).unwrap();
    assert_eq!((read.files.len(), read.feeds.len()), (1, 2));
    read.validate().unwrap();
    assert_eq!(read.feeds[1].parse, "json".parse().unwrap());
    let wrong = options(&text.replace("udp://", "upd://")).unwrap_err();
    assert!(
        wrong.to_string().contains("[upd://127.0.0.1:514]"),
        "{wrong}"
    );
    let lacking = parse(&text.replace("listen: 'udp://127.0.0.1:514'", "")).unwrap_err();
    assert!(lacking.to_string().contains("lacks [listen]"), "{lacking}");
}

#[test]
fn what_is_inside_of_a_key_is_told_with_its_line_and_the_nearest_name() {
    let check = |input: &str, expected: &str| {
        let text =
            format!("inputs:\n- type: file\n  paths: [/x]\n  {input}\noutputs: [{{type: stdout}}]");
        let read = CollectConfig::parse("c.yaml", &text, &|_| None);
        let error = match read {
            Ok(config) => config.options(Mode::Once).unwrap_err().to_string(),
            Err(error) => error.to_string(),
        };
        let expected = format!("c.yaml, line 4: [inputs[0].{expected}");
        assert!(error.starts_with(&expected), "{error}");
    };
    check(
        "multiline: {preset: jav}",
        "multiline] has no preset [jav], only ",
    );
    check(
        "multiline: {presett: java}",
        "multiline] has no key [presett], did you mean [preset]?",
    );
    check(
        "start_at: middle",
        "start_at] is [middle], and not one of beginning, end",
    );
    check(
        "parse: ngnix",
        "parse] no parser is called \"ngnix\", did you mean \"nginx\"? There are: auto, ",
    );
}
