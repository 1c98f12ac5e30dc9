//! How clients of Kafka log in and are secured: what Beats and Java's clients call it, as settings of librdkafka, which our inputs and
//! outputs take as `properties`.

use serde_json::{Map, Value};

use super::keys::Keys;
use super::{Notes, texts};

/// Puts settings into an input or an output, if there are any.
pub(super) fn put(properties: Map<String, Value>, into: &mut Map<String, Value>) {
    if !properties.is_empty() {
        into.insert("properties".to_owned(), properties.into());
    }
}

/// Of Beats: a name with its password, and what is below `ssl`.
pub(super) fn of_beats(keys: &mut Keys, notes: &mut Notes<'_>) -> Map<String, Value> {
    let mut found = Map::new();
    let mechanism = keys.take_text("sasl.mechanism");
    let has_login = login(
        (keys.take_text("username"), keys.take_text("password")),
        mechanism,
        &mut found,
    );
    let mut is_secured = false;
    if let Some(mut ssl) = keys.take_keys("ssl") {
        is_secured = ssl.take_flag("enabled") != Some(false);
        let path = ssl.path_of("certificate_authorities");
        let authorities = texts(ssl.take("certificate_authorities").unwrap_or_default());
        if authorities.len() > 1 {
            notes.tell(&path, "has one file here: the first");
        }
        let never = ssl.take_text("verification_mode").as_deref() == Some("none");
        for (name, value) in [
            ("ssl.ca.location", authorities.into_iter().next()),
            ("ssl.certificate.location", ssl.take_text("certificate")),
            ("ssl.key.location", ssl.take_text("key")),
            ("ssl.key.password", ssl.take_text("key_passphrase")),
            (
                "enable.ssl.certificate.verification",
                never.then(|| "false".to_owned()),
            ),
        ] {
            found.extend(value.map(|value| (name.to_owned(), value.into())));
        }
        ssl.tell_rest(notes);
    }
    let protocol = match (is_secured, has_login) {
        (false, false) => return Map::new(),
        (true, false) => "ssl",
        (false, true) => "sasl_plaintext",
        (true, true) => "sasl_ssl",
    };
    found.insert("security.protocol".to_owned(), protocol.into());
    found
}

/// Of a plugin of Logstash, which has the words of Java's clients.
pub(super) fn of_java(keys: &mut Keys) -> Map<String, Value> {
    let mut found = Map::new();
    if let Some(protocol) = keys.take_text("security_protocol") {
        let protocol = protocol.to_ascii_lowercase();
        found.insert("security.protocol".to_owned(), protocol.into());
    }
    let mechanism = keys.take_text("sasl_mechanism");
    let given = keys.take_text("sasl_jaas_config").unwrap_or_default();
    // `...PlainLoginModule required username="jo" password="x";`
    let said = |name: &str| {
        let (_, behind) = given.split_once(&format!("{name}=\""))?;
        let (value, _) = behind.split_once('"')?;
        Some(value.to_owned())
    };
    login((said("username"), said("password")), mechanism, &mut found);
    found
}

/// A name with its password, by some mechanism; whether there is one.
fn login(
    (user, password): (Option<String>, Option<String>),
    mechanism: Option<String>,
    found: &mut Map<String, Value>,
) -> bool {
    let has_login = user.is_some();
    let mechanism = mechanism.or_else(|| has_login.then(|| "PLAIN".to_owned()));
    for (name, value) in [
        ("sasl.mechanism", mechanism),
        ("sasl.username", user),
        ("sasl.password", password),
    ] {
        found.extend(value.map(|value| (name.to_owned(), value.into())));
    }
    has_login
}
