use std::time::Duration;

use super::*;

fn parse(text: &str) -> Result<CollectConfig, ConfigError> {
    let variable = |name: &str| match name {
        "HOST" => Some("web1".to_owned()),
        "LINES" => Some("500".to_owned()),
        _ => None,
    };
    CollectConfig::parse("c.yaml", text, &variable)
}

const WHOLE: &str = "\
registry: r.json
host: ${HOST}-${N:7}
batch_lines_max: ${LINES}
metrics: {listen: '127.0.0.1:9600'}
inputs:
  - type: file
    paths: [/l/*.log, '/m/$${x}']
    parse: nginx
    processors:
      - dissect: {field: message, pattern: '%{a} %{b}'}
processors:
  - remove: {field: message}
outputs:
  - type: clew
    url: ${URL:http://h:1}
  - {type: file, path: o.json, compression: gzip}
  - type: stdout
";

#[test]
fn a_whole_file_is_read_with_its_variables() {
    let config = parse(WHOLE).unwrap();
    assert_eq!(config.general.host.as_deref(), Some("web1-7"));
    assert_eq!(config.general.batch_lines_max, 500);
    assert_eq!(config.general.batch_bytes_max, 2 << 20);
    let metrics = config.general.metrics.as_ref().unwrap();
    assert_eq!(metrics.listen.port(), 9_600);
    let input = &config.inputs[0];
    assert_eq!(input.parse, "nginx_access".parse().unwrap());
    let InputKind::File(file) = &input.kind else {
        panic!("{input:?}");
    };
    assert_eq!(file.paths[1], PathBuf::from("/m/${x}"));
    assert_eq!(input.processors[0].place, "inputs[0].processors[0]");
    assert_eq!(input.processors[0].line, Some(10));
    assert_eq!(config.processors.len(), 1);
    let OutputKind::Bulk(bulk) = &config.outputs[0].kind else {
        panic!("{:?}", config.outputs);
    };
    assert_eq!(bulk.url.as_deref(), Some("http://h:1"));
    assert!(matches!(
        &config.outputs[1].kind,
        OutputKind::File(FileOutput {
            compression: Compression::Gzip,
            ..
        })
    ));
    assert_eq!(config.outputs[2].kind, OutputKind::Stdout);
}

/// Checks what is told of a whole configuration with something else in a place.
#[track_caller]
fn check(from: &str, to: &str, expected: &str) {
    assert!(WHOLE.contains(from));
    let error = parse(&WHOLE.replace(from, to)).unwrap_err().to_string();
    assert_eq!(error, format!("c.yaml, {expected}"));
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_the_nearest_key() {
    check(
        "registry:",
        "registri:",
        "line 1: [registri] is no known key, did you mean [registry]?",
    );
    check(
        "inputs:",
        "input:",
        "line 5: [input] is no known key, did you mean [inputs]?",
    );
    check(
        "    paths:",
        "    pahts:",
        "line 7: [inputs[0].pahts] is no known key, did you mean [paths]?",
    );
    check(
        "compression: gzip",
        "compresion: gzip",
        "line 16: [outputs[1].compresion] is no known key, did you mean [compression]?",
    );
    check(
        "type: stdout",
        "type: stdou",
        "line 17: [outputs[2].type] no output is called [stdou], did you mean [stdout]?",
    );
    check(
        "type: stdout",
        "type: elasticsearch",
        "line 17: [outputs[2].type] no output is called [elasticsearch], did you mean [opensearch]?",
    );
    check(
        "inputs:",
        "filebeat.inputs:",
        "line 5: [filebeat.inputs] is a key of another shipper: `clew collect import FILE` prints what its configuration is here",
    );
}

#[test]
fn values_of_another_kind_are_told_with_their_line() {
    check(
        "${LINES}",
        "many",
        "line 3: [batch_lines_max] invalid type: string \"many\", expected a whole number",
    );
    check(
        "compression: gzip",
        "sync: 7",
        "line 16: [outputs[1].sync] invalid type: integer `7`, expected true or false",
    );
    check(
        "url: ${URL:http://h:1}",
        "hosts: [a]",
        "line 15: [outputs[0].hosts] is no known key, did you mean [url]?",
    );
    check(
        "${URL:http://h:1}",
        "${URL}",
        "line 15: [outputs[0].url] the variable URL is not set, and has no default \
         (${URL:default})",
    );
    check(
        "${URL:http://h:1}",
        "${URL:?set it to the server's}",
        "line 15: [outputs[0].url] the variable URL is not set: set it to the server's",
    );
    check(
        "- remove: {field: message}",
        "- 7",
        "line 12: [processors[0]] must be a mapping of keys to values",
    );
    check(
        "- type: clew\n    url",
        "- url",
        "line 14: [outputs[0]] lacks [type], one of clew, opensearch, http, file, stdout, kafka",
    );
}

#[test]
fn one_text_is_a_list_of_it_where_a_list_belongs() {
    let text = "inputs: [{paths: /l/*.log, exclude: '*.gz'}]\noutputs: [{type: stdout}]";
    let config = parse(text).unwrap();
    let InputKind::File(file) = &config.inputs[0].kind else {
        panic!("{:?}", config.inputs);
    };
    assert_eq!(file.paths, [PathBuf::from("/l/*.log")]);
    let error = parse("metrics: '127.0.0.1:9600'").unwrap_err().to_string();
    assert!(
        error.contains("expected a mapping of keys to values"),
        "{error}"
    );
}

#[test]
fn what_is_wrong_with_the_whole_names_no_key() {
    let error = parse("inputs: [").unwrap_err().to_string();
    assert!(error.contains(": is not valid YAML"), "{error}");
}

#[test]
fn variables_that_spell_numbers_are_texts_where_texts_belong() {
    let read = |value: &str| {
        let text = "inputs: [{paths: ['${V}', '/l/${V}']}]\nhost: '${V}'\nbatch_lines_max: '${N:5}'\n\
                    outputs: [{type: clew, index: '${V}', api_key: '${V}'}]";
        let variable = |name: &str| (name == "V").then(|| value.to_owned());
        CollectConfig::parse("c.yaml", text, &variable).unwrap()
    };
    for value in ["12345", "007", "true", "823e17409214", "1e5", "web1"] {
        let config = read(value);
        assert_eq!(config.general.host.as_deref(), Some(value));
        assert_eq!(config.general.batch_lines_max, 5);
        let InputKind::File(file) = &config.inputs[0].kind else {
            panic!("{:?}", config.inputs);
        };
        assert_eq!(file.paths[0], PathBuf::from(value));
        let OutputKind::Bulk(bulk) = &config.outputs[0].kind else {
            panic!("{:?}", config.outputs);
        };
        assert_eq!(bulk.api_key.as_deref(), Some(value));
    }
    let wrong = parse("inputs: [{paths: [a]}]\noutputs: [{type: stdout}]\nhost: [1]").unwrap_err();
    assert!(
        wrong.to_string().starts_with("c.yaml, line 3: [host]"),
        "{wrong}"
    );
}

#[test]
fn a_key_that_is_there_twice_is_refused() {
    for text in [
        "inputs: [{paths: [a], paths: [b]}]\noutputs: [{type: stdout}]",
        "inputs: [{paths: [a]}]\noutputs: [{type: stdout}]\ninputs: [{paths: [b]}]",
    ] {
        let wrong = parse(text).unwrap_err();
        assert!(wrong.reason.contains("duplicate entry"), "{wrong}");
    }
}

#[test]
fn a_file_without_inputs_or_outputs_is_refused() {
    for text in [
        "",
        "inputs: []",
        "inputs: [{paths: [a]}]",
        "outputs: [{type: stdout}]",
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.reason.contains("at least one"), "{error}");
    }
    assert!(
        parse("a: [")
            .unwrap_err()
            .to_string()
            .contains("not valid YAML")
    );
}

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
fn an_output_may_have_a_key_a_compression_and_a_buffer() {
    let text = "\
inputs: [{paths: [/l]}]
outputs:
  - type: opensearch
    api_key: abc=
    compression: gzip
    buffer: {folder: /var/lib/clew/buffer, bytes_max: 5000000, when_full: drop_oldest}
";
    let config = parse(text).unwrap();
    let OutputKind::Bulk(bulk) = &config.outputs[0].kind else {
        panic!("{:?}", config.outputs);
    };
    let options = bulk.options(Some("Basic x".to_owned()));
    assert_eq!(options.authorization.as_deref(), Some("ApiKey abc="));
    assert_eq!(options.compression, crate::BodyCompression::Gzip);
    let buffer = bulk.buffer.as_ref().unwrap();
    assert_eq!(buffer.when_full, crate::WhenFull::DropOldest);
    let wrong = parse(&text.replace("drop_oldest", "drop")).unwrap_err();
    assert!(wrong.to_string().contains("line 6"), "{wrong}");
}

#[test]
fn outputs_have_conditions_and_any_server_may_be_one() {
    let text = "\
inputs: [{paths: [/l]}]
outputs:
  - {type: stdout, when: {equals: {level: ERROR}}}
  - type: http
    url: http://h/in
    headers: {X-Scope: shop}
    compression: zstd
";
    let config = parse(text).unwrap();
    let when = config.outputs[0].when.as_ref().unwrap();
    assert_eq!(
        (when.place.as_str(), when.line),
        ("outputs[0].when", Some(3))
    );
    let OutputKind::Http(http) = &config.outputs[1].kind else {
        panic!("{:?}", config.outputs);
    };
    let options = http.options();
    assert_eq!(options.headers, [("X-Scope".to_owned(), "shop".to_owned())]);
    assert_eq!(options.compression, Compression::Zstd);
    let routes = |text: &str| parse(text).unwrap().options(Mode::Once).unwrap().outputs;
    assert_eq!(routes(text).len(), 2);
    // Where no output has a condition, none is asked for.
    assert!(routes(&text.replace(", when: {equals: {level: ERROR}}", "")).is_empty());
    let wrong = parse(&text.replace("    url: http://h/in\n", "")).unwrap_err();
    assert!(wrong.to_string().contains("lacks [url]"), "{wrong}");
    let wrong = parse(&text.replace("when:", "whem:")).unwrap_err();
    assert!(wrong.to_string().contains("did you mean [when]"), "{wrong}");
    // Servers that speak `_bulk` do not know Zstandard.
    let bulk = "inputs: [{paths: [/l]}]\noutputs: [{type: clew, compression: zstd}]";
    assert!(parse(bulk).unwrap_err().to_string().contains("zstd"));
}

fn check_tls(input: &str, output: &str, expected: Option<&str>) {
    let text = format!("inputs:\n  - {input}\noutputs:\n  - {output}\n");
    let read = parse(&text).map(drop).map_err(|error| error.to_string());
    match expected {
        None => assert_eq!(read, Ok(()), "{text}"),
        Some(expected) => assert_eq!(read, Err(format!("c.yaml, line {expected}")), "{text}"),
    }
}

#[test]
fn inputs_are_secured_by_names_that_others_have_too_and_only_where_there_are_some() {
    let stdout = "type: stdout";
    let syslog =
        |tls: &str| format!("{{type: syslog, listen: 'tcp://127.0.0.1:0', tls: {{{tls}}}}}");
    check_tls(&syslog("certificate: c, key: k"), stdout, None);
    check_tls(
        &syslog("certificate: c, key: k, client_ca: a"),
        stdout,
        None,
    );
    check_tls(
        &syslog(
            "certificate: c, key: k, certificate_authorities: [a, b], client_authentication: optional",
        ),
        stdout,
        None,
    );
    check_tls(
        "{type: http, listen: '127.0.0.1:0', ssl: {certificate: c, key: k}}",
        stdout,
        None,
    );
    check_tls(
        &syslog("certificat: c, key: k"),
        stdout,
        Some("2: [inputs[0].tls.certificat] is no known key, did you mean [certificate]?"),
    );
    check_tls(
        &syslog("key: k"),
        stdout,
        Some("2: [inputs[0].tls] lacks [certificate]"),
    );
    check_tls(
        &syslog("certificate: c, key: k, client_authentication: always"),
        stdout,
        Some(
            "2: [inputs[0].tls.client_authentication] is [always], and not one of none, optional, required",
        ),
    );
    check_tls(
        &syslog("certificate: c, key: k, client_authentication: required"),
        stdout,
        Some(
            "2: [inputs[0].tls] lacks [client_ca], the authorities of the certificates of clients",
        ),
    );
    check_tls(
        &syslog("certificate: c, key: k, client_ca: a, client_authentication: none"),
        stdout,
        Some("2: [inputs[0].tls] has [client_ca], though clients are not asked for certificates"),
    );
    check_tls(
        "{type: syslog, listen: 'udp://127.0.0.1:0', tls: {certificate: c, key: k}}",
        stdout,
        Some("2: [inputs[0].tls] secures connections only where [listen] begins with tcp://"),
    );
    check_tls(
        "{type: stdin, tls: {certificate: c, key: k}}",
        stdout,
        Some("2: [inputs[0].tls] is no known key, did you mean [type]?"),
    );
}

#[test]
fn outputs_are_secured_by_names_that_others_have_too_and_only_where_there_are_some() {
    let stdin = "type: stdin";
    let output = |tls: &str| format!("{{type: opensearch, url: 'https://h:1', tls: {{{tls}}}}}");
    check_tls(stdin, &output(""), None);
    check_tls(
        stdin,
        &output("ca: a, certificate: c, key: k, verification: certificate"),
        None,
    );
    check_tls(
        stdin,
        &output("certificate_authorities: [a], verification_mode: full"),
        None,
    );
    check_tls(
        stdin,
        &output("ca: a, certificate_authorities: b"),
        Some(
            "4: [outputs[0].tls.certificate_authorities] is the same as [ca], which is there, too",
        ),
    );
    check_tls(
        stdin,
        &output("certificate: c"),
        Some("4: [outputs[0].tls] has one of [certificate] and [key], which go together"),
    );
    check_tls(
        stdin,
        &output("ca: a, verification: none"),
        Some("4: [outputs[0].tls] has [ca], though no certificate is verified"),
    );
    check_tls(
        stdin,
        "{type: http, url: 'http://h:1', tls: {ca: a}}",
        Some("4: [outputs[0].tls] secures connections to [url] only if it begins with https://"),
    );
}

#[test]
fn certificates_that_cannot_be_used_are_told_with_their_line() {
    let text = "inputs: [{type: stdin}]\noutputs:\n  - {type: clew, url: 'https://h:1', tls: {ca: /nowhere/ca.pem}}";
    let mut config = parse(text).unwrap();
    let wrong = config.read_files(&clew_platform::RealDisk).unwrap_err();
    let wrong = wrong.to_string();
    let expected = "c.yaml, line 3: [outputs[0].tls] [ca] /nowhere/ca.pem: ";
    assert!(wrong.starts_with(expected), "{wrong}");
}

#[test]
fn who_may_send_is_said_in_the_file_or_in_files_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let check = |list: &str, expected: Result<(), &str>| {
        let input = format!("{{type: http, listen: '127.0.0.1:0', authentication: [{list}]}}");
        let text = format!("inputs:\n  - {input}\noutputs:\n  - type: stdout\n");
        let read = parse(&text).and_then(|mut config| {
            config.read_files(&clew_platform::RealDisk)?;
            Ok(config)
        });
        match (read, expected) {
            (Ok(config), Ok(())) => drop(config.options(Mode::Once).unwrap()),
            (Err(error), Err(expected)) => {
                let error = error
                    .to_string()
                    .replace(&format!("{}/", folder.path().display()), "");
                let place = "c.yaml, line 2: [inputs[0].authentication[0]";
                assert!(error.starts_with(&format!("{place}{expected}")), "{error}");
            }
            (read, expected) => panic!("{list}: {read:?}, not {expected:?}"),
        }
    };
    check(
        "{user: u, password: p}, {token: t}, {api_key: 'id:key'}",
        Ok(()),
    );
    check("{token: '${LINES}'}", Ok(()));
    check(
        &format!("{{token_file: {}}}", file("t", "secret\n")),
        Ok(()),
    );
    check(
        &format!("{{token_file: {}}}", file("e", "\n")),
        Err("] e: is empty"),
    );
    check("{token_file: /nowhere}", Err("] /nowhere: No such file"));
    check(
        "{tokn: t}",
        Err(".tokn] is no known key, did you mean [token]?"),
    );
    check("{token: [1]}", Err(".token] a text, or a whole number"));
    check("{token: ''}", Err("] has an empty secret"));
    check("{}", Err("] takes exactly one of "));
    check("{token: t, api_key: k}", Err("] takes exactly one of "));
    check("{password: p}", Err("] lacks the [user]"));
    check(
        "{user: u, token: t}",
        Err("] has a [user], which goes with a password"),
    );
    check(
        "{user: 'a:b', password: p}",
        Err("] has a [user] with a colon"),
    );
}

#[cfg(not(feature = "kafka"))]
#[test]
fn kafka_that_is_left_out_is_told_so() {
    let check = |text: &str, place: &str| {
        let error = CollectConfig::parse("c.yaml", text, &|_| None).unwrap_err();
        let expected = "built without kafka: cargo build --features kafka";
        assert_eq!(
            (error.place.as_str(), error.reason.as_str()),
            (place, expected)
        );
    };
    check(
        "inputs: [{type: kafka, brokers: a}]\noutputs: [{type: stdout}]",
        "inputs[0].type",
    );
    check(
        "inputs: [{type: stdin}]\noutputs: [{type: kafka}]",
        "outputs[0].type",
    );
}

#[cfg(feature = "kafka")]
#[test]
fn kafka_has_its_keys() {
    let text = "inputs: [{type: kafka, brokers: 'a:1', topics: [b, '^c'], properties: {linger.ms: 5}}]\n\
                outputs: [{type: kafka, brokers: 'a:1', topic: '{{b}}', compression: lz4, buffer: {folder: /b}}]";
    let config = CollectConfig::parse("c.yaml", text, &|_| None).unwrap();
    let InputKind::Kafka(input) = &config.inputs[0].kind else {
        panic!("{:?}", config.inputs[0]);
    };
    assert_eq!(input.properties["linger.ms"], "5");
    let OutputKind::Kafka(output) = &config.outputs[0].kind else {
        panic!("{:?}", config.outputs[0]);
    };
    assert_eq!(
        (output.topic.as_str(), output.timeout_ms),
        ("{{b}}", 60_000)
    );
    let wrong = text.replace("topics", "topic");
    let error = CollectConfig::parse("c.yaml", &wrong, &|_| None).unwrap_err();
    assert!(error.reason.contains("did you mean [topics]"), "{error}");
    let wrong = text.replace("linger.ms: 5", "linger.ms: [5]");
    let error = CollectConfig::parse("c.yaml", &wrong, &|_| None).unwrap_err();
    assert_eq!(error.place, "inputs[0].properties");
    let login = text.replace(
        "properties:",
        "authentication: {user: jo, password: x}, properties:",
    );
    let config = CollectConfig::parse("c.yaml", &login, &|_| None).unwrap();
    let options = config.options(Mode::Once).unwrap();
    let crate::feed::FeedAddress::Kafka(kafka) = &options.feeds[0].address else {
        panic!("{:?}", options.feeds);
    };
    assert_eq!(kafka.servers.properties["sasl.username"], "jo");
    let twice = login.replace("linger.ms: 5", "sasl.username: bo");
    let error = CollectConfig::parse("c.yaml", &twice, &|_| None).unwrap_err();
    assert_eq!(error.place, "inputs[0]");
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
