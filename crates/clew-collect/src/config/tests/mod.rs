//! A whole file, and what is told of one; its parts lie beside.

mod authentication;
mod bounds;
mod inputs;
mod kafka;
mod outputs;
mod tls;

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
        "compression: gzip",
        "rotate: 5",
        "line 16: [outputs[1].rotate] is no known key, did you mean [rotate_bytes]?",
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
