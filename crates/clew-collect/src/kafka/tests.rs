use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use clew_platform::{RealClock, RealDisk};
use rdkafka::mocking::MockCluster;
use rdkafka::producer::DefaultProducerContext;
use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};
use serde_json::Value;

use super::*;
use crate::event::{EpochMillis, Event};
use crate::feed::{FeedAddress, FeedOptions};
use crate::options::{CollectOptions, Mode};
use crate::parse::{ParserChoice, ParserName};
use crate::sink::{Delivery, Sink, SinkError};
use crate::{CollectError, CollectReport, NoProgress, StopToken, World};

const PATIENCE: Duration = Duration::from_secs(60);

type Cluster = MockCluster<'static, DefaultProducerContext>;

fn cluster() -> Cluster {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("shop-a", 3, 1).unwrap();
    cluster
}

fn at(brokers: String) -> KafkaServers {
    KafkaServers {
        brokers,
        properties: BTreeMap::new(),
    }
}

fn event(number: usize) -> Event {
    Event {
        id: format!("id{number}"),
        timestamp: EpochMillis(1_767_323_045_678),
        document: format!("{{\"n\":{number},\"service\":\"shop-a\"}}").into_bytes(),
        ..Event::default()
    }
}

fn sink(servers: &KafkaServers, topic: &str) -> KafkaSink {
    let options = KafkaOptions {
        key: Some("k{{n}}".to_owned()),
        compression: KafkaCompression::Zstd,
        ..KafkaOptions::new(servers.clone(), topic)
    };
    KafkaSink::new(options, StopToken::new()).unwrap()
}

fn write(servers: &KafkaServers, numbers: std::ops::Range<usize>) {
    let batch: Vec<Event> = numbers.map(event).collect();
    let delivery = sink(servers, "{{service}}").deliver(&batch).unwrap();
    assert_eq!(delivery.acked, batch.len() as u64, "{delivery:?}");
}

/// Tells of every event, waits to be let go for each batch if that is asked for, and fails if that is.
struct Recorder {
    out: Sender<(String, Value)>,
    gate: Option<Receiver<()>>,
    fails: bool,
}

impl Sink for Recorder {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        if let Some(gate) = &self.gate {
            // Whoever has gone has opened it.
            let _ = gate.recv();
        }
        for event in batch {
            let document = serde_json::from_slice(&event.document).unwrap();
            self.out.send((event.id.clone(), document)).unwrap();
        }
        if self.fails {
            let reason = "meant to".to_owned();
            return Err(SinkError::Unusable { reason });
        }
        Ok(Delivery {
            acked: batch.len() as u64,
            ..Delivery::default()
        })
    }
}

/// A collector that reads the topics.
struct Run {
    events: Receiver<(String, Value)>,
    stop: StopToken,
    thread: JoinHandle<Result<CollectReport, CollectError>>,
    _folder: tempfile::TempDir,
}

impl Run {
    fn start(servers: &KafkaServers, gate: Option<Receiver<()>>, fails: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = options(servers.clone(), folder.path());
        let (out, events) = channel();
        let stop = StopToken::new();
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            let world = World {
                disk: Arc::new(RealDisk),
                clock: Arc::new(RealClock::new()),
                progress: &NoProgress,
                stop: &stopped,
            };
            crate::run(&options, world, &mut Recorder { out, gate, fails })
        });
        Run {
            events,
            stop,
            thread,
            _folder: folder,
        }
    }

    fn next(&self) -> (String, Value) {
        self.events.recv_timeout(PATIENCE).expect("an event comes")
    }

    fn take(&self, count: usize) -> Vec<(String, Value)> {
        (0..count).map(|_| self.next()).collect()
    }

    /// Ends it, and returns what came meanwhile.
    fn end(self) -> (usize, Result<CollectReport, CollectError>) {
        self.stop.stop();
        let report = self.thread.join().unwrap();
        (self.events.try_iter().count(), report)
    }
}

