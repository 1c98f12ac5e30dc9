//! `community_id`: the Community ID flow hash, version 1: one name for both directions of a connection.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use sha1::{Digest, Sha1};

use crate::document::Document;
use crate::error::{DefinitionError, Failure, wrong_type};
use crate::java;
use crate::members::{flag, optional, text};

/// Types of ICMP messages that answer each other.
const ANSWERS: [(u16, u16); 5] = [(8, 0), (13, 14), (15, 16), (17, 18), (10, 9)];
const ANSWERS_V6: [(u16, u16); 6] = [
    (128, 129),
    (130, 131),
    (133, 134),
    (135, 136),
    (139, 140),
    (144, 145),
];
const ICMP_MAX: u16 = 255;

/// The protocols that have an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Icmp = 1,
    Tcp = 6,
    Udp = 17,
    IcmpV6 = 58,
    Sctp = 132,
}

impl Protocol {
    const ALL: [(Protocol, &str); 5] = [
        (Protocol::Icmp, "icmp"),
        (Protocol::Tcp, "tcp"),
        (Protocol::Udp, "udp"),
        (Protocol::IcmpV6, "ipv6-icmp"),
        (Protocol::Sctp, "sctp"),
    ];

    /// The types of messages that answer each other; none where there are ports.
    fn answers(self) -> Option<&'static [(u16, u16)]> {
        match self {
            Protocol::Icmp => Some(&ANSWERS),
            Protocol::IcmpV6 => Some(&ANSWERS_V6),
            Protocol::Tcp | Protocol::Udp | Protocol::Sctp => None,
        }
    }
}

/// The step: where the parts of a connection stand.
#[derive(Debug)]
pub(crate) struct CommunityId {
    source_ip: String,
    source_port: Option<String>,
    destination_ip: String,
    destination_port: Option<String>,
    number: Option<String>,
    protocol: Option<String>,
    icmp_type: Option<String>,
    icmp_code: Option<String>,
    seed: u16,
    target: String,
    ignore_missing: bool,
}

/// Two numbers that go into the hash, and whether the other direction has them the other way around.
struct Ports {
    source: u16,
    destination: u16,
    two_ways: bool,
}

