//! Who may post events: anybody, or those that show one of some credentials.
//!
//! Only digests of credentials are kept, and what is shown is compared with all of them in a time that says nothing about how
//! much of it was right.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::Response;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use sha2::{Digest, Sha256};

/// How a credential is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scheme {
    /// A user's name and password.
    Basic,
    /// A token.
    Bearer,
    /// A key as Elasticsearch gives it.
    ApiKey,
}

/// The longest header that is looked at.
const HEADER_BYTES_MAX: usize = 8 << 10;

type Hash = [u8; 32];

/// Those that are let in. Clones share one state.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials(Arc<[(Scheme, Hash)]>);

impl Credentials {
    /// Lets in who shows one of these; anybody if there are none. The secret of [`Scheme::Basic`] is `user:password`.
    pub(crate) fn new(secrets: &[(Scheme, String)]) -> Self {
        let hashed =
            |(scheme, secret): &(Scheme, String)| (*scheme, hash(*scheme, secret.as_bytes()));
        Credentials(secrets.iter().map(hashed).collect())
    }

    /// Whether anybody is let in.
    pub(crate) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a request shows one of them.
    pub(super) fn admit(&self, headers: &HeaderMap) -> bool {
        if self.are_none() {
            return true;
        }
        let Some(shown) = headers.get(AUTHORIZATION).and_then(shown) else {
            return false;
        };
        let is_one = |is_one: bool, (_, known): &(Scheme, Hash)| is_one | is_same(known, &shown);
        self.0.iter().fold(false, is_one)
    }

    /// Adds to a refusal what is asked for.
    pub(super) fn ask<B>(&self, response: &mut Response<B>) {
        let schemes = [
            (Scheme::Basic, "Basic realm=\"clew\", charset=\"UTF-8\""),
            (Scheme::Bearer, "Bearer realm=\"clew\""),
            (Scheme::ApiKey, "ApiKey"),
        ];
        for (scheme, asked) in schemes {
            if self.0.iter().any(|(known, _)| *known == scheme) {
                let asked = HeaderValue::from_static(asked);
                response.headers_mut().append(WWW_AUTHENTICATE, asked);
            }
        }
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Credentials({})", self.0.len())
    }
}

/// What a header shows.
fn shown(header: &HeaderValue) -> Option<Hash> {
    let text = header.to_str().ok()?;
    if text.len() > HEADER_BYTES_MAX {
        return None;
    }
    let (scheme, secret) = text.split_once(' ')?;
    let secret = secret.trim();
    if scheme.eq_ignore_ascii_case("basic") {
        let login = STANDARD.decode(secret).ok()?;
        Some(hash(Scheme::Basic, &login))
    } else if scheme.eq_ignore_ascii_case("bearer") {
        Some(hash(Scheme::Bearer, secret.as_bytes()))
    } else if scheme.eq_ignore_ascii_case("apikey") {
        Some(hash(Scheme::ApiKey, secret.as_bytes()))
    } else {
        None
    }
}

fn hash(scheme: Scheme, secret: &[u8]) -> Hash {
    let kind: &[u8] = match scheme {
        Scheme::Basic => b"basic:",
        Scheme::Bearer => b"bearer:",
        Scheme::ApiKey => b"apikey:",
    };
    Sha256::new()
        .chain_update(kind)
        .chain_update(secret)
        .finalize()
        .into()
}

/// Looks at every byte, whatever the ones before are.
fn is_same(left: &Hash, right: &Hash) -> bool {
    let bits = left.iter().zip(right).map(|(left, right)| left ^ right);
    // What has been found out so far is nothing to leave off for.
    let different = bits.fold(0, |all, bits| std::hint::black_box(all | bits));
    different == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_shows_one_is_let_in_and_nobody_else() {
        let secrets = [
            (Scheme::Basic, "shipper:s:cret é".to_owned()),
            (Scheme::Bearer, "token".to_owned()),
            (Scheme::ApiKey, STANDARD.encode("id:key")),
        ];
        let credentials = Credentials::new(&secrets);
        let check = |header: Option<&str>, is_let_in: bool| {
            let mut headers = HeaderMap::new();
            if let Some(header) = header {
                headers.insert(AUTHORIZATION, header.parse().unwrap());
            }
            assert_eq!(credentials.admit(&headers), is_let_in, "{header:?}");
            assert!(Credentials::default().admit(&headers), "{header:?}");
        };
        let basic = |login: &str| format!("Basic {}", STANDARD.encode(login));
        check(Some(&basic("shipper:s:cret é")), true);
        check(
            Some(&basic("shipper:s:cret é").replace("Basic", "basic")),
            true,
        );
        check(Some("Bearer token"), true);
        check(Some("BEARER  token "), true);
        check(Some(&format!("ApiKey {}", STANDARD.encode("id:key"))), true);
        check(None, false);
        check(Some(""), false);
        check(Some("token"), false);
        check(Some("Bearer"), false);
        check(Some("Bearer toke"), false);
        check(Some("Bearer tokenn"), false);
        check(Some("ApiKey token"), false);
        check(
            Some("Bearer shipper:s:cret é".replace('é', "e").as_str()),
            false,
        );
        check(Some("Basic token"), false);
        check(Some("Basic !"), false);
        check(Some(&basic("shipper:")), false);
        check(
            Some(&format!("Bearer {}", "x".repeat(HEADER_BYTES_MAX))),
            false,
        );
    }

    #[test]
    fn what_is_asked_for_is_what_there_is() {
        let ask = |secrets: &[(Scheme, String)]| {
            let mut response = Response::new(());
            Credentials::new(secrets).ask(&mut response);
            response.headers().get_all(WWW_AUTHENTICATE).iter().count()
        };
        assert_eq!(
            ask(&[
                (Scheme::Bearer, "a".to_owned()),
                (Scheme::Bearer, "b".to_owned())
            ]),
            1
        );
        assert_eq!(
            ask(&[
                (Scheme::Basic, "a:b".to_owned()),
                (Scheme::ApiKey, "b".to_owned())
            ]),
            2
        );
    }
}
