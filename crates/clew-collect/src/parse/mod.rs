//! From a line to fields. Each format has its own file with one `parse` function, those that are columns a table in `columns/`; this
//! module knows their names and nothing of their insides.
//!
//! A parser takes a line or refuses it, it never fails: a refused line is sent as it is.

mod stamp;
mod token;

mod access;
mod alternatives;
mod apache_error;
mod apt_history;
mod auditd;
mod auth;
mod cef;
mod cisco;
mod columns;
mod compact;
mod dpkg;
mod elsewhere;
mod glog;
mod haproxy;
mod json_lines;
mod nginx_error;
mod plain;
mod postgresql;
mod syslog;

mod auto;

use std::str::FromStr;

pub use auto::Fit;
pub(crate) use auto::{choose, first_that_takes, tell_choice};
pub(crate) use clew_ingest::{Civil, SECOND_BYTES, Times};
pub(crate) use syslog::LEVELS;

use crate::json::Members;

/// A format the collector can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParserName {
    /// `/var/log/dpkg.log`.
    Dpkg,
    /// apt's `history.log`: one event for each stanza.
    AptHistory,
    /// apt's `term.log`: plain lines, with the times of its start and end lines.
    AptTerm,
    /// `update-alternatives`' log.
    Alternatives,
    /// RFC 3164, RFC 5424 or rsyslog's ISO 8601 lines.
    Syslog,
    /// Syslog lines with the users and addresses of sshd, sudo, su and PAM.
    Auth,
    /// nginx' combined or common access log.
    NginxAccess,
    /// nginx' error log.
    NginxError,
    /// Apache's combined, common or vhost-combined access log.
    ApacheAccess,
    /// Apache's error log, 2.2 and 2.4.
    ApacheError,
    /// glog's lines, and klog's.
    Glog,
    /// `PostgreSQL`'s log, as text.
    Postgresql,
    /// What `HAProxy` tells of requests and connections.
    Haproxy,
    /// The audit log of Linux.
    Auditd,
    /// What devices of security tell: CEF, and LEEF.
    Cef,
    /// Requests to load balancers of AWS.
    AwsElb,
    /// Requests to buckets of S3.
    AwsS3Access,
    /// Requests to `CloudFront`.
    AwsCloudfront,
    /// Flows in a network of AWS.
    AwsVpcflow,
    /// Requests to IIS, in the W3C's extended format.
    IisAccess,
    /// Requests to Squid.
    Squid,
    /// Requests to Envoy, also as Istio has them.
    Envoy,
    /// One JSON object a line.
    Json,
    /// Any text; a time at the start of the line is used.
    Plain,
}

impl ParserName {
    /// All formats, most specific first.
    pub const ALL: [ParserName; 24] = [
        ParserName::Dpkg,
        ParserName::AptHistory,
        ParserName::AptTerm,
        ParserName::Alternatives,
        ParserName::Syslog,
        ParserName::Auth,
        ParserName::NginxAccess,
        ParserName::NginxError,
        ParserName::ApacheAccess,
        ParserName::ApacheError,
        ParserName::Glog,
        ParserName::Postgresql,
        ParserName::Haproxy,
        ParserName::Auditd,
        ParserName::Cef,
        ParserName::AwsElb,
        ParserName::AwsS3Access,
        ParserName::AwsCloudfront,
        ParserName::AwsVpcflow,
        ParserName::IisAccess,
        ParserName::Squid,
        ParserName::Envoy,
        ParserName::Json,
        ParserName::Plain,
    ];

    /// The name, as it is given to `--parse` and found in `event.dataset`.
    pub fn as_str(self) -> &'static str {
        match self {
            ParserName::Dpkg => "dpkg",
            ParserName::AptHistory => "apt_history",
            ParserName::AptTerm => "apt_term",
            ParserName::Alternatives => "alternatives",
            ParserName::Syslog => "syslog",
            ParserName::Auth => "auth",
            ParserName::NginxAccess => "nginx_access",
            ParserName::NginxError => "nginx_error",
            ParserName::ApacheAccess => "apache_access",
            ParserName::ApacheError => "apache_error",
            ParserName::Glog => "glog",
            ParserName::Postgresql => "postgresql",
            ParserName::Haproxy => "haproxy",
            ParserName::Auditd => "auditd",
            ParserName::Cef => "cef",
            ParserName::AwsElb => "aws_elb",
            ParserName::AwsS3Access => "aws_s3access",
            ParserName::AwsCloudfront => "aws_cloudfront",
            ParserName::AwsVpcflow => "aws_vpcflow",
            ParserName::IisAccess => "iis_access",
            ParserName::Squid => "squid",
            ParserName::Envoy => "envoy",
            ParserName::Json => "json",
            ParserName::Plain => "plain",
        }
    }

    /// Tries to take a line. On refusal the record holds nothing worth keeping.
    pub(crate) fn parse(self, line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
        match self {
            ParserName::Dpkg => dpkg::parse(line, times, record),
            ParserName::AptHistory => apt_history::parse(line, times, record),
            ParserName::AptTerm => plain::parse_apt_term(line, times, record),
            ParserName::Alternatives => alternatives::parse(line, times, record),
            ParserName::Syslog => syslog::parse(line, times, record),
            ParserName::Auth => auth::parse(line, times, record),
            ParserName::NginxAccess | ParserName::ApacheAccess => {
                access::parse(line, times, record)
            }
            ParserName::NginxError => nginx_error::parse(line, times, record),
            ParserName::ApacheError => apache_error::parse(line, times, record),
            ParserName::Glog => glog::parse(line, times, record),
            ParserName::Postgresql => postgresql::parse(line, times, record),
            ParserName::Haproxy => haproxy::parse(line, times, record),
            ParserName::Auditd => auditd::parse(line, record),
            ParserName::Cef => cef::parse(line, times, record),
            ParserName::AwsElb => columns::parse(&columns::ELB, line, times, record),
            ParserName::AwsS3Access => columns::parse(&columns::S3_ACCESS, line, times, record),
            ParserName::AwsCloudfront => columns::parse(&columns::CLOUDFRONT, line, times, record),
            ParserName::AwsVpcflow => columns::parse(&columns::VPC_FLOW, line, times, record),
            ParserName::IisAccess => columns::parse(&columns::IIS, line, times, record),
            ParserName::Squid => columns::parse(&columns::SQUID, line, times, record),
            ParserName::Envoy => columns::parse(&columns::ENVOY, line, times, record),
            ParserName::Json => json_lines::parse(line, times, record),
            ParserName::Plain => plain::parse(line, times, record),
        }
    }
}

