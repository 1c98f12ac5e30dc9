//! Where another cluster is: `scheme://host:port/prefix`.

use axum::http::Uri;

/// Where another cluster is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClusterPlace {
    /// `http` or `https`.
    pub(super) scheme: &'static str,
    /// A name or an address; one of the sixth version stands in brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// What stands before every path; empty, or with a slash in front and none behind.
    pub(super) prefix: String,
}

impl ClusterPlace {
    /// Reads one that has all that it needs, and nothing besides: neither a login nor a query.
    pub(super) fn of(text: &str) -> Option<ClusterPlace> {
        let address: Uri = text.parse().ok()?;
        let scheme = match address.scheme_str()? {
            "http" => "http",
            "https" => "https",
            _ => return None,
        };
        let has_login = address.authority()?.as_str().contains('@');
        if has_login || address.query().is_some() || text.contains('#') {
            return None;
        }
        let host = address.host().filter(|host| !host.is_empty())?;
        Some(ClusterPlace {
            scheme,
            host: host.to_string(),
            port: address.port_u16()?,
            prefix: address.path().trim_end_matches('/').to_string(),
        })
    }

    /// Without what stands before paths, as errors name it.
    pub(super) fn root(&self) -> String {
        format!("{}://{}:{}", self.scheme, self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_a_scheme_a_host_and_a_port() {
        let read = |text: &str| {
            let place = ClusterPlace::of(text)?;
            let root = place.root();
            Some(format!("{root} {}", place.prefix))
        };
        for (text, place) in [
            ("http://a:9200", Some("http://a:9200 ")),
            ("https://a.b:443/", Some("https://a.b:443 ")),
            ("http://[::1]:9/x/y/", Some("http://[::1]:9 /x/y")),
            ("a:9200", None),
            ("//a:9200", None),
            ("http://a", None),
            ("http://:9", None),
            ("http://a:99999", None),
            ("ftp://a:9", None),
            ("http://u:p@a:9", None),
            ("http://a:9/?x", None),
            ("http://a:9/#x", None),
            ("http://a b:9", None),
            ("", None),
        ] {
            assert_eq!(read(text).as_deref(), place, "{text}");
        }
    }
}
