//! How clients of Kafka log in and are secured: what other shippers and Java's clients call it, as `tls`, `authentication` and `mechanism` of
//! our inputs and outputs; ways to log in that have no such keys become settings of librdkafka.

use clew_schema::text_of;
use serde_json::{Map, Value, json};

use super::beats::tls_of_output;
use super::keys::Keys;
use super::{Notes, texts};

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

/// Settings of librdkafka that inputs and outputs have for themselves.
const SET_HERE: [&str; 9] = [
    "bootstrap.servers",
    "metadata.broker.list",
    "group.id",
    "auto.offset.reset",
    "enable.auto.commit",
    "enable.idempotence",
    "acks",
    "request.required.acks",
    "message.timeout.ms",
];

impl Client {
    /// Puts it into an input or an output that is an object.
    pub(super) fn put_in(self, one: &mut Value) {
        if let Value::Object(members) = one {
            self.put(members);
        }
    }

    /// Takes out of the settings what `tls` and `authentication` say, which none may say beside them: settings that are written
    /// down go before keys there.
    fn settle(&mut self) {
        if self.tls.is_none() && self.user.is_none() {
            return;
        }
        let properties = &mut self.properties;
        if let Some(protocol) = taken(properties, "security.protocol")
            && protocol.to_ascii_lowercase().ends_with("ssl")
        {
            self.tls.get_or_insert_with(|| json!({}));
        }
        if self.user.is_some() {
            for name in ["sasl.mechanism", "sasl.mechanisms"] {
                self.mechanism = taken(properties, name).or(self.mechanism.take());
            }
            self.user = taken(properties, "sasl.username").or(self.user.take());
            self.password = taken(properties, "sasl.password").or(self.password.take());
        }
        let Some(Value::Object(tls)) = &mut self.tls else {
            // They secure nothing.
            properties.retain(|name, _| !name.starts_with("ssl."));
            return;
        };
        let verifies = taken(properties, "enable.ssl.certificate.verification");
        let names = taken(properties, "ssl.endpoint.identification.algorithm");
        if verifies.is_some_and(|verifies| verifies == "false") {
            tls.insert("verification".to_owned(), "none".into());
            tls.shift_remove("ca");
            properties.shift_remove("ssl.ca.location");
        } else if names.is_some_and(|names| names == "none") {
            tls.entry("verification")
                .or_insert_with(|| "certificate".into());
        }
        for (name, key) in [
            ("ssl.ca.location", "ca"),
            ("ssl.certificate.location", "certificate"),
            ("ssl.key.location", "key"),
        ] {
            if properties.contains_key(name) {
                tls.shift_remove(key);
            }
        }
    }

    /// Puts it among the keys of an input or an output.
    pub(super) fn put(mut self, into: &mut Map<String, Value>) {
        self.settle();
        self.properties
            .retain(|name, _| !SET_HERE.contains(&name.as_str()));
        for name in ["compression.codec", "compression.type"] {
            let compression = self.properties.shift_remove(name);
            // Who reads does not say how messages are compressed.
            if into.contains_key("topic") {
                into.extend(compression.map(|kind| ("compression".to_owned(), kind)));
            }
        }
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

/// Takes out a setting, as a text.
fn taken(properties: &mut Map<String, Value>, name: &str) -> Option<String> {
    let value = properties.shift_remove(name)?;
    Some(text_of(&value))
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
    client.tls = tls_of_output(keys, notes);
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

/// Of a Vector, which speaks through librdkafka, too.
pub(super) fn of_vector(keys: &mut Keys) -> Client {
    let mut client = Client::default();
    if let Some(Value::Object(options)) = keys.take("librdkafka_options") {
        client.properties = options;
    }
    if keys.take_flag("sasl.enabled") == Some(true) {
        client.mechanism = keys.take_text("sasl.mechanism");
        client.user = keys.take_text("sasl.username");
        client.password = keys.take_text("sasl.password");
    }
    if keys.take_flag("tls.enabled") == Some(true) {
        let of_any_name = keys.take_flag("tls.verify_hostname") == Some(false);
        let verification = match keys.take_flag("tls.verify_certificate") {
            Some(false) => Some("none"),
            _ => of_any_name.then_some("certificate"),
        };
        let files = ["ca_file", "crt_file", "key_file"];
        client.tls = Some(tls_below(keys, "tls", files, verification));
    }
    client
}

/// Of a Promtail.
pub(super) fn of_promtail(keys: &mut Keys) -> Client {
    const SASL: &str = "authentication.sasl_config";
    let mut client = Client::default();
    let secured = match keys.take_text("authentication.type").as_deref() {
        Some("ssl") => Some("authentication.tls_config"),
        Some("sasl") => {
            client.mechanism = keys.take_text(&format!("{SASL}.mechanism"));
            client.user = keys.take_text(&format!("{SASL}.user"));
            client.password = keys.take_text(&format!("{SASL}.password"));
            let is_secured = keys.take_flag(&format!("{SASL}.use_tls")) == Some(true);
            is_secured.then_some(SASL)
        }
        _ => None,
    };
    if let Some(place) = secured {
        let verifies = keys.take_flag(&format!("{place}.insecure_skip_verify")) != Some(true);
        let files = ["ca_file", "cert_file", "key_file"];
        let verification = (!verifies).then_some("none");
        client.tls = Some(tls_below(keys, place, files, verification));
    }
    client
}

/// Of a Fluent Bit: settings of librdkafka, through which it speaks, too.
pub(super) fn of_fluent_bit(settings: Vec<(String, String)>) -> Client {
    let settings = settings.into_iter();
    Client {
        properties: settings.map(|(name, value)| (name, value.into())).collect(),
        ..Client::default()
    }
}

/// `tls` of the files that keys name below a place.
fn tls_below(
    keys: &mut Keys,
    place: &str,
    [ca, certificate, key]: [&str; 3],
    verification: Option<&str>,
) -> Value {
    let mut tls = json!({});
    for (ours, theirs) in [("ca", ca), ("certificate", certificate), ("key", key)] {
        let file = keys.take_text(&format!("{place}.{theirs}"));
        // Who verifies nothing has no use for authorities, which are refused here.
        let file = file.filter(|_| ours != "ca" || verification != Some("none"));
        if let Some(file) = file {
            tls[ours] = file.into();
        }
    }
    if let Some(verification) = verification {
        tls["verification"] = verification.into();
    }
    tls
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

#[cfg(test)]
mod tests;
