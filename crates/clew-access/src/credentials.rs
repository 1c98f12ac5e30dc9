//! What somebody says to be let in, as headers of requests say it.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::error::Refused;

/// Longest header that is looked at.
const HEADER_BYTES_MAX: usize = 4 << 10;

/// A user's name and password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub(crate) user: String,
    pub(crate) password: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl Credentials {
    /// A user's name and password.
    pub fn new(user: &str, password: &str) -> Self {
        Credentials {
            user: user.to_string(),
            password: password.to_string(),
        }
    }

    /// Reads the value of an `authorization` header: `Basic` and base64 of `user:password`, `Bearer` and that text as it is, or
    /// the base64 alone.
    ///
    /// # Errors
    /// [`Refused::Malformed`] when it is longer than 4 KiB, no base64, no UTF-8, or has no colon.
    pub fn read(header: &[u8]) -> Result<Self, Refused> {
        if header.len() > HEADER_BYTES_MAX {
            return Err(Refused::Malformed);
        }
        let header = std::str::from_utf8(header).map_err(|_| Refused::Malformed)?;
        let header = header.trim();
        let decoded = |text: &str| {
            let bytes = BASE64_STANDARD.decode(text.trim()).ok();
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            text.ok_or(Refused::Malformed)
        };
        let said = match header.split_once(' ') {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("bearer") => {
                rest.trim().to_string()
            }
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("basic") => decoded(rest)?,
            Some(_) => return Err(Refused::Malformed),
            None => decoded(header)?,
        };
        let (user, password) = said.split_once(':').ok_or(Refused::Malformed)?;
        Ok(Credentials::new(user, password))
    }

    /// The header that says this, without a scheme.
    pub fn base64(&self) -> String {
        BASE64_STANDARD.encode(format!("{}:{}", self.user, self.password))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_way_to_say_it_is_read() {
        let alice = Credentials::new("alice", "a:b c");
        let base64 = alice.base64();
        for header in [
            base64.clone(),
            format!("Basic {base64}"),
            format!("basic  {base64}"),
            "Bearer alice:a:b c".to_string(),
        ] {
            assert_eq!(Credentials::read(header.as_bytes()), Ok(alice.clone()));
        }
        for header in [
            "",
            "Basic",
            "Bearer token",
            "Digest x",
            "Basic !",
            "YWxpY2U=",
        ] {
            let read = Credentials::read(header.as_bytes());
            assert_eq!(read, Err(Refused::Malformed), "{header}");
        }
        let long = "x".repeat(HEADER_BYTES_MAX + 1);
        assert_eq!(Credentials::read(long.as_bytes()), Err(Refused::Malformed));
        assert!(!format!("{alice:?}").contains("a:b"));
    }

    proptest! {
        #[test]
        fn any_header_is_read_or_refused(header in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = Credentials::read(&header);
        }

        #[test]
        fn what_is_written_is_read(user in "[a-z]{1,9}", password in "\\PC{0,40}") {
            let said = Credentials::new(&user, &password);
            prop_assert_eq!(Credentials::read(said.base64().as_bytes()), Ok(said));
        }
    }
}
