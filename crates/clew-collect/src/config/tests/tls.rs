//! What secures connections.

use super::*;

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
        Some(
            "2: [inputs[0].tls] is no known key; there are line_bytes_max, parse, processors, type",
        ),
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
