//! `tls` of inputs and outputs: which files, and who is trusted. The names that Filebeat and Logstash have for the same are taken, too.

use std::path::PathBuf;

use clew_platform::Disk;
use serde::{Deserialize, Deserializer, Serialize};

use super::section::Section;
use super::{ConfigError, Definition};
use crate::error::CollectError;
use crate::tls::{
    ClientAuthentication, ClientTls, ClientTlsFiles, ServerTls, ServerTlsFiles, Verification,
};

/// `tls` of an input.
#[derive(Clone, Debug)]
pub struct InputTls {
    keys: InputKeys,
    place: Definition,
    ready: Option<ServerTls>,
}

/// `tls` of an output.
#[derive(Clone, Debug)]
pub struct OutputTls {
    keys: OutputKeys,
    place: Definition,
    ready: Option<ClientTls>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct InputKeys {
    /// The certificate that is shown, and those between it and its authority.
    certificate: PathBuf,
    /// Its key.
    key: PathBuf,
    /// Whether clients show one, too; where there is `client_ca`, they must.
    client_authentication: Option<ClientAuthentication>,
    /// The authorities of clients.
    #[serde(deserialize_with = "one_or_more")]
    client_ca: Vec<PathBuf>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct OutputKeys {
    /// The authorities that are trusted, instead of those of the system.
    #[serde(deserialize_with = "one_or_more")]
    ca: Vec<PathBuf>,
    /// A certificate that is shown to the server.
    certificate: Option<PathBuf>,
    /// Its key.
    key: Option<PathBuf>,
    /// What has to be right about the server's certificate.
    verification: Verification,
}

/// A path, or a list of them.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a path, or a list of paths")]
    enum Paths {
        One(PathBuf),
        More(Vec<PathBuf>),
    }
    Ok(match Paths::deserialize(deserializer)? {
        Paths::One(path) => vec![path],
        Paths::More(paths) => paths,
    })
}

/// The section, if there is one, under its name or the other one.
fn take<'a>(section: &mut Section<'a>) -> Result<Option<Section<'a>>, ConfigError> {
    match section.take_section("tls")? {
        Some(found) => Ok(Some(found)),
        None => section.take_section("ssl"),
    }
}

impl InputTls {
    pub(super) fn take(section: &mut Section<'_>) -> Result<Option<Self>, ConfigError> {
        let Some(mut tls) = take(section)? else {
            return Ok(None);
        };
        tls.rename("certificate_authorities", "client_ca")?;
        let place = tls.place();
        let keys: InputKeys = tls.read(&["certificate_authorities"], &["certificate", "key"])?;
        match keys.client_authentication {
            Some(ClientAuthentication::None) if !keys.client_ca.is_empty() => {
                Err(place.wrong("has [client_ca], though clients are not asked for certificates"))
            }
            Some(ClientAuthentication::Optional | ClientAuthentication::Required)
                if keys.client_ca.is_empty() =>
            {
                Err(place
                    .wrong("lacks [client_ca], the authorities of the certificates of clients"))
            }
            _ => Ok(Some(InputTls {
                keys,
                place,
                ready: None,
            })),
        }
    }

    pub(super) fn read(&mut self, disk: &dyn Disk) -> Result<(), ConfigError> {
        let keys = &self.keys;
        let authentication = keys
            .client_authentication
            .unwrap_or(match keys.client_ca[..] {
                [] => ClientAuthentication::None,
                _ => ClientAuthentication::Required,
            });
        let files = ServerTlsFiles {
            certificate: &keys.certificate,
            key: &keys.key,
            authentication,
            client_ca: &keys.client_ca,
        };
        let read = ServerTls::read(disk, files);
        self.ready = Some(read.map_err(|reason| self.place.wrong(&reason))?);
        Ok(())
    }

    pub(super) fn wrong(&self, reason: &str) -> ConfigError {
        self.place.wrong(reason)
    }

    /// What connections are given.
    ///
    /// # Errors
    /// That [`CollectConfig::read_files`] was not asked for.
    pub fn ready(&self) -> Result<ServerTls, CollectError> {
        self.ready.clone().ok_or_else(not_read)
    }
}

impl OutputTls {
    pub(super) fn take(section: &mut Section<'_>) -> Result<Option<Self>, ConfigError> {
        let Some(mut tls) = take(section)? else {
            return Ok(None);
        };
        tls.rename("certificate_authorities", "ca")?;
        tls.rename("verification_mode", "verification")?;
        let place = tls.place();
        let taken = ["certificate_authorities", "verification_mode"];
        let keys: OutputKeys = tls.read(&taken, &[])?;
        if keys.certificate.is_some() != keys.key.is_some() {
            return Err(place.wrong("has one of [certificate] and [key], which go together"));
        }
        if keys.verification == Verification::None && !keys.ca.is_empty() {
            return Err(place.wrong("has [ca], though no certificate is verified"));
        }
        Ok(Some(OutputTls {
            keys,
            place,
            ready: None,
        }))
    }

    pub(super) fn read(&mut self, disk: &dyn Disk) -> Result<(), ConfigError> {
        let keys = &self.keys;
        let files = ClientTlsFiles {
            ca: &keys.ca,
            identity: keys.certificate.as_deref().zip(keys.key.as_deref()),
            verification: keys.verification,
        };
        if keys.verification == Verification::None {
            let place = &self.place.place;
            tracing::warn!(
                place,
                "an output sends to whoever answers: it verifies no certificate"
            );
        }
        let read = ClientTls::read(disk, files);
        self.ready = Some(read.map_err(|reason| self.place.wrong(&reason))?);
        Ok(())
    }

    pub(super) fn wrong(&self, reason: &str) -> ConfigError {
        self.place.wrong(reason)
    }

    /// Looks whether librdkafka can do what it asks for.
    ///
    /// # Errors
    /// That there are several files of authorities, of which it reads one.
    pub(super) fn check_for_kafka(&self) -> Result<(), ConfigError> {
        match self.keys.ca[..] {
            [] | [_] => Ok(()),
            _ => Err(self.wrong(
                "has several files in [ca], of which Kafka's client reads one: it may have all of their certificates",
            )),
        }
    }

    /// The same as settings of librdkafka, which reads the files itself.
    pub(super) fn of_kafka(&self) -> Vec<(&'static str, String)> {
        let keys = &self.keys;
        let (verifies, names) = match keys.verification {
            Verification::Full => ("true", "https"),
            Verification::Certificate => ("true", "none"),
            Verification::None => ("false", "none"),
        };
        let mut settings = vec![
            ("enable.ssl.certificate.verification", verifies.to_owned()),
            ("ssl.endpoint.identification.algorithm", names.to_owned()),
        ];
        for (name, file) in [
            ("ssl.ca.location", keys.ca.first()),
            ("ssl.certificate.location", keys.certificate.as_ref()),
            ("ssl.key.location", keys.key.as_ref()),
        ] {
            settings.extend(file.map(|file| (name, file.display().to_string())));
        }
        settings
    }

    /// What connections are given.
    ///
    /// # Errors
    /// That [`CollectConfig::read_files`] was not asked for.
    pub fn ready(&self) -> Result<ClientTls, CollectError> {
        self.ready.clone().ok_or_else(not_read)
    }
}

fn not_read() -> CollectError {
    CollectError::Option {
        option: "tls",
        reason: "names files that were not read".to_owned(),
    }
}
