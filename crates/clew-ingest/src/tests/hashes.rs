//! Hashes, with the values that OpenSearch gives.

use super::*;

#[test]
fn fingerprints_are_those_of_opensearch() {
    for (step, path, expected) in [
        (
            json!({"fingerprint": {"fields": ["n", "tag"]}}),
            "fingerprint",
            "SHA-1@2.16.0:EKpGgnVwVo2XGAS5CXajiESZB5s=",
        ),
        (
            json!({"fingerprint": {"fields": ["obj"]}}),
            "fingerprint",
            "SHA-1@2.16.0:jChXAXRq+6YnLTAPoZ6o/uGtxY8=",
        ),
        (
            json!({"fingerprint": {"fields": ["nul"]}}),
            "fingerprint",
            "SHA-1@2.16.0:0KPHUZqc2LUjhDn2+Q/71Boz/vo=",
        ),
        (
            json!({"fingerprint": {"fields": ["list"]}}),
            "fingerprint",
            "SHA-1@2.16.0:2pYIJ/UnkR/HVTjPrLLUFxCcll8=",
        ),
        (
            json!({"fingerprint": {"fields": ["tag"], "hash_method": "MD5@2.16.0", "target_field": "f"}}),
            "f",
            "MD5@2.16.0:bHjF6Hv7FLth1qqPklvBtg==",
        ),
        (
            json!({"fingerprint": {"fields": ["tag"], "hash_method": "SHA-256@2.16.0"}}),
            "fingerprint",
            "SHA-256@2.16.0:HWZpVidlcuePNAdgEqrm4zJ/gbyeJp8UagyB3iXe2O4=",
        ),
        (
            json!({"fingerprint": {"fields": ["tag"], "hash_method": "SHA3-256@2.16.0"}}),
            "fingerprint",
            "SHA3-256@2.16.0:fQJgxnQ8X3sYsSIy83I0bBc51sEZr8JDD5Bcvd82JAo=",
        ),
    ] {
        check(step, path, expected.into());
    }
}

#[test]
fn connections_have_the_identity_that_opensearch_gives_them() {
    let ends = json!({"source_ip_field": "src", "destination_ip_field": "dst"});
    let flow = |more: Value| {
        let mut config = ends.clone();
        let members = config.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        json!({"community_id": config})
    };
    let tcp =
        json!({"protocol_field": "tr", "source_port_field": "sp", "destination_port_field": "dp"});
    for (step, path, expected) in [
        (
            flow(tcp.clone()),
            "community_id",
            "1:LQU9qZlK+B5F3KDmev6m5PMibrg=",
        ),
        (
            flow(
                json!({"seed": 7, "protocol_field": "tr", "source_port_field": "sp", "destination_port_field": "dp"}),
            ),
            "community_id",
            "1:uZNg8EfF5M99KLdQ6q/AIpt8Pyg=",
        ),
        (
            flow(json!({"protocol_field": "icmp", "icmp_type_field": "ty"})),
            "community_id",
            "1:46Jwgg+8nrGay2E7JcQU/fbhUmk=",
        ),
        (
            flow(json!({"protocol_field": "tag"})),
            "community_id",
            "Unfit: unsupported protocol [Red]",
        ),
        (
            flow(json!({"protocol_field": "tr"})),
            "community_id",
            "Unfit: both source port and destination port field path cannot be null nor empty",
        ),
    ] {
        check(step, path, expected.into());
    }
}
