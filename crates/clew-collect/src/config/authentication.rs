//! `authentication` of an input, who may send to it, and of an output, who it says that it is. Secrets are written in the
//! configuration, where `${NAME}` takes them out of the environment, or lie in files of their own.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clew_platform::Disk;
use serde::{Deserialize, Deserializer, Serialize};

use super::section::{Section, take_list};
use super::{ConfigError, Definition};
use crate::error::CollectError;
use crate::feed::{Credentials, Scheme};

/// The credentials of one input.
const CREDENTIALS_MAX: usize = 1_000;
/// The longest secret.
const SECRET_BYTES_MAX: u64 = 4 << 10;

/// One that is let in, or asks to be.
#[derive(Clone)]
pub(super) struct Credential {
    scheme: Scheme,
    user: Option<String>,
    secret: Secret,
    place: Definition,
}

#[derive(Clone)]
enum Secret {
    Given(String),
    In(PathBuf),
}

#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Keys {
    user: Option<String>,
    #[serde(deserialize_with = "secret")]
    password: Option<String>,
    password_file: Option<PathBuf>,
    #[serde(deserialize_with = "secret")]
    token: Option<String>,
    token_file: Option<PathBuf>,
    #[serde(deserialize_with = "secret")]
    api_key: Option<String>,
    api_key_file: Option<PathBuf>,
}

/// A text; a variable that spells a whole number has become one.
fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a text, or a whole number that stands for one")]
    enum Written {
        Text(String),
        Number(u64),
    }
    Ok(Some(match Written::deserialize(deserializer)? {
        Written::Text(text) => text,
        Written::Number(number) => number.to_string(),
    }))
}

pub(super) fn take(section: &mut Section<'_>) -> Result<Vec<Credential>, ConfigError> {
    let items = take_list(section, "authentication", CREDENTIALS_MAX)?;
    items.into_iter().map(Credential::read).collect()
}

impl Credential {
    pub(super) fn read(section: Section<'_>) -> Result<Self, ConfigError> {
        let place = section.place();
        let keys: Keys = section.read(&[], &[])?;
        let given = [
            (Scheme::Basic, keys.password.map(Secret::Given)),
            (Scheme::Basic, keys.password_file.map(Secret::In)),
            (Scheme::Bearer, keys.token.map(Secret::Given)),
            (Scheme::Bearer, keys.token_file.map(Secret::In)),
            (Scheme::ApiKey, keys.api_key.map(Secret::Given)),
            (Scheme::ApiKey, keys.api_key_file.map(Secret::In)),
        ];
        let mut given = given
            .into_iter()
            .filter_map(|(scheme, secret)| Some((scheme, secret?)));
        let (Some((scheme, secret)), None) = (given.next(), given.next()) else {
            return Err(place.wrong("takes exactly one of [password], [token] and [api_key], or of the same with [_file]"));
        };
        let is_basic = scheme == Scheme::Basic;
        match &keys.user {
            None if is_basic => return Err(place.wrong("lacks the [user] of its password")),
            Some(_) if !is_basic => {
                return Err(place.wrong("has a [user], which goes with a password"));
            }
            Some(user) if user.contains(':') => {
                return Err(
                    place.wrong("has a [user] with a colon, behind which its password would begin")
                );
            }
            _ => {}
        }
        let credential = Credential {
            scheme,
            user: keys.user,
            secret,
            place,
        };
        match &credential.secret {
            Secret::Given(text) if text.is_empty() => {
                Err(credential.place.wrong("has an empty secret"))
            }
            _ => Ok(credential),
        }
    }

    /// Takes its secret out of its file, if that is where it is.
    pub(super) fn read_file(&mut self, disk: &dyn Disk) -> Result<(), ConfigError> {
        if let Secret::In(path) = &self.secret {
            let read = secret_of(disk, path);
            let wrong = |reason: String| self.place.wrong(&format!("{}: {reason}", path.display()));
            self.secret = Secret::Given(read.map_err(wrong)?);
        }
        Ok(())
    }

    /// What an output sends as its header `Authorization`.
    pub(super) fn header(&self) -> Result<String, CollectError> {
        let (scheme, shown) = self.shown()?;
        Ok(match scheme {
            Scheme::Basic => format!("Basic {}", STANDARD.encode(shown)),
            Scheme::Bearer => format!("Bearer {shown}"),
            Scheme::ApiKey => format!("ApiKey {shown}"),
        })
    }

    /// Whether it is a user with a password.
    pub(super) fn is_user(&self) -> bool {
        self.scheme == Scheme::Basic
    }

    /// The user, who is empty where there is none, and the secret.
    pub(super) fn user_and_secret(&self) -> Result<(&str, &str), CollectError> {
        Ok((self.user.as_deref().unwrap_or_default(), self.secret()?))
    }

    fn secret(&self) -> Result<&str, CollectError> {
        match &self.secret {
            Secret::Given(secret) => Ok(secret),
            Secret::In(_) => Err(CollectError::Option {
                option: "authentication",
                reason: "names files that were not read".to_owned(),
            }),
        }
    }

    fn shown(&self) -> Result<(Scheme, String), CollectError> {
        let secret = self.secret()?;
        let shown = match (self.scheme, &self.user) {
            (Scheme::Basic, Some(user)) => format!("{user}:{secret}"),
            // Whoever has `id:key` sends the base64 of it.
            (Scheme::ApiKey, _) if secret.contains(':') => STANDARD.encode(secret),
            _ => secret.to_owned(),
        };
        Ok((self.scheme, shown))
    }
}

/// What the input is given.
pub(super) fn credentials(list: &[Credential]) -> Result<Credentials, CollectError> {
    let shown: Result<Vec<_>, _> = list.iter().map(Credential::shown).collect();
    Ok(Credentials::new(&shown?))
}

fn secret_of(disk: &dyn Disk, path: &Path) -> Result<String, String> {
    let wrong = |error: std::io::Error| error.to_string();
    let bytes = disk.open(path).and_then(|file| file.len()).map_err(wrong)?;
    if bytes > SECRET_BYTES_MAX {
        return Err(format!(
            "has {bytes} bytes, a secret has at most {SECRET_BYTES_MAX}"
        ));
    }
    let text = String::from_utf8(disk.read(path).map_err(wrong)?);
    let text = text.map_err(|_| "is not UTF-8".to_owned())?;
    match text.trim_end_matches(['\n', '\r']) {
        "" => Err("is empty".to_owned()),
        secret => Ok(secret.to_owned()),
    }
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Credential({:?}, {:?})", self.scheme, self.user)
    }
}
