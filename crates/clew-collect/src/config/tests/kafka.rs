//! Kafka, with the feature and without it.

use super::*;

#[cfg(not(feature = "kafka"))]
#[test]
fn kafka_that_is_left_out_is_told_so() {
    let check = |text: &str, place: &str| {
        let error = CollectConfig::parse("c.yaml", text, &|_| None).unwrap_err();
        let expected = "built without kafka: cargo build --features kafka";
        assert_eq!(
            (error.place.as_str(), error.reason.as_str()),
            (place, expected)
        );
    };
    check(
        "inputs: [{type: kafka, brokers: a}]\noutputs: [{type: stdout}]",
        "inputs[0].type",
    );
    check(
        "inputs: [{type: stdin}]\noutputs: [{type: kafka}]",
        "outputs[0].type",
    );
}

#[cfg(feature = "kafka")]
#[test]
fn kafka_has_its_keys() {
    let text = "inputs: [{type: kafka, brokers: 'a:1', topics: [b, '^c'], properties: {linger.ms: 5}}]\n\
                outputs: [{type: kafka, brokers: 'a:1', topic: '{{b}}', compression: lz4, buffer: {folder: /b}}]";
    let config = CollectConfig::parse("c.yaml", text, &|_| None).unwrap();
    let InputKind::Kafka(input) = &config.inputs[0].kind else {
        panic!("{:?}", config.inputs[0]);
    };
    assert_eq!(input.properties["linger.ms"], "5");
    let OutputKind::Kafka(output) = &config.outputs[0].kind else {
        panic!("{:?}", config.outputs[0]);
    };
    assert_eq!(
        (output.topic.as_str(), output.timeout_ms),
        ("{{b}}", 60_000)
    );
    let wrong = text.replace("topics", "topic");
    let error = CollectConfig::parse("c.yaml", &wrong, &|_| None).unwrap_err();
    assert!(error.reason.contains("did you mean [topics]"), "{error}");
    let wrong = text.replace("linger.ms: 5", "linger.ms: [5]");
    let error = CollectConfig::parse("c.yaml", &wrong, &|_| None).unwrap_err();
    assert_eq!(error.place, "inputs[0].properties");
    let login = text.replace(
        "properties:",
        "authentication: {user: jo, password: x}, properties:",
    );
    let config = CollectConfig::parse("c.yaml", &login, &|_| None).unwrap();
    let options = config.options(Mode::Once).unwrap();
    let crate::feed::FeedAddress::Kafka(kafka) = &options.feeds[0].address else {
        panic!("{:?}", options.feeds);
    };
    assert_eq!(kafka.servers.properties["sasl.username"], "jo");
    let twice = login.replace("linger.ms: 5", "sasl.username: bo");
    let error = CollectConfig::parse("c.yaml", &twice, &|_| None).unwrap_err();
    assert_eq!(error.place, "inputs[0]");
}
