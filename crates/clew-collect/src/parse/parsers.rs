//! The formats that there are, in one list: what each is called, when `auto` tries it, and what reads it.

use std::str::FromStr;

use super::columns::{self, Format, Object};
use super::joining::Joining;
use super::stamp::begins_with_day;
use super::{
    Record, Times, access, alternatives, apache_error, apt_history, auditd, auth, cef, dpkg, glog,
    haproxy, health_app, icinga, iptables, java, json_lines, logcat, mongodb, mysql_error,
    mysql_slowlog, nats, nginx_error, openstack, plain, postfix, postgresql, proxifier, rabbitmq,
    redis, supercomputer, syslog, windows_cbs,
};

/// What `auto` does with a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It is tried.
    Tried,
    /// It is tried, before the format that takes its lines, too, and finds less in them.
    Before(ParserName),
    /// The format that takes the same lines is tried for it.
    By(ParserName),
    /// Only a name asks for it, of the format or of a file.
    Named,
}

/// What there is to know of a format.
struct Entry {
    name: &'static str,
    aliases: &'static [&'static str],
    turn: Turn,
    reader: Reader,
    joining: Joining,
}

/// What takes a line of a format.
enum Reader {
    Line(fn(&str, &mut Times, &mut Record) -> Option<()>),
    Columns(&'static Format),
    Object(&'static Object),
}

/// How lines are joined, where the list says nothing of it.
macro_rules! joining_or_lines {
    () => {
        Joining::Lines
    };
    ($joining:expr) => {
        $joining
    };
}

/// The list, in the order in which `auto` tries what takes as many lines.
macro_rules! parsers {
    ($($(#[$doc:meta])* $parser:ident: $name:literal $aliases:tt, $turn:expr, $reader:expr $(, $joining:expr)?;)*) => {
        /// A format the collector can read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ParserName {
            $($(#[$doc])* $parser,)*
        }

        impl ParserName {
            /// All formats, in the order in which `auto` tries them.
            pub const ALL: [ParserName; [$($name),*].len()] = [$(ParserName::$parser),*];

            fn entry(self) -> &'static Entry {
                match self {
                    $(ParserName::$parser => {
                        static ENTRY: Entry = Entry {
                            name: $name,
                            aliases: &$aliases,
                            turn: $turn,
                            reader: $reader,
                            joining: joining_or_lines!($($joining)?),
                        };
                        &ENTRY
                    })*
                }
            }
        }
    };
}

parsers! {
    /// `/var/log/dpkg.log`.
    Dpkg: "dpkg" [], Turn::Tried, Reader::Line(dpkg::parse);
    /// apt's `history.log`: one event for each stanza.
    AptHistory: "apt_history" [], Turn::Tried, Reader::Line(apt_history::parse), Joining::Stanzas;
    /// apt's `term.log`: plain lines, with the times of its start and end lines.
    AptTerm: "apt_term" [], Turn::Named, Reader::Line(plain::parse_apt_term);
    /// `update-alternatives`' log.
    Alternatives: "alternatives" [], Turn::Tried, Reader::Line(alternatives::parse);
    /// MongoDB's log.
    Mongodb: "mongodb" [], Turn::Before(ParserName::Json), Reader::Line(mongodb::parse);
    /// `PostgreSQL`'s log, as JSON.
    PostgresqlJson: "postgresql_json" [], Turn::Before(ParserName::Json),
        Reader::Object(&columns::POSTGRESQL);
    /// Requests to Traefik, as JSON.
    TraefikJson: "traefik_json" [], Turn::Before(ParserName::Json),
        Reader::Object(&columns::TRAEFIK_JSON);
    /// One JSON object a line.
    Json: "json" ["ndjson", "jsonl"], Turn::Tried, Reader::Line(json_lines::parse);
    /// Requests to Traefik, in its common format.
    Traefik: "traefik" ["traefik_access"], Turn::Before(ParserName::NginxAccess),
        Reader::Columns(&columns::TRAEFIK);
    /// nginx' combined or common access log.
    NginxAccess: "nginx_access" ["nginx", "combined", "common"], Turn::Tried,
        Reader::Line(access::parse);
    /// Apache's combined, common or vhost-combined access log.
    ApacheAccess: "apache_access" ["apache", "clf"], Turn::By(ParserName::NginxAccess),
        Reader::Line(access::parse);
    /// nginx' error log.
    NginxError: "nginx_error" [], Turn::Tried, Reader::Line(nginx_error::parse),
        Joining::Begun(nginx_error::begins);
    /// Apache's error log, 2.2 and 2.4.
    ApacheError: "apache_error" [], Turn::Tried, Reader::Line(apache_error::parse);
    /// glog's lines, and klog's.
    Glog: "glog" ["klog"], Turn::Tried, Reader::Line(glog::parse);
    /// `PostgreSQL`'s log, as text.
    Postgresql: "postgresql" [], Turn::Tried, Reader::Line(postgresql::parse),
        Joining::Begun(postgresql::begins);
    /// `PostgreSQL`'s log, as CSV.
    PostgresqlCsv: "postgresql_csv" [], Turn::Tried, Reader::Line(postgresql::parse_csv),
        Joining::Quoted(postgresql::begins_csv);
    /// The error log of MySQL and MariaDB.
    MysqlError: "mysql_error" ["mariadb_error"], Turn::Tried, Reader::Line(mysql_error::parse),
        Joining::Begun(mysql_error::begins);
    /// The log of slow queries of MySQL and MariaDB.
    MysqlSlowlog: "mysql_slowlog" ["mariadb_slowlog"], Turn::Tried,
        Reader::Line(mysql_slowlog::parse),
        Joining::Headed { head: mysql_slowlog::is_head, name: mysql_slowlog::is_name };
    /// The log of Redis.
    Redis: "redis" ["valkey"], Turn::Tried, Reader::Line(redis::parse),
        Joining::Begun(redis::begins);
    /// `RabbitMQ`'s log.
    Rabbitmq: "rabbitmq" [], Turn::Tried, Reader::Line(rabbitmq::parse),
        Joining::Begun(begins_with_day);
    /// The log of Logstash, as text.
    Logstash: "logstash" [], Turn::Before(ParserName::Elasticsearch),
        Reader::Line(java::parse_logstash), Joining::Begun(java::begins_with_time);
    /// The logs of servers of Elasticsearch and OpenSearch, as text.
    Elasticsearch: "elasticsearch" ["opensearch"], Turn::Tried,
        Reader::Line(java::parse_elasticsearch), Joining::Begun(java::begins_with_time);
    /// The logs of Kafka's servers.
    Kafka: "kafka" [], Turn::Tried, Reader::Line(java::parse_kafka),
        Joining::Begun(java::begins_with_time);
    /// The log of `ZooKeeper`.
    Zookeeper: "zookeeper" [], Turn::Tried, Reader::Line(java::parse_zookeeper),
        Joining::Begun(java::begins_with_time);
    /// The log of Icinga.
    Icinga: "icinga" ["icinga2"], Turn::Tried, Reader::Line(icinga::parse),
        Joining::Begun(icinga::begins);
    /// The log of NATS' server.
    Nats: "nats" [], Turn::Tried, Reader::Line(nats::parse);
    /// Log4j's and Logback's usual layouts, and those of Spring Boot, Hadoop, Spark, Cassandra and Tomcat.
    Log4j: "log4j" ["logback", "spring_boot"], Turn::Tried, Reader::Line(java::parse_log4j),
        Joining::Begun(java::begins_log4j);
    /// What OpenStack's services tell.
    Openstack: "openstack" ["oslo"], Turn::Tried, Reader::Line(openstack::parse);
    /// What Android's logcat shows.
    Logcat: "logcat" ["android"], Turn::Tried, Reader::Line(logcat::parse);
    /// What HealthApp tells on a telephone.
    HealthApp: "healthapp" [], Turn::Tried, Reader::Line(health_app::parse);
    /// What Proxifier tells of connections.
    Proxifier: "proxifier" [], Turn::Tried, Reader::Line(proxifier::parse);
    /// What Blue Gene/L told of itself.
    Bgl: "bgl" ["bluegene"], Turn::Tried, Reader::Line(supercomputer::parse_bgl);
    /// Messages of syslog of Thunderbird.
    Thunderbird: "thunderbird" [], Turn::Tried, Reader::Line(supercomputer::parse_thunderbird);
    /// States of the parts of a cluster of high performance computing.
    Hpc: "hpc" [], Turn::Tried, Reader::Line(supercomputer::parse_hpc);
    /// What sets Windows up and services it.
    WindowsCbs: "windows_cbs" ["cbs"], Turn::Tried, Reader::Line(windows_cbs::parse);
    /// The audit log of Linux.
    Auditd: "auditd" [], Turn::Tried, Reader::Line(|line, _, record| auditd::parse(line, record));
    /// Requests to load balancers of AWS.
    AwsElb: "aws_elb" [], Turn::Tried, Reader::Columns(&columns::ELB);
    /// Requests to buckets of S3.
    AwsS3Access: "aws_s3access" [], Turn::Tried, Reader::Columns(&columns::S3_ACCESS);
    /// Requests to `CloudFront`.
    AwsCloudfront: "aws_cloudfront" [], Turn::Tried, Reader::Columns(&columns::CLOUDFRONT);
    /// Flows in a network of AWS.
    AwsVpcflow: "aws_vpcflow" [], Turn::Tried, Reader::Columns(&columns::VPC_FLOW);
    /// Requests to IIS, in the W3C's extended format.
    IisAccess: "iis_access" ["iis"], Turn::Tried, Reader::Columns(&columns::IIS);
    /// Connections to IIS that no request came of, and requests that it refused itself.
    IisError: "iis_error" [], Turn::Tried, Reader::Columns(&columns::IIS_ERROR);
    /// Requests to Squid.
    Squid: "squid" [], Turn::Tried, Reader::Columns(&columns::SQUID);
    /// Requests to Envoy, also as Istio has them.
    Envoy: "envoy" [], Turn::Tried, Reader::Columns(&columns::ENVOY);
    /// What `HAProxy` tells of requests and connections.
    Haproxy: "haproxy" [], Turn::Before(ParserName::Syslog), Reader::Line(haproxy::parse);
    /// What devices of security tell: CEF, and LEEF.
    Cef: "cef" ["leef"], Turn::Before(ParserName::Syslog), Reader::Line(cef::parse);
    /// RFC 3164, RFC 5424 or rsyslog's ISO 8601 lines.
    Syslog: "syslog" [], Turn::Tried, Reader::Line(syslog::parse);
    /// Syslog lines with the users and addresses of sshd, sudo, su and PAM.
    Auth: "auth" [], Turn::By(ParserName::Syslog), Reader::Line(auth::parse);
    /// Syslog lines with the mails and connections of Postfix.
    Postfix: "postfix" [], Turn::By(ParserName::Syslog), Reader::Line(postfix::parse);
    /// Syslog lines with the packets that the firewall of Linux tells of.
    Iptables: "iptables" ["netfilter", "ufw"], Turn::By(ParserName::Syslog),
        Reader::Line(iptables::parse);
    /// Any text; a time at the start of the line is used.
    Plain: "plain" [], Turn::Named, Reader::Line(plain::parse);
}

impl ParserName {
    /// The name, as it is given to `--parse` and found in `event.dataset`.
    pub fn as_str(self) -> &'static str {
        self.entry().name
    }

    /// What `auto` does with it.
    pub(super) fn turn(self) -> Turn {
        self.entry().turn
    }

    /// How its lines belong to events.
    pub(crate) fn joining(self) -> Joining {
        self.entry().joining
    }

    /// Whether a line is one of columns.
    #[cfg(test)]
    pub(super) fn has_columns(self) -> bool {
        matches!(self.entry().reader, Reader::Columns(_))
    }

    /// Tries to take a line. On refusal the record holds nothing worth keeping.
    pub(crate) fn parse(self, line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
        match self.entry().reader {
            Reader::Line(parse) => parse(line, times, record),
            Reader::Columns(format) => columns::parse(format, line, times, record),
            Reader::Object(format) => columns::parse_object(format, line, times, record),
        }
    }
}

/// A parser name nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no parser is called {name:?}, did you mean {:?}? There are: auto, {}",
    nearest(name),
    known_names()
)]
pub struct UnknownParser {
    /// The name as given.
    pub name: String,
}

/// The names of all formats.
pub(crate) fn known_names() -> String {
    ParserName::ALL.map(ParserName::as_str).join(", ")
}

/// The name of a format that is meant by a name that none has, or one that others have for it.
fn nearest(name: &str) -> &'static str {
    let entries = ParserName::ALL.map(ParserName::entry);
    let names = entries.iter().flat_map(|entry| {
        [entry.name]
            .into_iter()
            .chain(entry.aliases.iter().copied())
    });
    let known: Vec<&'static str> = names.chain(["auto"]).collect();
    crate::spelling::nearest(&known, name)
}

impl FromStr for ParserName {
    type Err = UnknownParser;

    fn from_str(name: &str) -> Result<Self, UnknownParser> {
        let is_it = |parser: &ParserName| {
            let entry = parser.entry();
            entry.name == name || entry.aliases.contains(&name)
        };
        let found = ParserName::ALL.into_iter().find(is_it);
        found.ok_or_else(|| UnknownParser {
            name: name.to_owned(),
        })
    }
}

/// How lines become fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParserChoice {
    /// For each file, by its name and its first lines.
    Auto,
    /// The same parser for every file.
    Named(ParserName),
}

impl ParserChoice {
    /// The parser, if it is given.
    pub(crate) fn named(self) -> Option<ParserName> {
        match self {
            ParserChoice::Auto => None,
            ParserChoice::Named(parser) => Some(parser),
        }
    }
}

impl FromStr for ParserChoice {
    type Err = UnknownParser;

    fn from_str(name: &str) -> Result<Self, UnknownParser> {
        match name {
            "auto" => Ok(Self::Auto),
            _ => name.parse().map(Self::Named),
        }
    }
}