fn options(servers: KafkaServers, folder: &Path) -> CollectOptions {
    let mut options = CollectOptions::new(Vec::new(), folder.join("registry"));
    options.files.clear();
    options.mode = Mode::Follow;
    options.feeds.push(FeedOptions {
        tls: None,
        address: FeedAddress::Kafka(KafkaFeed {
            servers,
            topics: vec!["^shop-.*".to_owned()],
            group_id: "readers".to_owned(),
            offset_reset: OffsetReset::Earliest,
            commits: true,
        }),
        parse: ParserChoice::Named(ParserName::Json),
        line_bytes_max: 1 << 20,
        plan: 0,
    });
    options
}

fn number(document: &Value) -> u64 {
    document["json"]["n"].as_u64().unwrap()
}

fn numbers(events: &[(String, Value)]) -> BTreeSet<u64> {
    events
        .iter()
        .map(|(_, document)| number(document))
        .collect()
}

#[test]
fn what_is_written_is_read_with_its_fields_and_only_once() {
    let cluster = cluster();
    let servers = at(cluster.bootstrap_servers());
    check_reading(&servers);
}

/// A server of Kafka's own, with no topics, may be named for this.
#[test]
fn a_real_server_is_read_and_written_too() {
    match std::env::var("CLEW_KAFKA_BROKERS") {
        Ok(brokers) => check_reading(&at(brokers)),
        Err(_) => eprintln!("skipped: CLEW_KAFKA_BROKERS names no server"),
    }
}

fn check_reading(servers: &KafkaServers) {
    write(servers, 0..100);
    let run = Run::start(servers, None, false);
    let events = run.take(100);
    assert_eq!(numbers(&events), (0..100).collect());
    for (_, document) in &events {
        let kafka = &document["kafka"];
        assert_eq!(kafka["topic"], "shop-a");
        assert_eq!(kafka["key"], format!("k{}", number(document)));
        let id = format!("id: id{}", number(document));
        assert_eq!(kafka["headers"], serde_json::json!([id]));
        assert_eq!(kafka["timestamp"], 1_767_323_045_678_u64);
        assert!(kafka["partition"].is_u64() && kafka["offset"].is_u64());
        assert_eq!(document["log"]["offset"], kafka["offset"]);
    }
    let (more, report) = run.end();
    assert_eq!((more, report.unwrap().counters.events_acked), (0, 100));
    // What was delivered before the end is committed.
    write(servers, 100..110);
    let run = Run::start(servers, None, false);
    assert_eq!(numbers(&run.take(10)), (100..110).collect());
    assert_eq!(run.end().0, 0);
}

#[test]
fn what_was_not_delivered_is_read_again_under_the_same_ids() {
    let cluster = cluster();
    let servers = at(cluster.bootstrap_servers());
    write(&servers, 0..50);
    let run = Run::start(&servers, None, true);
    let (first, _) = run.next();
    assert!(run.thread.join().unwrap().is_err());
    let run = Run::start(&servers, None, false);
    let events = run.take(50);
    assert_eq!(numbers(&events), (0..50).collect());
    assert!(events.iter().any(|(id, _)| *id == first));
    assert_eq!(run.end().0, 0);
}

#[test]
fn while_nobody_takes_partitions_rest_and_nothing_is_lost_or_comes_twice() {
    let cluster = cluster();
    let servers = at(cluster.bootstrap_servers());
    let mut sink = sink(&servers, "shop-a");
    // More than the queue of parcels and librdkafka's own hold.
    const MESSAGES: usize = 24_000;
    let text = "x".repeat(1_000);
    for start in (0..MESSAGES).step_by(2_000) {
        let batch: Vec<Event> = (start..start + 2_000)
            .map(|number| Event {
                document: format!("{{\"n\":{number},\"text\":\"{text}\"}}").into_bytes(),
                ..event(number)
            })
            .collect();
        assert_eq!(sink.deliver(&batch).unwrap().acked, 2_000);
    }
    let (open, gate) = channel();
    let run = Run::start(&servers, Some(gate), false);
    open.send(()).unwrap();
    let mut events = vec![run.next()];
    drop(open);
    events.extend(run.take(MESSAGES - 1));
    assert_eq!(numbers(&events), (0..MESSAGES as u64).collect());
    let mut last = BTreeMap::new();
    for (_, document) in &events {
        let offset = document["kafka"]["offset"].as_u64();
        let before = last.insert(document["kafka"]["partition"].as_u64(), offset);
        assert!(before.is_none_or(|before| before < offset), "{document}");
    }
    assert_eq!(run.end().0, 0);
}