impl CommunityId {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let seed = match config.remove("seed") {
            None | Some(Value::Null) => Some(0),
            Some(Value::String(text)) => text.parse().ok(),
            Some(other) => other.as_u64().and_then(|seed| u16::try_from(seed).ok()),
        };
        Ok(CommunityId {
            source_ip: text(config, "source_ip_field")?,
            source_port: optional(config, "source_port_field")?,
            destination_ip: text(config, "destination_ip_field")?,
            destination_port: optional(config, "destination_port_field")?,
            number: optional(config, "iana_protocol_number_field")?,
            protocol: optional(config, "protocol_field")?,
            icmp_type: optional(config, "icmp_type_field")?,
            icmp_code: optional(config, "icmp_code_field")?,
            seed: seed.ok_or_else(|| {
                DefinitionError::refused("seed", "seed must be between 0 and 65535")
            })?,
            target: optional(config, "target_field")?.unwrap_or_else(|| "community_id".to_string()),
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let Some(identity) = self.identity(document)? else {
            return Ok(());
        };
        document.set(&self.target, identity.into())
    }

    /// The identity of the connection; none where a part is missing that may be.
    fn identity(&self, document: &Document) -> Result<Option<String>, Failure> {
        if self.source_ip.is_empty() || self.destination_ip.is_empty() {
            return self.lacks(
                "both source ip field path and destination ip field path cannot be null nor empty",
            );
        }
        let mut ends = Vec::new();
        for path in [&self.source_ip, &self.destination_ip] {
            match words(document, Some(path))? {
                Some(written) => ends.push(address(path, &written)?),
                None => {
                    return self.lacks(&format!(
                        "ip address in the field [{path}] is null or empty"
                    ));
                }
            }
        }
        let (source, destination) = (ends[0], ends[1]);
        if source.is_ipv4() != destination.is_ipv4() {
            return Err(Failure::unfit(
                "source ip and destination ip must have same format",
            ));
        }
        let Some(protocol) = self.protocol(document)? else {
            let path = |path: &Option<String>| path.clone().unwrap_or_else(|| "null".to_string());
            return self.lacks(&format!(
                "cannot resolve protocol by neither iana protocol number field [{}] nor protocol \
                 name field [{}]",
                path(&self.number),
                path(&self.protocol)
            ));
        };
        let ports = match protocol.answers() {
            None => self.ports(document),
            Some(answers) => self.messages(document, answers),
        };
        match ports {
            Ok(ports) => Ok(Some(self.hash((source, destination), protocol, &ports))),
            Err(Lack::Missing(what)) => self.lacks(&what),
            Err(Lack::Wrong(failure)) => Err(failure),
        }
    }

    /// What becomes of a document that lacks something.
    fn lacks(&self, what: &str) -> Result<Option<String>, Failure> {
        if self.ignore_missing {
            return Ok(None);
        }
        Err(Failure::unfit(what))
    }

    fn protocol(&self, document: &Document) -> Result<Option<Protocol>, Failure> {
        if let Some(number) = number(document, self.number.as_deref())? {
            let known = Protocol::ALL.into_iter().map(|(protocol, _)| protocol);
            let found = known
                .into_iter()
                .find(|protocol| i64::from(*protocol as u8) == number);
            return found.map(Some).ok_or_else(|| {
                Failure::unfit(format!("unsupported iana protocol number [{number}]"))
            });
        }
        let Some(name) = words(document, self.protocol.as_deref())? else {
            return Ok(None);
        };
        let known = Protocol::ALL
            .into_iter()
            .find(|(_, known)| known.eq_ignore_ascii_case(&name));
        let (protocol, _) =
            known.ok_or_else(|| Failure::unfit(format!("unsupported protocol [{name}]")))?;
        Ok(Some(protocol))
    }

    fn ports(&self, document: &Document) -> Result<Ports, Lack> {
        let paths = [&self.source_port, &self.destination_port];
        if paths
            .iter()
            .any(|path| path.as_deref().unwrap_or_default().is_empty())
        {
            return Err(Lack::missing(
                "both source port and destination port field path cannot be null nor empty",
            ));
        }
        let mut ports = [0; 2];
        for (path, port) in paths.into_iter().flatten().zip(&mut ports) {
            let Some(given) = number(document, Some(path))? else {
                return Err(Lack::missing(format!(
                    "both source port and destination port cannot be null, but port in the field \
                     path [{path}] is null"
                )));
            };
            *port = u16::try_from(given).map_err(|_| {
                Failure::unfit(format!(
                    "both source port and destination port must be between 0 and 65535, but port \
                     in the field path [{path}] is [{given}]"
                ))
            })?;
        }
        Ok(Ports {
            source: ports[0],
            destination: ports[1],
            two_ways: true,
        })
    }

    /// The type of a message in place of a port, and that of its answer or its code as the other.
    fn messages(&self, document: &Document, answers: &[(u16, u16)]) -> Result<Ports, Lack> {
        let part = |path: &Option<String>, what: &str| {
            let path = path.as_deref().filter(|path| !path.is_empty());
            if path.is_none() {
                return Err(Lack::missing(format!(
                    "icmp message {what} field path cannot be null nor empty"
                )));
            }
            let Some(given) = number(document, path)? else {
                return Err(Lack::missing(format!("icmp message {what} cannot be null")));
            };
            let known = u16::try_from(given).ok().filter(|given| *given <= ICMP_MAX);
            known.ok_or_else(|| {
                Failure::unfit(format!("invalid icmp message {what} [{given}]")).into()
            })
        };
        let kind = part(&self.icmp_type, "type")?;
        let answer = answers.iter().find_map(|(one, other)| match kind {
            _ if kind == *one => Some(*other),
            _ if kind == *other => Some(*one),
            _ => None,
        });
        Ok(Ports {
            source: kind,
            destination: match answer {
                Some(answer) => answer,
                None => part(&self.icmp_code, "code")?,
            },
            two_ways: answer.is_some(),
        })
    }

    fn hash(&self, ends: (IpAddr, IpAddr), protocol: Protocol, ports: &Ports) -> String {
        let ordered = (ends.0, ports.source) <= (ends.1, ports.destination);
        let as_sent = ordered || !ports.two_ways;
        let mut parts = [(ends.0, ports.source), (ends.1, ports.destination)];
        if !as_sent {
            parts.reverse();
        }
        let mut hasher = Sha1::new();
        hasher.update(self.seed.to_be_bytes());
        for (ip, _) in parts {
            match ip {
                IpAddr::V4(ip) => hasher.update(ip.octets()),
                IpAddr::V6(ip) => hasher.update(ip.octets()),
            }
        }
        hasher.update([protocol as u8, 0]);
        for (_, port) in parts {
            hasher.update(port.to_be_bytes());
        }
        format!("1:{}", STANDARD.encode(hasher.finalize()))
    }
}

/// Why there are no ports.
enum Lack {
    Missing(String),
    Wrong(Failure),
}

impl Lack {
    fn missing(what: impl Into<String>) -> Self {
        Lack::Missing(what.into())
    }
}

impl From<Failure> for Lack {
    fn from(failure: Failure) -> Self {
        Lack::Wrong(failure)
    }
}

fn address(path: &str, written: &str) -> Result<IpAddr, Failure> {
    written.parse().map_err(|_| {
        Failure::unfit(format!(
            "ip address [{written}] in the field [{path}] is not a valid ipv4/ipv6 address"
        ))
    })
}

/// The text at a path, if there is one.
fn words(document: &Document, path: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return Ok(None);
    };
    match document.get(path) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
        Some(other) => Err(wrong_type(path, &other, java::TEXT)),
    }
}

/// The number at a path, if there is one.
fn number(document: &Document, path: Option<&str>) -> Result<Option<i64>, Failure> {
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return Ok(None);
    };
    match document.get(path) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_i64() {
            Some(number) => Ok(Some(number)),
            None => Err(wrong_type(path, &value, java::NUMBER)),
        },
    }
}