/// A parser name nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no parser is called {name:?}; there are: auto, {}", known_names())]
pub struct UnknownParser {
    /// The name as given.
    pub name: String,
}

pub(crate) fn known_names() -> String {
    ParserName::ALL.map(ParserName::as_str).join(", ")
}

impl FromStr for ParserName {
    type Err = UnknownParser;

    fn from_str(name: &str) -> Result<Self, UnknownParser> {
        let known = ParserName::ALL
            .into_iter()
            .find(|parser| parser.as_str() == name);
        let alias = match name {
            "nginx" | "combined" | "common" => Some(ParserName::NginxAccess),
            "apache" | "clf" => Some(ParserName::ApacheAccess),
            "klog" => Some(ParserName::Glog),
            "leef" => Some(ParserName::Cef),
            "iis" => Some(ParserName::IisAccess),
            "ndjson" | "jsonl" => Some(ParserName::Json),
            _ => None,
        };
        known.or(alias).ok_or_else(|| UnknownParser {
            name: name.to_owned(),
        })
    }
}

impl FromStr for crate::options::ParserChoice {
    type Err = UnknownParser;

    fn from_str(name: &str) -> Result<Self, UnknownParser> {
        match name {
            "auto" => Ok(Self::Auto),
            _ => name.parse().map(Self::Named),
        }
    }
}

/// What a parser found in a line. Reused from line to line.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// When it happened; `None` means that the line does not say.
    pub(crate) timestamp_ms: Option<i64>,
    /// `log.level`.
    pub(crate) level: Option<&'static str>,
    /// Members of `event` beside `dataset`.
    pub(crate) event: Members,
    /// Members of `log` beside `file`, `offset`, `level` and `flags`.
    pub(crate) log: Members,
    /// Members of the document's root; never `event`, `log`, `host` or `message`.
    pub(crate) fields: Members,
}

impl Record {
    pub(crate) fn clear(&mut self) {
        self.timestamp_ms = None;
        self.level = None;
        self.event.clear();
        self.log.clear();
        self.fields.clear();
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Civil, ParserName, Record, Times};
    use jiff::tz::TimeZone;

    /// What a parser makes of a line, as JSON text: time, level, then all members; UTC, and the
    /// newest time is 2026-06-30.
    pub(crate) fn parsed(parser: ParserName, line: &str) -> Option<String> {
        let mut times = Times::new(TimeZone::UTC);
        times.newest_ms = 1_782_777_600_000;
        let mut record = Record::default();
        parser.parse(line, &mut times, &mut record)?;
        let mut out = Vec::new();
        if let Some(ms) = record.timestamp_ms {
            Civil::from_utc_ms(ms).push_iso(&mut out);
        }
        out.extend_from_slice(format!(" {} ", record.level.unwrap_or("-")).as_bytes());
        let parts = [("event", &record.event), ("log", &record.log)];
        let mut members: Vec<String> = parts
            .iter()
            .filter(|(_, members)| !members.bytes().is_empty())
            .map(|(name, members)| {
                format!(
                    "\"{name}\":{{{}}}",
                    String::from_utf8_lossy(members.bytes())
                )
            })
            .collect();
        if !record.fields.bytes().is_empty() {
            members.push(String::from_utf8_lossy(record.fields.bytes()).into_owned());
        }
        let object = format!("{{{}}}", members.join(","));
        serde_json::from_str::<serde_json::Value>(&object).expect("parsers write valid JSON");
        Some(String::from_utf8(out).unwrap() + &object)
    }

    /// Checks a line against the text [`parsed`] makes; `None` for a refusal.
    #[track_caller]
    pub(crate) fn check(parser: ParserName, line: &str, expected: Option<&str>) {
        assert_eq!(parsed(parser, line).as_deref(), expected, "{line}");
        // No prefix of a line may panic, and no byte may be needed that is not there.
        for end in (0..line.len()).filter(|end| line.is_char_boundary(*end)) {
            parsed(parser, &line[..end]);
        }
    }
}
