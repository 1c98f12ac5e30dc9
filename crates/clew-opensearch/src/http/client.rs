//! Who is asking. Clients that were made for Elasticsearch refuse a server that does not present
//! itself as theirs: they read a version no older than their own, a header on every answer, and
//! their own media type. They are known by how they name themselves; everybody else is answered
//! as OpenSearch answers. Nothing but the presentation depends on it.

use axum::http::{HeaderMap, HeaderValue, header};

/// Media types of versioned JSON begin so.
const VENDOR_TYPE: &str = "application/vnd.elasticsearch+json";

/// The client of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Client {
    /// Anyone who takes OpenSearch's answers.
    #[default]
    OpenSearch,
    /// One that wants to meet Elasticsearch.
    Elastic {
        /// The client's version, where it tells.
        version: Option<Version>,
        /// The version of versioned JSON that it accepts.
        media: Option<u16>,
    },
}

/// A version of three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    major: u16,
    minor: u16,
    patch: u16,
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl Version {
    /// What both sides of the family still understand.
    pub(crate) const ANCESTOR: Version = Version {
        major: 7,
        minor: 10,
        patch: 2,
    };

    /// Whether requests and templates of this version have no types of documents.
    pub(crate) fn has_plain_paths(self) -> bool {
        self.major >= 7
    }

    /// Reads `7.17.28`, with anything behind it that is not a number; what is missing is 0.
    fn parse(text: &str) -> Option<Self> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
        let mut parts = text[..end.unwrap_or(text.len())].split('.');
        let mut next = || parts.next().filter(|part| !part.is_empty());
        let major = next()?.parse().ok()?;
        Some(Version {
            major,
            minor: next().map_or(Some(0), |part| part.parse().ok())?,
            patch: next().map_or(Some(0), |part| part.parse().ok())?,
        })
    }
}

impl Client {
    /// Reads the headers of a request.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let text = |name| {
            let value: Option<&HeaderValue> = headers.get(name);
            value.and_then(|value| value.to_str().ok()).unwrap_or("")
        };
        let media = vendor_version(text(header::ACCEPT));
        let sends = vendor_version(text(header::CONTENT_TYPE));
        let named = named(text(header::USER_AGENT));
        if named.is_none() && media.is_none() && sends.is_none() {
            return Client::OpenSearch;
        }
        let from_media = media.or(sends).map(|major| Version {
            major,
            minor: 0,
            patch: 0,
        });
        Client::Elastic {
            version: named.flatten().or(from_media),
            media,
        }
    }

    /// The headers that its answers have beside those of everyone.
    pub(crate) fn mark(&self, headers: &mut HeaderMap) {
        if *self != Client::OpenSearch {
            let product = HeaderValue::from_static("Elasticsearch");
            headers.insert("x-elastic-product", product);
        }
    }

    /// The media type of JSON, where it wants one of its own.
    pub(crate) fn json_type(&self) -> Option<HeaderValue> {
        let Client::Elastic {
            media: Some(version),
            ..
        } = self
        else {
            return None;
        };
        HeaderValue::from_str(&format!("{VENDOR_TYPE};compatible-with={version}")).ok()
    }
}

/// The version of the client that a user agent names, if it is made for Elasticsearch:
/// `Elastic-filebeat/7.17.28`, `elasticsearch-py/8.17.2`, `go-elasticsearch/8.9.0`.
fn named(agent: &str) -> Option<Option<Version>> {
    let products = || {
        agent
            .split_ascii_whitespace()
            .filter_map(|product| product.split_once('/'))
    };
    let (name, version) = products().find(|(name, _)| is_elastic(name))?;
    // A plugin has versions of its own; its program's are those of the servers.
    let version = match name {
        LOGSTASH_PLUGIN => products().find(|(name, _)| *name == "logstash")?.1,
        _ => version,
    };
    Some(Version::parse(version))
}

const LOGSTASH_PLUGIN: &str = "logstash-output-elasticsearch";

fn is_elastic(product: &str) -> bool {
    let starts_with = |start: &str| {
        let found = product.get(..start.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(start))
    };
    ["elastic-", "elasticsearch-", "go-elasticsearch"]
        .iter()
        .any(|start| starts_with(start) && !starts_with("elastic-transport"))
        || product.eq_ignore_ascii_case(LOGSTASH_PLUGIN)
}

/// How versioned media types begin.
const VENDOR_START: &str = "application/vnd.elasticsearch+";

/// The version behind `compatible-with` of versioned JSON.
fn vendor_version(media_types: &str) -> Option<u16> {
    // As nearly all are.
    if media_types.len() < VENDOR_START.len() {
        return None;
    }
    let wanted = media_types
        .split(',')
        .map(str::trim)
        .find(|one| one.starts_with(VENDOR_START))?;
    wanted
        .split(';')
        .filter_map(|part| part.trim().strip_prefix("compatible-with="))
        .find_map(|version| version.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(headers: &[(&'static str, &str)]) -> Client {
        let pairs = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        Client::of(&pairs.collect())
    }

    #[test]
    fn clients_are_known_by_their_names() {
        let cases = [
            (
                "Elastic-filebeat/7.17.28 (linux; amd64; 1f5a)",
                Some("7.17.28"),
            ),
            ("Elastic-metricbeat/8.11.0-SNAPSHOT (linux)", Some("8.11.0")),
            ("elasticsearch-py/7.10.1 (Python 3.11.7)", Some("7.10.1")),
            (
                "elasticsearch-py/8.17.2 (Python/3.11; elastic-transport/8.17.0)",
                Some("8.17.2"),
            ),
            (
                "go-elasticsearch/8.9.0 (linux amd64; Go 1.21)",
                Some("8.9.0"),
            ),
            ("elasticsearch-js/7.17 (linux)", Some("7.17.0")),
            (
                "logstash/7.17.1 (OS=Linux) logstash-output-elasticsearch/11.4.1",
                Some("7.17.1"),
            ),
            ("opensearch-py/2.8.0 (Python 3.11.7)", None),
            ("Fluent-Bit", None),
            ("Mozilla/5.0 (X11) Chrome/120.0", None),
            ("elastic-transport-python/8.1", None),
        ];
        for (agent, version) in cases {
            let found = match client(&[("user-agent", agent)]) {
                Client::OpenSearch => None,
                Client::Elastic { version, .. } => version.map(|version| version.to_string()),
            };
            assert_eq!(found.as_deref(), version, "{agent}");
        }
    }

    #[test]
    fn versioned_json_is_answered_in_its_version() {
        let accept = "application/vnd.elasticsearch+json; compatible-with=8";
        let shown = client(&[("accept", accept)]).json_type();
        assert_eq!(
            shown.unwrap(),
            "application/vnd.elasticsearch+json;compatible-with=8"
        );
        let plain = client(&[("user-agent", "elasticsearch-py/7.17.0")]);
        assert_eq!(plain.json_type(), None);
        assert_eq!(
            client(&[("accept", "application/json")]),
            Client::OpenSearch
        );
    }

    #[test]
    fn odd_versions_do_no_harm() {
        for text in ["", ".", "x", "99999999.0.0", "7.99999999", "7.1.99999999"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
        assert_eq!(Version::parse("7..1").unwrap().to_string(), "7.0.1");
    }
}
