use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixStream};

use super::*;

struct Running {
    feeds: Feeds,
    folder: tempfile::TempDir,
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(clew_platform::RealClock::new())
}

fn start(addresses: &[&str]) -> Running {
    let folder = tempfile::tempdir().unwrap();
    let options: Vec<FeedOptions> = addresses
        .iter()
        .map(|address| FeedOptions {
            address: address
                .replace("DIR", folder.path().to_str().unwrap())
                .parse()
                .unwrap(),
            parse: ParserChoice::Auto,
            line_bytes_max: 1_000,
            plan: 0,
            tls: None,
        })
        .collect();
    let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC).unwrap());
    let feeds = Feeds::start(&options, &BTreeMap::new(), &clock(), &wake).unwrap();
    Running { feeds, folder }
}

impl Running {
    /// Waits for that many lines, whichever input they came to.
    fn lines(&self, count: usize) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        while found.len() < count {
            let parcel = self.feeds.wait(Duration::from_secs(60)).unwrap();
            let parcel = parcel.expect("more lines come");
            let text = |line: &[u8]| String::from_utf8(line.to_vec()).unwrap();
            found.extend(parcel.lines().map(|(line, _)| (parcel.feed, text(line))));
        }
        found
    }
}

#[test]
fn all_kinds_of_sockets_take_lines() {
    let running = start(&[
        "tcp://127.0.0.1:0",
        "udp://127.0.0.1:0",
        "unix://DIR/s",
        "unixgram://DIR/d",
    ]);
    let address = |feed: usize| running.feeds.addresses[feed].unwrap();
    let mut tcp = TcpStream::connect(address(0)).unwrap();
    tcp.write_all(b"<34>one\n5 <1>22no newline at the end")
        .unwrap();
    drop(tcp);
    let expected = ["<34>one", "<1>22", "no newline at the end"];
    assert_eq!(running.lines(3), expected.map(|line| (0, line.to_owned())));
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.send_to(b"<34>a datagram\n", address(1)).unwrap();
    assert_eq!(running.lines(1), [(1, "<34>a datagram".to_owned())]);
    let mut unix = UnixStream::connect(running.folder.path().join("s")).unwrap();
    unix.write_all(b"through a file\n").unwrap();
    assert_eq!(running.lines(1), [(2, "through a file".to_owned())]);
    let unix = UnixDatagram::unbound().unwrap();
    let place = running.folder.path().join("d");
    unix.send_to(b"two\nlines", place).unwrap();
    assert_eq!(running.lines(1), [(3, "two\nlines".to_owned())]);
}

#[test]
fn a_sender_waits_when_nobody_takes_and_nothing_is_lost() {
    let running = start(&["tcp://127.0.0.1:0"]);
    let address = running.feeds.addresses[0].unwrap();
    const LINES: usize = 300_000;
    let writer = std::thread::spawn(move || {
        let mut out = std::io::BufWriter::new(TcpStream::connect(address).unwrap());
        for number in 0..LINES {
            writeln!(out, "line {number} {}", "x".repeat(60)).unwrap();
        }
    });
    for (number, (_, line)) in running.lines(LINES).into_iter().enumerate() {
        assert!(line.starts_with(&format!("line {number} ")), "{line}");
    }
    writer.join().unwrap();
}

#[test]
fn closing_ends_connections_and_what_was_taken_can_still_be_had() {
    let running = start(&["tcp://127.0.0.1:0"]);
    let address = running.feeds.addresses[0].unwrap();
    let mut tcp = TcpStream::connect(address).unwrap();
    tcp.write_all(b"one\ntwo\nthr").unwrap();
    assert_eq!(running.lines(2).len(), 2);
    running.feeds.close();
    assert_eq!(running.lines(1), [(0, "thr".to_owned())]);
    assert_eq!(
        running.feeds.wait(Duration::from_secs(60)).unwrap_err(),
        Ended
    );
    assert_eq!(running.feeds.counts.connections.load(Ordering::Relaxed), 0);
}

#[test]
fn a_socket_that_a_dead_process_left_is_bound_again_and_a_file_is_not_removed() {
    let running = start(&["unix://DIR/s"]);
    let path = running.folder.path().join("s");
    let options = |path: &std::path::Path| FeedOptions {
        address: FeedAddress::Unix(path.to_owned()),
        parse: ParserChoice::Auto,
        line_bytes_max: 1_000,
        plan: 0,
        tls: None,
    };
    let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC).unwrap());
    Feeds::start(&[options(&path)], &BTreeMap::new(), &clock(), &wake).unwrap();
    let file = running.folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let error = Feeds::start(&[options(&file)], &BTreeMap::new(), &clock(), &wake).unwrap_err();
    assert!(error.to_string().contains("file"), "{error}");
    assert!(file.exists());
}

#[test]
fn addresses_are_read_and_wrong_ones_told() {
    let check = |text: &str| text.parse::<FeedAddress>();
    assert_eq!(check("stdin"), Ok(FeedAddress::Stdin));
    assert_eq!(
        check("udp://[::1]:514"),
        Ok(FeedAddress::Udp("[::1]:514".parse().unwrap()))
    );
    assert_eq!(
        check("unix:///run/log"),
        Ok(FeedAddress::Unix("/run/log".into()))
    );
    for wrong in ["", "tcp://localhost", "tcp://1.2.3.4", "http://1.2.3.4:5"] {
        assert!(check(wrong).is_err(), "{wrong}");
    }
}
