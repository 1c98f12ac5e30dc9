//! Named patterns of a Logstash that the usual ones lack, or that say other things there than in the schema: tables.

/// What a Logstash has without the schema, and the usual patterns lack or have in fewer words: arrivals in an Exim's main log.
pub(super) static WITHOUT_SCHEMA: [(&str, &str); 6] = [
    ("EXIM", "%{EXIM_MESSAGE_ARRIVAL}"),
    (
        "EXIM_MESSAGE_ARRIVAL",
        "%{EXIM_DATE:timestamp} (?:%{EXIM_PID} )?%{EXIM_MSGID:exim_msgid} (?<exim_flags><=) (?:(?<exim_status>[a-z:]) )?%{EMAILADDRESS:exim_sender_email}%{EXIM_NAMED_FIELDS}(?: for %{EMAILADDRESS:exim_recipient_email})?",
    ),
    (
        "EXIM_NAMED_FIELDS",
        "(?: (?:%{EXIM_REMOTE_HOST}|%{EXIM_INTERFACE}|%{EXIM_PROTOCOL}|%{EXIM_MSG_SIZE}|%{EXIM_HEADER_ID}|%{EXIM_SUBJECT}|%{EXIM_UNKNOWN_FIELD}))*",
    ),
    ("EXIM_PID", r"\[%{POSINT:pid}\]"),
    (
        "EXIM_REMOTE_HOST",
        r"H=(?:%{NOTSPACE:remote_hostname} )?(?:\(%{NOTSPACE:remote_heloname}\) )?\[%{IP:remote_host}\](?::%{POSINT:remote_port})?",
    ),
    ("EXIM_UNKNOWN_FIELD", r#"\w{1,4}=(?:"[^"]*"|[^\s"]\S*)"#),
];

/// Patterns of the schema's set.
pub(super) static IN_SCHEMA: [(&str, &str); 54] = [
    ("BIND9_TIMESTAMP", "%{MONTHDAY}-%{MONTH}-%{YEAR} %{TIME}"),
    ("BIND9_CATEGORY", "queries"),
    ("BIND9_DNSTYPE", "[A-Z][A-Z0-9]*"),
    (
        "BIND9_QUERYLOGBASE",
        r"client(?: @0x[0-9A-Fa-f]+)? %{IP:client.ip}#%{POSINT:client.port:int} \((?<bind.log.question.name>[^)]*)\): query: %{NOTSPACE:dns.question.name} (?<dns.question.class>[A-Z]+) %{BIND9_DNSTYPE:dns.question.type}(?: (?<bind.log.question.flags>\S+))? \(%{IP:server.ip}\)",
    ),
    (
        "BIND9_QUERYLOG",
        "%{BIND9_TIMESTAMP:timestamp} %{BIND9_CATEGORY:bing.log.category}: %{LOGLEVEL:log.level}: %{BIND9_QUERYLOGBASE}",
    ),
    ("BIND9", "%{BIND9_QUERYLOG}"),
    ("BRO_BOOL", "[FT]"),
    ("BRO_DATA", r"[^\t]+"),
    ("ZEEK_BOOL", "[FT]"),
    ("ZEEK_DATA", r"[^\t]+"),
    (
        "ZEEK_FILES_TX_HOSTS",
        r"(?:(?<zeek.files.tx_hosts>%{IP:server.ip}(?:[,\s]%{IP})+)|%{IP:server.ip}|-)",
    ),
    (
        "ZEEK_FILES_RX_HOSTS",
        r"(?:(?<zeek.files.rx_hosts>%{IP:client.ip}(?:[,\s]%{IP})+)|%{IP:client.ip}|-)",
    ),
    (
        "CATALINA7_DATESTAMP",
        "%{MONTH} %{MONTHDAY}, %{YEAR} %{TIME} [AP]M",
    ),
    (
        "CATALINA7_LOG",
        r"%{CATALINA7_DATESTAMP:timestamp} %{JAVACLASS:java.log.origin.class.name}(?: %{JAVAMETHOD:log.origin.function})?\s*(?:%{LOGLEVEL:log.level}:\s?)?%{JAVALOGMESSAGE:message}",
    ),
    (
        "CATALINA8_DATESTAMP",
        "%{MONTHDAY}-%{MONTH}-%{YEAR} %{TIME}",
    ),
    (
        "CATALINA8_LOG",
        r"%{CATALINA8_DATESTAMP:timestamp} %{LOGLEVEL:log.level} \[%{DATA:java.log.origin.thread.name}\] %{JAVACLASS:java.log.origin.class.name}\.(?:%{JAVAMETHOD:log.origin.function})? %{JAVALOGMESSAGE:message}",
    ),
    (
        "CATALINA_DATESTAMP",
        "(?:%{CATALINA8_DATESTAMP}|%{CATALINA7_DATESTAMP})",
    ),
    ("CATALINALOG", "(?:%{CATALINA8_LOG}|%{CATALINA7_LOG})"),
    ("TOMCAT7_LOG", "%{CATALINA7_LOG}"),
    ("TOMCAT8_LOG", "%{CATALINA8_LOG}"),
    (
        "TOMCATLEGACY_DATESTAMP",
        "%{YEAR}-%{MONTHNUM}-%{MONTHDAY} %{TIME}(?: %{ISO8601_TIMEZONE})?",
    ),
    (
        "TOMCATLEGACY_LOG",
        r"%{TOMCATLEGACY_DATESTAMP:timestamp} \| %{LOGLEVEL:log.level} \| %{JAVACLASS:java.log.origin.class.name} - %{JAVALOGMESSAGE:message}",
    ),
    (
        "TOMCAT_DATESTAMP",
        "(?:%{CATALINA8_DATESTAMP}|%{CATALINA7_DATESTAMP}|%{TOMCATLEGACY_DATESTAMP})",
    ),
    (
        "TOMCATLOG",
        "(?:%{TOMCAT8_LOG}|%{TOMCAT7_LOG}|%{TOMCATLEGACY_LOG})",
    ),
    (
        "JAVASTACKTRACEPART",
        r"\s*at %{JAVACLASS:java.log.origin.class.name}\.%{JAVAMETHOD:log.origin.function}\(%{JAVAFILE:log.origin.file.name}(?::%{INT:log.origin.file.line:int})?\)",
    ),
    ("URIQUERY", r#"[^\s"]*"#),
    (
        "ELB_URIHOST",
        "%{IPORHOST:url.domain}(?::%{POSINT:url.port:int})?",
    ),
    (
        "ELB_URIPATHQUERY",
        r"%{URIPATH:url.path}(?:\?%{URIQUERY:url.query})?",
    ),
    ("ELB_URIPATHPARAM", "%{ELB_URIPATHQUERY}"),
    (
        "ELB_URI",
        r"%{URIPROTO:url.scheme}://(?:%{USER:url.username}(?::[^@\s]*)?@)?(?:%{ELB_URIHOST})?(?:%{ELB_URIPATHQUERY})?",
    ),
    (
        "ELB_REQUEST_LINE",
        "%{WORD:http.request.method} %{ELB_URI:url.original}(?: HTTP/%{NUMBER:http.version})?",
    ),
    (
        "ELB_V1_HTTP_LOG",
        r#"%{TIMESTAMP_ISO8601:timestamp} %{NOTSPACE:aws.elb.name} %{IP:source.ip}:%{INT:source.port:int} (?:-|%{IP:aws.elb.backend.ip}:%{INT:aws.elb.backend.port:int}) (?:-1|%{NUMBER:aws.elb.request_processing_time.sec:float}) (?:-1|%{NUMBER:aws.elb.backend_processing_time.sec:float}) (?:-1|%{NUMBER:aws.elb.response_processing_time.sec:float}) %{INT:http.response.status_code:int} (?:-|%{INT:aws.elb.backend.http.response.status_code:int}) %{INT:http.request.body.bytes:int} %{INT:http.response.body.bytes:int} "%{ELB_REQUEST_LINE}"(?: "(?:-|(?<user_agent.original>[^"]*))" (?:-|%{NOTSPACE:tls.cipher}) (?:-|%{NOTSPACE:aws.elb.ssl_protocol}))?"#,
    ),
    ("ELB_ACCESS_LOG", "%{ELB_V1_HTTP_LOG}"),
    ("EXIM", "%{EXIM_MESSAGE_ARRIVAL}"),
    (
        "EXIM_MESSAGE_ARRIVAL",
        "%{EXIM_DATE:timestamp} (?:%{EXIM_PID} )?%{EXIM_MSGID:exim.log.message.id} (?<exim.log.flags><=) (?:(?<exim.log.status>[a-z:]) )?%{EMAILADDRESS:exim.log.sender.email}%{EXIM_NAMED_FIELDS}(?: from <?(?<exim.log.sender.original>[^ >]*)>?)?(?: for %{EMAILADDRESS:exim.log.recipient.email})?",
    ),
    (
        "EXIM_NAMED_FIELDS",
        "(?: (?:%{EXIM_REMOTE_HOST}|%{EXIM_INTERFACE}|%{EXIM_PROTOCOL}|%{EXIM_MSG_SIZE}|%{EXIM_HEADER_ID}|%{EXIM_SUBJECT}|%{EXIM_UNKNOWN_FIELD}))*",
    ),
    ("EXIM_PID", r"\[%{POSINT:process.pid:int}\]"),
    ("EXIM_QUOTED_CONTENT", r#"(?:[^"\\]|\\.)*"#),
    (
        "EXIM_REMOTE_HOST",
        r"H=(?:%{NOTSPACE:source.address} )?(?:\(%{NOTSPACE:exim.log.remote_address}\) )?\[%{IP:source.ip}\](?::%{POSINT:source.port:int})?",
    ),
    (
        "EXIM_SUBJECT",
        r#"T="%{EXIM_QUOTED_CONTENT:exim.log.message.subject}""#,
    ),
    ("EXIM_UNKNOWN_FIELD", r#"\w{1,4}=(?:"[^"]*"|[^\s"]\S*)"#),
    (
        "HTTPD20_ERRORLOG",
        r"\[%{HTTPDERROR_DATE:timestamp}\] \[%{LOGLEVEL:log.level}\](?: \[client %{IPORHOST:source.address}\])? %{GREEDYDATA:message}",
    ),
    (
        "HTTPD24_ERRORLOG",
        r"\[%{HTTPDERROR_DATE:timestamp}\] \[%{WORD:apache.error.module}?:%{LOGLEVEL:log.level}\] \[pid %{POSINT:process.pid:int}(?::tid %{INT:process.thread.id:int})?\](?: \(%{POSINT:apache.error.proxy.error.code}\)%{DATA:apache.error.proxy.error.message}:)?(?: \[client %{IPORHOST:source.address}(?::%{POSINT:source.port:int})?\])?(?: %{DATA:error.code}:)? %{GREEDYDATA:message}",
    ),
    (
        "HTTPD_ERRORLOG",
        "(?:%{HTTPD20_ERRORLOG}|%{HTTPD24_ERRORLOG})",
    ),
    (
        "HAPROXYURI",
        r"(?:%{URIPROTO:url.scheme}://)?(?:%{USER:url.username}(?::[^@\s]*)?@)?(?:%{ELB_URIHOST})?(?:%{ELB_URIPATHQUERY})?",
    ),
    (
        "HAPROXYHTTPREQUESTLINE",
        "(?:<BADREQ>|%{WORD:http.request.method} %{HAPROXYURI:url.original}(?: HTTP/%{NUMBER:http.version})?)",
    ),
    ("RT_FLOW_TAG", "RT_FLOW_SESSION_(?:CREATE|CLOSE|DENY)"),
    (
        "SQUID3_STATUS",
        "%{POSINT:http.response.status_code:int}|0+",
    ),
    (
        "CRONLOG",
        r"%{SYSLOGBASE} \(%{USER:user.name}\) %{CRON_ACTION:system.cron.action} \(%{GREEDYDATA:message}\)",
    ),
    (
        "CISCO_HITCOUNT_INTERVAL",
        "hit-cnt %{INT:cisco.asa.hit_count:int} (?:%{INT:cisco.asa.interval:int}-second interval|first hit)",
    ),
    (
        "CISCO_SRC_IP_USER",
        r"(?<observer.ingress.interface.name>[^\s:]+):%{IP:source.ip}(?:\((?<source.user.name>[^)]*)\))?",
    ),
    (
        "CISCO_DST_IP_USER",
        r"(?<observer.egress.interface.name>[^\s:]+):%{IP:destination.ip}(?:\((?<destination.user.name>[^)]*)\))?",
    ),
    (
        "CISCO_SRC_HOST_PORT_USER",
        r"(?<observer.ingress.interface.name>[^\s:]+):(?:%{IP:source.ip}|%{HOSTNAME:source.address})(?:/%{INT:source.port:int})?(?:\((?<source.user.name>[^)]*)\))?",
    ),
    (
        "CISCO_DST_HOST_PORT_USER",
        r"(?<observer.egress.interface.name>[^\s:]+):(?:%{IP:destination.ip}|%{HOSTNAME:destination.address})(?:/%{INT:destination.port:int})?(?:\((?<destination.user.name>[^)]*)\))?",
    ),
];
