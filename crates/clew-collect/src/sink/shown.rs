//! Addresses as logs and errors may show them.

/// An address without a login in it and without what is asked of it: both may hold secrets.
pub fn shown_url(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let host = authority.rsplit_once('@');
    let host = host.map_or(authority, |(_, host)| host);
    format!("{scheme}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_an_address_are_not_shown() {
        for (url, shown) in [
            ("http://h:9200/_bulk", "http://h:9200/_bulk"),
            ("https://u:p@h/a@b", "https://h/a@b"),
            ("https://u:p@[::1]:9200", "https://[::1]:9200"),
            ("http://h/x?token=secret", "http://h/x"),
            ("http://u:p@h?token=secret#x", "http://h"),
            ("u:p@h/x", "h/x"),
            ("", ""),
        ] {
            assert_eq!(shown_url(url), shown, "{url}");
        }
    }
}
