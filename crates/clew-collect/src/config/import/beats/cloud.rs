//! `cloud.id` and `cloud.auth` of Beats, which say where a cluster of Elastic's cloud is and who asks there, instead of `hosts`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::config::import::Notes;
use crate::config::import::keys::Keys;

/// What they say.
#[derive(Debug, Default)]
pub(super) struct Cloud {
    /// The address of the cluster.
    pub(super) url: Option<String>,
    /// A user and a password.
    pub(super) login: Option<(String, String)>,
}

impl Cloud {
    /// Whether nothing is said.
    pub(super) fn is_empty(&self) -> bool {
        self.url.is_none() && self.login.is_none()
    }
}

/// Takes them.
pub(super) fn take(root: &mut Keys, notes: &mut Notes<'_>) -> Cloud {
    let path = root.path_of("cloud.id");
    let id = root.take_text("cloud.id");
    let url = id.as_deref().and_then(address);
    if id.is_some() && url.is_none() {
        notes.tell(&path, "is no `NAME:` and the base64 of `DOMAIN$ID`");
    }
    let path = root.path_of("cloud.auth");
    let login = root.take_text("cloud.auth");
    let parts = login.as_deref().and_then(|login| login.split_once(':'));
    if login.is_some() && parts.is_none() {
        notes.tell(&path, "is no `user:password`");
    }
    Cloud {
        url,
        login: parts.map(|(user, password)| (user.to_owned(), password.to_owned())),
    }
}

/// `NAME:` and the base64 of `DOMAIN[:PORT]$ID[:PORT]$KIBANA`: the cluster is at `https://ID.DOMAIN:PORT`.
pub(in crate::config::import) fn address(id: &str) -> Option<String> {
    let encoded = id.rsplit_once(':').map_or(id, |(_, encoded)| encoded);
    let decoded = String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?;
    let mut parts = decoded.split('$');
    let (domain, id) = (parts.next()?, parts.next()?);
    let (domain, usual) = domain.split_once(':').unwrap_or((domain, "443"));
    let (id, port) = id.split_once(':').unwrap_or((id, usual));
    let is_whole = !domain.is_empty() && !id.is_empty();
    is_whole.then(|| format!("https://{id}.{domain}:{port}"))
}
