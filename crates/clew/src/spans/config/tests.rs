use super::*;

fn with(variables: &[(&str, &str)]) -> anyhow::Result<TracingConfig> {
    TracingConfig::default().with_variables(|name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_string())
    })
}

#[test]
fn opentelemetrys_variables_hold_where_nothing_else_is_said() {
    let config = with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
        ("OTEL_SERVICE_NAME", "search"),
    ]);
    let config = config.unwrap();
    assert_eq!(config.otlp.endpoint, "http://127.0.0.1:4318");
    assert_eq!(config.otlp.protocol, OtlpProtocol::Http);
    assert_eq!(
        (config.sample_ratio, &*config.service_name),
        (0.25, "search")
    );
    let given = TracingConfig {
        service_name: "mine".to_string(),
        ..TracingConfig::default()
    };
    let variable = |_: &str| Some("0.5".to_string());
    let refused = given.clone().with_variables(variable).unwrap_err();
    assert!(
        refused.to_string().contains("PROTOCOL is [0.5]"),
        "{refused}"
    );
    let kept = given.with_variables(|_| None).unwrap();
    assert_eq!(kept.service_name, "mine");
    assert_eq!(with(&[]).unwrap(), TracingConfig::default());
    let secure = with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://there:4317"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/etc/ca.pem"),
    ]);
    let otlp = secure.unwrap().otlp;
    assert!(otlp.is_secure());
    assert_eq!(otlp.tls.ca, Some(PathBuf::from("/etc/ca.pem")));
}

#[test]
fn no_login_is_shown() {
    for (endpoint, shown) in [
        (
            "http://user:pass@there:4317/a@b",
            "http://***@there:4317/a@b",
        ),
        ("http://there:4317/a@b", "http://there:4317/a@b"),
        ("", ""),
    ] {
        let config = with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)]).unwrap();
        let json = serde_json::to_value(&config).unwrap();
        assert_eq!(json["otlp"]["endpoint"], shown);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for variables in [
        ("OTEL_TRACES_SAMPLER_ARG", "1.5"),
        ("OTEL_TRACES_SAMPLER_ARG", "NaN"),
        ("OTEL_TRACES_SAMPLER_ARG", "much"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "there:4317"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https:///v1/traces"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://there:99999"),
        // A host that the port ends with.
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://9:99999"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://there:port"),
    ] {
        assert!(with(&[variables]).is_err(), "{variables:?}");
    }
    for endpoint in ["http://there", "http://[::1]:4317/below", "https://[::1]"] {
        assert!(with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)]).is_ok());
    }
    let key = ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/etc/key.pem");
    let plain = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://there:4317");
    let secure = ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://there:4317");
    let refused = with(&[secure, key]).unwrap_err().to_string();
    assert!(refused.contains("must have both"), "{refused}");
    assert_eq!(with(&[plain, key]).unwrap().otlp.tls, TlsFiles::default());
    let mut given = with(&[plain]).unwrap();
    given.otlp.tls.ca = Some(PathBuf::from("/etc/ca.pem"));
    let refused = given.with_variables(|_| None).unwrap_err().to_string();
    let told = "is only for an endpoint that begins with [https://]";
    assert!(refused.contains(told), "{refused}");
}
