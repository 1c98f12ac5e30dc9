//! By which names the server may be called. A page can have its own name resolve to the user's machine
//! (DNS rebinding), and is then of the same origin as the server; the name is still the page's.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use anyhow::bail;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Version, header, request};

use super::{bad_request, shortened};
use crate::http::config::HttpConfig;
use crate::http::refusal::Refusal;

/// The names of one server.
#[derive(Debug)]
pub(super) struct Hosts {
    any: bool,
    /// Lower case, without a dot at the end.
    names: Vec<String>,
    /// Each with the dot that it begins with.
    suffixes: Vec<String>,
    /// Names without a dot are allowed: networks of containers give them. Only beyond loopback: they are
    /// given by the network, and there whoever is on it reaches the server without a browser.
    single_labels: bool,
}

impl Hosts {
    /// # Errors
    /// When a pattern is none.
    pub(super) fn new(config: &HttpConfig, machine: &str) -> anyhow::Result<Self> {
        let mut hosts = Hosts {
            any: false,
            names: vec!["localhost".to_string(), plain(machine)],
            suffixes: Vec::new(),
            single_labels: !config.address.ip().is_loopback(),
        };
        for pattern in &config.hosts_allowed {
            let lower = plain(pattern);
            match lower.strip_prefix('*') {
                Some("") if pattern == "*" => hosts.any = true,
                Some(suffix) if suffix.strip_prefix('.').is_some_and(is_name) => {
                    hosts.suffixes.push(suffix.to_string());
                }
                None if is_name(&lower) => hosts.names.push(lower),
                _ => bail!(
                    "[http.hosts_allowed] has [{pattern}], which is neither a name without a port, \
                     nor *.suffix, nor *"
                ),
            }
        }
        Ok(hosts)
    }

    /// Whether the client called the server by an IPv4 address or one of its names, written as programs write it: what
    /// [`Hosts::check`] would allow, told with a tenth of the work, as each request asks.
    pub(super) fn know(&self, head: &request::Parts) -> bool {
        let mut values = head.headers.get_all(header::HOST).iter();
        let (Some(value), None, None) = (values.next(), values.next(), head.uri.authority()) else {
            return false;
        };
        let Ok(text) = value.to_str() else {
            return false;
        };
        let is_port = |port: &str| {
            port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
        };
        let name = match text.split_once(':') {
            Some((name, port)) if is_port(port) => name,
            Some(_) => return false,
            None => text,
        };
        self.names.iter().any(|own| own == name) || name.parse::<Ipv4Addr>().is_ok()
    }

    /// The name and port that the client called, which only HTTP/1.0 may leave out.
    pub(super) fn check(&self, head: &request::Parts) -> Result<Option<Authority>, Refusal> {
        let host = read(&head.headers, head.version)?;
        for called in host.iter().chain(head.uri.authority()) {
            if !self.allow(called.host()) {
                return Err(Refusal::forbidden(
                    "host",
                    format!(
                        "[{}] is no name of this server; if it should be, add it to \
                         [http.hosts_allowed]",
                        shortened(called.host())
                    ),
                ));
            }
        }
        Ok(head.uri.authority().cloned().or(host))
    }

    fn allow(&self, host: &str) -> bool {
        // A page's address would have to be the server's already.
        if self.any || address(host).is_some() {
            return true;
        }
        let host = host.strip_suffix('.').unwrap_or(host);
        if self
            .names
            .iter()
            .any(|name| name.eq_ignore_ascii_case(host))
        {
            return true;
        }
        let host = host.to_ascii_lowercase();
        self.suffixes.iter().any(|suffix| host.ends_with(suffix))
            || (self.single_labels && !host.contains('.'))
    }
}

/// The address that a host is written as.
fn address(host: &str) -> Option<IpAddr> {
    match host
        .strip_prefix('[')
        .and_then(|inner| inner.strip_suffix(']'))
    {
        Some(inner) => inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => host.parse().ok(),
    }
}

fn plain(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    !name.is_empty() && name.bytes().all(allowed)
}

fn read(headers: &HeaderMap, version: Version) -> Result<Option<Authority>, Refusal> {
    let mut values = headers.get_all(header::HOST).iter();
    let Some(value) = values.next() else {
        return match version {
            Version::HTTP_10 => Ok(None),
            _ => Err(bad_request("the request has no Host header")),
        };
    };
    if values.next().is_some() {
        return Err(bad_request("the request has more than one Host header"));
    }
    let parsed = Authority::try_from(value.as_bytes()).ok();
    // `user@host` is an authority and no host.
    let parsed = parsed.filter(|host| !host.as_str().contains('@') && !host.host().is_empty());
    match parsed {
        Some(host) => Ok(Some(host)),
        None => {
            let text = String::from_utf8_lossy(value.as_bytes());
            let text = shortened(&text);
            Err(bad_request(format!("the Host header [{text}] is no host")))
        }
    }
}
