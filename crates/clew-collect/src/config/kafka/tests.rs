//! What secures connections to Kafka, as settings of librdkafka.

use serde_json::json;

use super::super::section::Section;
use super::super::source::Source;
use super::*;

/// What an input says of it.
struct Said {
    tls: Option<OutputTls>,
    login: Option<Credential>,
    keys: KafkaInput,
    place: Definition,
}

impl Said {
    fn read(text: &str) -> Said {
        let source = Source::new("c.yaml", text);
        let mut section = Section::root(&source, source.raw_tree().unwrap()).unwrap();
        let tls = OutputTls::take(&mut section).unwrap();
        let login = section.take_section("authentication").unwrap();
        let login = login.map(|login| Credential::read(login).unwrap());
        Said {
            tls,
            login,
            place: section.place(),
            keys: section.read(&[], &[]).unwrap(),
        }
    }

    fn security(&self) -> KafkaSecurity<'_> {
        KafkaSecurity {
            tls: self.tls.as_ref(),
            login: self.login.as_ref(),
            mechanism: self.keys.mechanism,
            properties: &self.keys.properties,
        }
    }
}

#[test]
fn keys_become_settings_of_the_library() {
    let verified = |names: &str| {
        json!({
            "security.protocol": "ssl", "enable.ssl.certificate.verification": "true",
            "ssl.endpoint.identification.algorithm": names,
        })
    };
    let mut with_files = verified("none");
    with_files["ssl.ca.location"] = "/ca.pem".into();
    with_files["ssl.certificate.location"] = "/c.pem".into();
    with_files["ssl.key.location"] = "/k.pem".into();
    let mut by_kerberos = verified("https");
    by_kerberos["security.protocol"] = "sasl_ssl".into();
    for (text, expected) in [
        ("properties: {linger.ms: 5}", json!({})),
        ("tls: {}", verified("https")),
        (
            "tls: {ca: /ca.pem, certificate: /c.pem, key: /k.pem, verification: certificate}",
            with_files,
        ),
        (
            "ssl: {verification_mode: none}\nauthentication: {user: jo, password: x}\nmechanism: SCRAM-SHA-512",
            json!({
                "security.protocol": "sasl_ssl", "enable.ssl.certificate.verification": "false",
                "ssl.endpoint.identification.algorithm": "none", "sasl.mechanism": "SCRAM-SHA-512",
                "sasl.username": "jo", "sasl.password": "x",
            }),
        ),
        (
            "authentication: {user: jo, password: 7}",
            json!({
                "security.protocol": "sasl_plaintext", "sasl.mechanism": "PLAIN",
                "sasl.username": "jo", "sasl.password": "7",
            }),
        ),
        ("tls: {}\nproperties: {sasl.mechanism: GSSAPI}", by_kerberos),
    ] {
        let settings = Said::read(text).security().settings().unwrap();
        assert_eq!(json!(settings), expected, "{text}");
    }
}

#[test]
fn settings_go_before_properties_and_beside_them() {
    let said = Said::read("authentication: {user: jo, password: x}\nproperties: {client.id: me}");
    let settings = said.security().settings().unwrap();
    let servers = servers("k:9092", &said.keys.properties, settings);
    assert_eq!(servers.properties["client.id"], "me");
    assert_eq!(servers.properties["sasl.username"], "jo");
    let shown = format!("{servers:?}");
    assert!(!shown.contains("jo"), "{shown}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (text, expected) in [
        (
            "mechanism: PLAIN",
            "has a [mechanism] without [authentication]",
        ),
        (
            "authentication: {token: t}",
            "takes a [user] with a [password] in [authentication]: other ways to log in are set by [properties]",
        ),
        (
            "authentication: {user: jo, password: x}\nproperties: {sasl.username: bo}",
            "has [sasl.username] in [properties], though [tls] or [authentication] says it",
        ),
        (
            "tls: {ca: /a}\nproperties: {ssl.ca.location: /b}",
            "has [ssl.ca.location] in [properties], though [tls] or [authentication] says it",
        ),
        (
            "authentication: {user: jo, password: x}\nproperties: {security.protocol: sasl_ssl}",
            "has [security.protocol] in [properties], though [tls] or [authentication] says it",
        ),
        (
            "authentication: {user: jo, password: x}\nproperties: {ssl.ca.location: /b}",
            "has [ssl.ca.location] in [properties]: beside [authentication] connections are secured only with [tls], which may be empty",
        ),
    ] {
        let said = Said::read(text);
        let error = said.security().check(&said.place).unwrap_err();
        assert_eq!(error.reason, expected, "{text}");
    }
}

#[test]
fn a_binary_says_what_it_was_built_without() {
    let check = |text: &str| {
        let said = Said::read(text);
        let checked = said.security().check(&said.place);
        checked.map_err(|error| error.reason)
    };
    let plain = "authentication: {user: jo, password: x}";
    assert_eq!(check(plain), Ok(()));
    let several = "has several files in [ca], of which Kafka's client reads one: it may have all of their certificates";
    let (secured, proved, two) = match cfg!(feature = "kafka-ssl") {
        true => (Ok(()), Ok(()), Err(several.to_owned())),
        false => {
            let without = BUILT_WITHOUT_SSL.to_owned();
            let proved = format!("[mechanism] {BUILT_WITHOUT_SSL}");
            (Err(without.clone()), Err(proved), Err(without))
        }
    };
    assert_eq!(check("tls: {}"), secured);
    assert_eq!(check(&format!("{plain}\nmechanism: SCRAM-SHA-256")), proved);
    assert_eq!(check("tls: {ca: [/a, /b]}"), two);
}

#[test]
fn the_password_of_a_file_is_read_before_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("password");
    std::fs::write(&path, "from a file\n").unwrap();
    let text = format!(
        "authentication: {{user: jo, password_file: {}}}",
        path.display()
    );
    let mut said = Said::read(&text);
    assert!(said.security().settings().is_err());
    let login = said.login.as_mut().unwrap();
    login.read_file(&clew_platform::RealDisk).unwrap();
    let settings = said.security().settings().unwrap();
    assert_eq!(settings["sasl.password"], "from a file");
}