#[test]
fn members_share_partitions_and_none_of_their_messages_is_lost() {
    let cluster = cluster();
    let servers = at(cluster.bootstrap_servers());
    write(&servers, 0..100);
    let first = Run::start(&servers, None, false);
    let mut seen = numbers(&first.take(100));
    let second = Run::start(&servers, None, false);
    let mut written = 100;
    let mut of_second = 0;
    // Until the second has its share.
    let began = Instant::now();
    while of_second == 0 {
        let waited = began.elapsed();
        assert!(waited < PATIENCE, "the second member gets no partition");
        write(&servers, written..written + 50);
        written += 50;
        while seen.len() < written {
            let event = first.events.recv_timeout(Duration::from_millis(10));
            seen.extend(event.ok().map(|(_, document)| number(&document)));
            for (_, document) in second.events.try_iter() {
                of_second += 1;
                seen.insert(number(&document));
            }
        }
    }
    assert_eq!(seen, (0..written as u64).collect());
    // What the second leaves the first takes over.
    assert!(second.end().1.is_ok());
    write(&servers, written..written + 50);
    while seen.len() < written + 50 {
        seen.insert(number(&first.next().1));
    }
    assert!(first.end().1.is_ok());
}

#[test]
fn failures_that_pass_are_tried_again_and_those_that_stay_are_refused() {
    let cluster = cluster();
    let servers = at(cluster.bootstrap_servers());
    let failures = [
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
    ];
    cluster.request_errors(RDKafkaApiKey::Produce, &failures);
    write(&servers, 0..10);
    let mut servers = servers;
    let limit = ("message.max.bytes".to_owned(), "2000".to_owned());
    servers.properties.extend([limit]);
    let options = KafkaOptions::new(servers, "{{service}}");
    let mut sink = KafkaSink::new(options, StopToken::new()).unwrap();
    let of = |document: String| Event {
        document: document.into_bytes(),
        ..event(0)
    };
    let large = format!(
        "{{\"service\":\"shop-a\",\"text\":\"{}\"}}",
        "x".repeat(5_000)
    );
    let batch = [
        event(1),
        of(large),
        of("{\"service\":\"a b\"}".to_owned()),
        of("{}".to_owned()),
        event(2),
    ];
    let mut delivery = sink.deliver(&batch).unwrap();
    delivery
        .rejected
        .sort_by_key(|rejection| rejection.event_index);
    let rejected = delivery.rejected.iter();
    let rejected: Vec<_> = rejected.map(|one| (one.event_index, one.status)).collect();
    assert_eq!(rejected, [(1, 413), (2, 400), (3, 400)], "{delivery:?}");
    assert_eq!(delivery.acked, 2);
}

#[test]
fn a_stop_ends_the_wait_for_servers_that_are_away() {
    let cluster = cluster();
    let servers = at(cluster.bootstrap_servers());
    cluster.broker_down(1).unwrap();
    let stop = StopToken::new();
    let options = KafkaOptions::new(servers, "shop-a");
    let mut sink = KafkaSink::new(options, stop.clone()).unwrap();
    let (done, ended) = channel();
    let waiting = thread::spawn(move || done.send(sink.deliver(&[event(1)])));
    stop.stop();
    let ended = ended.recv_timeout(PATIENCE).unwrap();
    assert_eq!(ended, Err(SinkError::Stopped));
    waiting.join().unwrap().unwrap();
}

#[test]
fn what_cannot_be_is_refused_at_once() {
    let check = |topic: &str, property: &str, expected: &str| {
        let mut servers = KafkaServers {
            brokers: "127.0.0.1:1".to_owned(),
            properties: BTreeMap::new(),
        };
        let property = (property.to_owned(), "1".to_owned());
        servers.properties.extend([property]);
        let made = KafkaSink::new(KafkaOptions::new(servers, topic), StopToken::new());
        let error = made.err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check("a b", "linger.ms", "[a b] is no name of a topic");
    check("a", "no.such.property", "no.such.property");
    check("a", "acks", "cannot have [acks], which the collector sets");
}
