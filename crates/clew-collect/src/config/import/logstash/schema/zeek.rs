//! The lines of Zeek's logs, and of those that it wrote as Bro: columns between tabs, a dash for what is missing. A table says which column
//! is which field.

/// A column: the pattern of its values, and the capture.
type Column = (&'static str, &'static str);

/// A log: its pattern's name, its columns behind those that it shares with others, and those that only some of its lines have at the end.
struct Log {
    name: &'static str,
    shared: &'static [Column],
    columns: &'static [Column],
    at_end: &'static [Column],
}

/// What a session's lines begin with.
static SESSION: [Column; 6] = [
    ("NUMBER", "timestamp"),
    ("NOTSPACE", "zeek.session_id"),
    ("IP", "source.ip"),
    ("INT", "source.port:int"),
    ("IP", "destination.ip"),
    ("INT", "destination.port:int"),
];

static LOGS: [Log; 8] = [
    Log {
        name: "ZEEK_CONN",
        shared: &SESSION,
        columns: &[
            ("WORD", "network.transport"),
            ("ZEEK_DATA", "network.protocol"),
            ("NUMBER", "zeek.connection.duration:float"),
            ("INT", "zeek.connection.orig_bytes:int"),
            ("INT", "zeek.connection.resp_bytes:int"),
            ("ZEEK_DATA", "zeek.connection.state"),
            ("ZEEK_BOOL", "zeek.connection.local_orig"),
            ("ZEEK_BOOL", "zeek.connection.local_resp"),
            ("INT", "zeek.connection.missed_bytes:int"),
            ("ZEEK_DATA", "zeek.connection.history"),
            ("INT", "source.packets:int"),
            ("INT", "source.bytes:int"),
            ("INT", "destination.packets:int"),
            ("INT", "destination.bytes:int"),
            ("ZEEK_DATA", "zeek.connection.tunnel_parents"),
        ],
        at_end: &[
            ("COMMONMAC", "source.mac"),
            ("COMMONMAC", "destination.mac"),
        ],
    },
    Log {
        name: "BRO_CONN",
        shared: &SESSION,
        columns: &[
            ("WORD", "network.transport"),
            ("BRO_DATA", "network.protocol"),
            ("NUMBER", "zeek.connection.duration:float"),
            ("INT", "zeek.connection.orig_bytes:int"),
            ("INT", "zeek.connection.resp_bytes:int"),
            ("BRO_DATA", "zeek.connection.state"),
            ("BRO_BOOL", "zeek.connection.local_orig"),
            (MAYBE, "BRO_BOOL:zeek.connection.local_resp"),
            ("INT", "zeek.connection.missed_bytes:int"),
            ("BRO_DATA", "zeek.connection.history"),
            ("INT", "source.packets:int"),
            ("INT", "source.bytes:int"),
            ("INT", "destination.packets:int"),
            ("INT", "destination.bytes:int"),
            ("BRO_DATA", "zeek.connection.tunnel_parents"),
        ],
        at_end: &[],
    },
    Log {
        name: "ZEEK_DNS",
        shared: &SESSION,
        columns: &[
            ("WORD", "network.transport"),
            ("INT", "dns.id:int"),
            ("NUMBER", "zeek.dns.rtt:float"),
            ("ZEEK_DATA", "dns.question.name"),
            ("INT", "zeek.dns.qclass:int"),
            ("ZEEK_DATA", "zeek.dns.qclass_name"),
            ("INT", "zeek.dns.qtype:int"),
            ("ZEEK_DATA", "dns.question.type"),
            ("INT", "zeek.dns.rcode:int"),
            ("ZEEK_DATA", "dns.response_code"),
            ("ZEEK_BOOL", "zeek.dns.AA"),
            ("ZEEK_BOOL", "zeek.dns.TC"),
            ("ZEEK_BOOL", "zeek.dns.RD"),
            ("ZEEK_BOOL", "zeek.dns.RA"),
            ("NONNEGINT", "zeek.dns.Z:int"),
            ("ZEEK_DATA", "zeek.dns.answers"),
            ("ZEEK_DATA", "zeek.dns.TTLs"),
            ("ZEEK_BOOL", "zeek.dns.rejected"),
        ],
        at_end: &[],
    },
    Log {
        name: "BRO_DNS",
        shared: &SESSION,
        columns: &[
            ("WORD", "network.transport"),
            ("INT", "dns.id:int"),
            ("BRO_DATA", "dns.question.name"),
            ("INT", "zeek.dns.qclass:int"),
            ("BRO_DATA", "zeek.dns.qclass_name"),
            ("INT", "zeek.dns.qtype:int"),
            ("BRO_DATA", "dns.question.type"),
            ("INT", "zeek.dns.rcode:int"),
            ("BRO_DATA", "dns.response_code"),
            ("BRO_BOOL", "zeek.dns.AA"),
            ("BRO_BOOL", "zeek.dns.TC"),
            ("BRO_BOOL", "zeek.dns.RD"),
            ("BRO_BOOL", "zeek.dns.RA"),
            ("NONNEGINT", "zeek.dns.Z:int"),
            ("BRO_DATA", "zeek.dns.answers"),
            ("BRO_DATA", "zeek.dns.TTLs"),
            ("BRO_BOOL", "zeek.dns.rejected"),
        ],
        at_end: &[],
    },
    Log {
        name: "ZEEK_HTTP",
        shared: &SESSION,
        columns: &[
            ("INT", "zeek.http.trans_depth:int"),
            ("WORD", "http.request.method"),
            ("ZEEK_DATA", "url.domain"),
            ("ZEEK_DATA", "url.original"),
            ("ZEEK_DATA", "http.request.referrer"),
            ("NUMBER", "http.version"),
            ("ZEEK_DATA", "user_agent.original"),
            ("ZEEK_DATA", "zeek.http.origin"),
            ("NUMBER", "http.request.body.bytes:int"),
            ("NUMBER", "http.response.body.bytes:int"),
            ("POSINT", "http.response.status_code:int"),
            ("ZEEK_DATA", "zeek.http.status_msg"),
            ("POSINT", "zeek.http.info_code:int"),
            ("ZEEK_DATA", "zeek.http.info_msg"),
            ("ZEEK_DATA", "zeek.http.tags"),
            ("ZEEK_DATA", "url.username"),
            ("ZEEK_DATA", "url.password"),
            ("ZEEK_DATA", "zeek.http.proxied"),
            ("ZEEK_DATA", "zeek.http.orig_fuids"),
            ("ZEEK_DATA", "zeek.http.orig_filenames"),
            ("ZEEK_DATA", "http.request.mime_type"),
            ("ZEEK_DATA", "zeek.http.resp_fuids"),
            ("ZEEK_DATA", "zeek.http.resp_filenames"),
            ("ZEEK_DATA", "http.response.mime_type"),
        ],
        at_end: &[],
    },
    Log {
        name: "BRO_HTTP",
        shared: &SESSION,
        columns: &[
            ("INT", "zeek.http.trans_depth:int"),
            ("WORD", "http.request.method"),
            ("BRO_DATA", "url.domain"),
            ("BRO_DATA", "url.original"),
            ("BRO_DATA", "http.request.referrer"),
            ("BRO_DATA", "user_agent.original"),
            ("NUMBER", "http.request.body.bytes:int"),
            ("NUMBER", "http.response.body.bytes:int"),
            ("POSINT", "http.response.status_code:int"),
            ("BRO_DATA", "zeek.http.status_msg"),
            ("POSINT", "zeek.http.info_code:int"),
            ("BRO_DATA", "zeek.http.info_msg"),
            ("BRO_DATA", "zeek.http.filename"),
            ("BRO_DATA", "zeek.http.tags"),
            ("BRO_DATA", "url.username"),
            ("BRO_DATA", "url.password"),
            ("BRO_DATA", "zeek.http.proxied"),
            ("BRO_DATA", "zeek.http.orig_fuids"),
            ("BRO_DATA", "http.request.mime_type"),
            ("BRO_DATA", "zeek.http.resp_fuids"),
            ("BRO_DATA", "http.response.mime_type"),
        ],
        at_end: &[],
    },
    Log {
        name: "ZEEK_FILES",
        shared: &[
            ("NUMBER", "timestamp"),
            ("NOTSPACE", "zeek.files.fuid"),
            ("ZEEK_FILES_TX_HOSTS", ""),
            ("ZEEK_FILES_RX_HOSTS", ""),
        ],
        columns: &FILE,
        at_end: &[
            ("ZEEK_BOOL", "zeek.files.extracted_cutoff"),
            ("INT", "zeek.files.extracted_size:int"),
        ],
    },
    Log {
        name: "BRO_FILES",
        shared: &[
            ("NUMBER", "timestamp"),
            ("NOTSPACE", "zeek.files.fuid"),
            ("IP", "server.ip"),
            ("IP", "client.ip"),
        ],
        columns: &FILE,
        at_end: &[],
    },
];

