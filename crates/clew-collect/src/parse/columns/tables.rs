//! The columns of the formats, with names of the Elastic Common Schema and of Filebeat's modules.

use super::super::fields::{DESTINATION, SOURCE, Side};
use super::Column::{
    Address, Beginning, Both, Digits, Fraction, MarkedMilliseconds, Milliseconds, Moment, Number,
    OneOf, Plussed, Protocol, Request, Seconds, Skipped, Status, Target, Text, Time,
};
use super::{Clock, Column, Format, Layout};

const CLIENT: Side = Side {
    address: "client.address",
    ip: "client.ip",
    port: "client.port",
};
const BACKEND: Side = Side {
    address: "aws.elb.backend.address",
    ip: "aws.elb.backend.ip",
    port: "aws.elb.backend.port",
};

/// What both kinds of load balancers of AWS tell, behind the kind.
const BALANCED: [Column; 15] = [
    Time(Clock::Iso),
    Text("aws.elb.name"),
    Address(&SOURCE),
    Address(&BACKEND),
    Fraction("aws.elb.request_processing_time.sec"),
    Fraction("aws.elb.backend_processing_time.sec"),
    Fraction("aws.elb.response_processing_time.sec"),
    Status,
    Number("aws.elb.backend.http.response.status_code"),
    Number("http.request.body.bytes"),
    Number("http.response.body.bytes"),
    Request,
    Text("user_agent.original"),
    Text("aws.elb.ssl_cipher"),
    Text("aws.elb.ssl_protocol"),
];

/// Requests of the application load balancers and the classic ones of AWS.
pub(crate) static ELB: Format = Format {
    is_tabbed: false,
    layouts: &[
        Layout {
            parts: &[
                &[OneOf(
                    &["http", "https", "h2", "grpcs", "ws", "wss"],
                    "aws.elb.protocol",
                )],
                &BALANCED,
                &[
                    Text("aws.elb.target_group.arn"),
                    Text("aws.elb.trace_id"),
                    Text("destination.domain"),
                    Text("aws.elb.chosen_cert.arn"),
                    Fraction("aws.elb.matched_rule_priority"),
                    Moment("event.start"),
                    Text("aws.elb.action_executed"),
                    Text("aws.elb.redirect_url"),
                    Text("aws.elb.error.reason"),
                    Text("aws.elb.target_port"),
                    Text("aws.elb.target_status_code"),
                    Text("aws.elb.classification"),
                    Text("aws.elb.classification_reason"),
                ],
            ],
            least: 16,
        },
        Layout {
            parts: &[&BALANCED],
            least: 12,
        },
    ],
};

/// Requests to buckets of S3; their owners' ids have 64 digits.
pub(crate) static S3_ACCESS: Format = Format {
    is_tabbed: false,
    layouts: &[Layout {
        parts: &[&[
            Digits(64, "aws.s3access.bucket_owner"),
            Text("aws.s3access.bucket"),
            Time(Clock::CommonLog),
            Address(&CLIENT),
            Text("client.user.id"),
            Text("event.id"),
            Text("event.action"),
            Text("aws.s3access.key"),
            Request,
            Status,
            Text("event.code"),
            Number("http.response.body.bytes"),
            Number("aws.s3access.object_size"),
            Milliseconds,
            Number("aws.s3access.turn_around_time"),
            Text("http.request.referrer"),
            Text("user_agent.original"),
            Text("aws.s3access.version_id"),
            Text("aws.s3access.host_id"),
            Text("aws.s3access.signature_version"),
            Text("tls.cipher"),
            Text("aws.s3access.authentication_type"),
            Text("aws.s3access.host_header"),
            Text("aws.s3access.tls_version"),
        ]],
        least: 17,
    }],
};

