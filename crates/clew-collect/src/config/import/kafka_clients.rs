//! How clients of Kafka log in and are secured: what Beats and Java's clients call it, as `tls`, `authentication` and `mechanism` of
//! our inputs and outputs; ways to log in that have no such keys become settings of librdkafka.

use serde_json::{Map, Value, json};

use super::keys::Keys;
use super::{Notes, beats_tls, texts};

/// What a client says of itself.
#[derive(Debug, Default)]
pub(super) struct Client {
    /// `tls` as an output has it, where connections are secured.
    tls: Option<Value>,
    user: Option<String>,
    password: Option<String>,
    mechanism: Option<String>,
    /// Settings by librdkafka's names.
    properties: Map<String, Value>,
}

impl Client {
    /// Puts it into an input or an output.
    pub(super) fn put(mut self, into: &mut Map<String, Value>) {
        let is_secured = self.tls.is_some();
        into.extend(self.tls.map(|tls| ("tls".to_owned(), tls)));
        let has_key =
            |mechanism: &str| matches!(mechanism, "PLAIN" | "SCRAM-SHA-256" | "SCRAM-SHA-512");
        match (self.mechanism, self.user) {
            (None, None) => {}
            (mechanism, Some(user)) if mechanism.as_deref().is_none_or(has_key) => {
                let password = self.password.unwrap_or_default();
                let login = json!({"user": user, "password": password});
                into.insert("authentication".to_owned(), login);
                let other = mechanism.filter(|mechanism| mechanism != "PLAIN");
                into.extend(other.map(|other| ("mechanism".to_owned(), other.into())));
            }
            (mechanism, user) => {
                let protocol = (!is_secured).then(|| "sasl_plaintext".to_owned());
                for (name, value) in [
                    ("security.protocol", protocol),
                    ("sasl.mechanism", mechanism),
                    ("sasl.username", user),
                    ("sasl.password", self.password),
                ] {
                    let value = value.map(|value| (name.to_owned(), value.into()));
                    self.properties.extend(value);
                }
            }
        }
        if !self.properties.is_empty() {
            into.insert("properties".to_owned(), self.properties.into());
        }
    }
}

/// Of Beats: a name with its password, and what is below `ssl`.
pub(super) fn of_beats(keys: &mut Keys, notes: &mut Notes<'_>) -> Client {
    let mut client = Client {
        mechanism: keys.take_text("sasl.mechanism"),
        user: keys.take_text("username"),
        password: keys.take_text("password"),
        ..Client::default()
    };
    let mut set = |name: &str, value: Option<String>| {
        let value = value.map(|value| (name.to_owned(), value.into()));
        client.properties.extend(value);
    };
    set("client.id", keys.take_text("client_id"));
    // A key that has one is read by librdkafka alone.
    let passphrase = keys.take_text("ssl.key_passphrase");
    let is_encrypted = passphrase.is_some();
    if is_encrypted {
        set("ssl.key.password", passphrase);
        set("ssl.key.location", keys.take_text("ssl.key"));
        let certificate = keys.take_text("ssl.certificate");
        set("ssl.certificate.location", certificate);
    }
    let path = keys.path_of("ssl.certificate_authorities");
    client.tls = beats_tls::of_output(keys, notes);
    if is_encrypted && client.tls.is_none() {
        client.tls = Some(json!({}));
    }
    if let Some(authorities) = client.tls.as_mut().and_then(|tls| tls.get_mut("ca")) {
        let mut files = texts(authorities.take());
        if files.len() > 1 {
            notes.tell(&path, "has one file here: the first");
        }
        files.truncate(1);
        *authorities = files.into();
    }
    client
}

/// Of a plugin of Logstash, which has the words of Java's clients.
pub(super) fn of_java(keys: &mut Keys) -> Client {
    let protocol = keys.take_text("security_protocol").unwrap_or_default();
    let given = keys.take_text("sasl_jaas_config").unwrap_or_default();
    // `...PlainLoginModule required username="jo" password="x";`
    let said = |name: &str| {
        let (_, behind) = given.split_once(&format!("{name}=\""))?;
        let (value, _) = behind.split_once('"')?;
        Some(value.to_owned())
    };
    let mut client = Client {
        mechanism: keys.take_text("sasl_mechanism"),
        user: said("username"),
        password: said("password"),
        ..Client::default()
    };
    let id = keys.take_text("client_id");
    let id = id.map(|id| ("client.id".to_owned(), id.into()));
    client.properties.extend(id);
    if protocol.to_ascii_uppercase().ends_with("SSL") {
        client.tls = Some(tls_of_java(keys));
    }
    client
}

/// Stores of PEM are files of certificates; others are nothing that is read here, and stay to be told of.
fn tls_of_java(keys: &mut Keys) -> Value {
    let mut tls = json!({});
    let kind = keys.take_text("ssl_truststore_type");
    if kind.is_some_and(|kind| kind.eq_ignore_ascii_case("pem"))
        && let Some(file) = keys.take_text("ssl_truststore_location")
    {
        tls["ca"] = file.into();
    }
    // No algorithm: the server's certificate may be of another name.
    let names = keys.take_text("ssl_endpoint_identification_algorithm");
    if names.is_some_and(|names| names.is_empty()) {
        tls["verification"] = "certificate".into();
    }
    tls
}