/// What is told of a file, behind who sent it to whom.
static FILE: [Column; 19] = [
    ("ZEEK_DATA", "zeek.files.session_ids"),
    ("ZEEK_DATA", "zeek.files.source"),
    ("INT", "zeek.files.depth:int"),
    ("ZEEK_DATA", "zeek.files.analyzers"),
    ("ZEEK_DATA", "file.mime_type"),
    ("ZEEK_DATA", "file.name"),
    ("NUMBER", "zeek.files.duration:float"),
    ("ZEEK_DATA", "zeek.files.local_orig"),
    ("ZEEK_BOOL", "zeek.files.is_orig"),
    ("INT", "zeek.files.seen_bytes:int"),
    ("INT", "file.size:int"),
    ("INT", "zeek.files.missing_bytes:int"),
    ("INT", "zeek.files.overflow_bytes:int"),
    ("ZEEK_BOOL", "zeek.files.timedout"),
    ("ZEEK_DATA", "zeek.files.parent_fuid"),
    ("ZEEK_DATA", "file.hash.md5"),
    ("ZEEK_DATA", "file.hash.sha1"),
    ("ZEEK_DATA", "file.hash.sha256"),
    ("ZEEK_DATA", "zeek.files.extracted"),
];

/// In the place of a column's pattern: only some lines have the column, and the other text has both the pattern and the capture.
const MAYBE: &str = "";

/// The definition of a log's lines.
pub(super) fn definition(name: &str) -> Option<String> {
    let log = LOGS.iter().find(|log| log.name == name)?;
    let mut out = String::new();
    for (pattern, capture) in log.shared.iter().chain(log.columns) {
        let tab = if out.is_empty() { "" } else { r"\t" };
        out.push_str(&match (*pattern, *capture) {
            (MAYBE, reference) => format!("(?:{tab}{})?", value(reference)),
            (pattern, "") => format!("{tab}{}", value(pattern)),
            (pattern, capture) => format!("{tab}{}", value(&format!("{pattern}:{capture}"))),
        });
    }
    if !log.at_end.is_empty() {
        let columns = log.at_end.iter();
        let columns = columns.map(|(pattern, capture)| {
            let reference = format!("{pattern}:{capture}");
            format!(r"\t{}", value(&reference))
        });
        out.push_str(&format!("(?:{})?", columns.collect::<String>()));
    }
    Some(out)
}

/// A column's value, which may be missing, or a set without items.
fn value(reference: &str) -> String {
    format!(r"(?:-|\(empty\)|%{{{reference}}})")
}