/// Requests to CloudFront, as its standard log has them.
pub(crate) static CLOUDFRONT: Format = Format {
    is_tabbed: true,
    layouts: &[Layout {
        parts: &[&[
            Time(Clock::Day),
            Time(Clock::OfDay),
            Text("aws.cloudfront.edge_location"),
            Number("http.response.bytes"),
            Address(&SOURCE),
            Text("http.request.method"),
            Text("destination.domain"),
            Text("url.path"),
            Status,
            Text("http.request.referrer"),
            Text("user_agent.original"),
            Text("url.query"),
            Text("aws.cloudfront.cookies"),
            Text("aws.cloudfront.edge_result_type"),
            Text("http.request.id"),
            Text("url.domain"),
            Text("url.scheme"),
            Number("http.request.bytes"),
            Seconds,
            Text("network.forwarded_ip"),
            Text("aws.cloudfront.ssl_protocol"),
            Text("tls.cipher"),
            Text("aws.cloudfront.edge_response_result_type"),
            Text("aws.cloudfront.protocol_version"),
            Text("aws.cloudfront.fle_status"),
            Skipped,
            Number("source.port"),
            Fraction("aws.cloudfront.time_to_first_byte"),
            Text("aws.cloudfront.edge_detailed_result_type"),
            Text("aws.cloudfront.content_type"),
            Number("aws.cloudfront.content_length"),
            Text("aws.cloudfront.range_start"),
            Text("aws.cloudfront.range_end"),
        ]],
        least: 19,
    }],
};

/// Flows in a network of AWS, with the columns that they have unless others are asked for.
pub(crate) static VPC_FLOW: Format = Format {
    is_tabbed: false,
    layouts: &[Layout {
        parts: &[&[
            OneOf(&["2"], "aws.vpcflow.version"),
            Text("cloud.account.id"),
            Beginning("eni-", "aws.vpcflow.interface_id"),
            Address(&SOURCE),
            Address(&DESTINATION),
            Number("source.port"),
            Number("destination.port"),
            Text("network.iana_number"),
            Number("source.packets"),
            Number("source.bytes"),
            Moment("event.start"),
            Time(Clock::Epoch),
            Text("aws.vpcflow.action"),
            Text("aws.vpcflow.log_status"),
        ]],
        least: 14,
    }],
};

const IIS_ASKED: [Column; 4] = [
    Text("http.request.method"),
    Text("url.path"),
    Text("url.query"),
    Number("destination.port"),
];
const IIS_ANSWERED: [Column; 3] = [
    Status,
    Number("iis.access.sub_status"),
    Number("iis.access.win32_status"),
];

/// Requests to IIS in the W3C's extended format: with the columns that it has unless others are asked for, those that older ones have, or
/// all.
pub(crate) static IIS: Format = Format {
    is_tabbed: false,
    layouts: &[
        Layout {
            parts: &[
                &[Time(Clock::Day), Time(Clock::OfDay), Address(&DESTINATION)],
                &IIS_ASKED,
                &[
                    Text("user.name"),
                    Address(&SOURCE),
                    Plussed("user_agent.original"),
                    Text("http.request.referrer"),
                ],
                &IIS_ANSWERED,
                &[Milliseconds],
            ],
            least: 15,
        },
        Layout {
            parts: &[
                &[Time(Clock::Day), Time(Clock::OfDay), Address(&DESTINATION)],
                &IIS_ASKED,
                &[
                    Text("user.name"),
                    Address(&SOURCE),
                    Plussed("user_agent.original"),
                ],
                &IIS_ANSWERED,
                &[Milliseconds],
            ],
            least: 14,
        },
        Layout {
            parts: &[
                &[
                    Time(Clock::Day),
                    Time(Clock::OfDay),
                    Beginning("W3SVC", "iis.access.site_name"),
                ],
                &IIS_ASKED,
                &[
                    Text("user.name"),
                    Address(&SOURCE),
                    Plussed("user_agent.original"),
                    Text("iis.access.cookie"),
                    Text("http.request.referrer"),
                    Text("destination.domain"),
                ],
                &IIS_ANSWERED,
                &[
                    Number("http.response.body.bytes"),
                    Number("http.request.body.bytes"),
                    Milliseconds,
                ],
            ],
            least: 19,
        },
        Layout {
            parts: &[
                &[
                    Time(Clock::Day),
                    Time(Clock::OfDay),
                    Text("iis.access.site_name"),
                    Text("iis.access.server_name"),
                    Address(&DESTINATION),
                ],
                &IIS_ASKED,
                &[
                    Text("user.name"),
                    Address(&SOURCE),
                    Text("iis.access.protocol_version"),
                    Plussed("user_agent.original"),
                    Text("iis.access.cookie"),
                    Text("http.request.referrer"),
                    Text("destination.domain"),
                ],
                &IIS_ANSWERED,
                &[
                    Number("http.response.body.bytes"),
                    Number("http.request.body.bytes"),
                    Milliseconds,
                ],
            ],
            least: 22,
        },
    ],
};

const IIS_REFUSED: [Column; 9] = [
    Time(Clock::Day),
    Time(Clock::OfDay),
    Address(&SOURCE),
    Number("source.port"),
    Address(&DESTINATION),
    Number("destination.port"),
    Protocol,
    Text("http.request.method"),
    Target,
];

/// What the driver below IIS tells: why it refused a request, or closed a connection. With the columns of HTTP/2's streams or without.
pub(crate) static IIS_ERROR: Format = Format {
    is_tabbed: false,
    layouts: &[
        Layout {
            parts: &[
                &IIS_REFUSED,
                &[
                    Skipped,
                    Status,
                    Number("iis.error.site_id"),
                    Text("iis.error.reason_phrase"),
                    Text("iis.error.queue_name"),
                ],
            ],
            least: 14,
        },
        Layout {
            parts: &[
                &IIS_REFUSED,
                &[
                    Status,
                    Number("iis.error.site_id"),
                    Text("iis.error.reason_phrase"),
                    Text("iis.error.queue_name"),
                ],
            ],
            least: 13,
        },
    ],
};

/// Requests to Squid, in its own format.
pub(crate) static SQUID: Format = Format {
    is_tabbed: false,
    layouts: &[Layout {
        parts: &[&[
            Time(Clock::Epoch),
            Milliseconds,
            Address(&SOURCE),
            Both(b'/', &(Text("event.action"), Status)),
            Number("http.response.bytes"),
            Text("http.request.method"),
            Target,
            Text("user.name"),
            Both(b'/', &(Text("squid.hierarchy_code"), Address(&DESTINATION))),
            Text("http.response.mime_type"),
        ]],
        least: 10,
    }],
};

const ENVOY_TOOK: [Column; 4] = [
    Number("http.request.body.bytes"),
    Number("http.response.body.bytes"),
    Milliseconds,
    Number("envoyproxy.upstream_service_time"),
];
const ENVOY_ASKED: [Column; 5] = [
    Address(&SOURCE),
    Text("user_agent.original"),
    Text("envoyproxy.request_id"),
    Text("envoyproxy.authority"),
    Address(&DESTINATION),
];

/// Requests to Envoy, in its own format and in that of Istio.
pub(crate) static ENVOY: Format = Format {
    is_tabbed: false,
    layouts: &[
        Layout {
            parts: &[
                &[
                    Time(Clock::Iso),
                    Request,
                    Status,
                    Text("envoyproxy.response_flags"),
                ],
                &ENVOY_TOOK,
                &ENVOY_ASKED,
            ],
            least: 13,
        },
        Layout {
            parts: &[
                &[
                    Time(Clock::Iso),
                    Request,
                    Status,
                    Text("envoyproxy.response_flags"),
                    Text("envoyproxy.response_code_details"),
                    Text("envoyproxy.connection_termination_details"),
                    Text("envoyproxy.upstream_transport_failure_reason"),
                ],
                &ENVOY_TOOK,
                &ENVOY_ASKED,
                &[
                    Text("envoyproxy.upstream_cluster"),
                    Text("envoyproxy.upstream_local_address"),
                    Text("envoyproxy.downstream_local_address"),
                    Text("envoyproxy.downstream_remote_address"),
                    Text("envoyproxy.requested_server_name"),
                    Text("envoyproxy.route_name"),
                ],
            ],
            least: 16,
        },
    ],
};

/// Requests to Traefik, in its own common format.
pub(crate) static TRAEFIK: Format = Format {
    is_tabbed: false,
    layouts: &[Layout {
        parts: &[&[
            Address(&SOURCE),
            Text("traefik.access.user_identifier"),
            Text("user.name"),
            Time(Clock::CommonLog),
            Request,
            Status,
            Number("http.response.body.bytes"),
            Text("http.request.referrer"),
            Text("user_agent.original"),
            Number("traefik.access.request_count"),
            Text("traefik.access.frontend_name"),
            Text("traefik.access.backend_url"),
            MarkedMilliseconds,
        ]],
        least: 13,
    }],
};
