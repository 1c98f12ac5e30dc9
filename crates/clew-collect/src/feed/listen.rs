//! Sockets that lines are sent to. A listener's thread accepts and starts a thread for each connection; all of them wait for
//! their socket and for the stop together, so that at rest nothing runs. No call on a socket waits by itself.

use std::io::{self, ErrorKind, Read};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::frames::{LineFrames, Separation};
use super::secure::{SecureListener, reason};
use super::{FeedAddress, Handed, PARCEL_BYTES, Sender};
use crate::tls::ServerTls;

/// Connections at once; the next ones are closed.
const CONNECTIONS_MAX: u64 = 1_000;
/// The largest datagram.
const DATAGRAM_BYTES_MAX: usize = 64 << 10;
/// Reads of a connection after the stop.
const LAST_READS_MAX: usize = 64;
/// Reading lines needs little, a handshake a little more.
const STACK_BYTES: usize = 512 << 10;

/// A bound input's thread, and its address if it has a port.
type Started = (JoinHandle<()>, Option<SocketAddr>);

/// A socket that connections come to.
pub(super) trait Listener: AsFd + Send + 'static {
    type Stream: Connection;

    /// A connection, which does not wait, and who made it.
    fn accept_one(&self) -> io::Result<(Self::Stream, Arc<str>)>;
}

/// Who connected.
pub(super) trait Connection: Read + AsFd + Send + 'static {
    /// What has to be done before lines come; waits.
    fn open(&mut self, _sender: &Sender) -> Result<(), NotOpen> {
        Ok(())
    }
}

/// Why a connection will have no lines.
#[derive(Debug)]
pub(super) enum NotOpen {
    /// The inputs have to end.
    Ended,
    Failed(String),
}

impl NotOpen {
    pub(super) fn failed(error: io::Error) -> Self {
        NotOpen::Failed(reason(&error))
    }
}

impl Connection for TcpStream {}

impl Connection for UnixStream {}

/// A socket that datagrams come to.
trait Datagrams: AsFd + Send + 'static {
    /// The size of a datagram, and who sent it. Does not wait.
    fn receive(&self, buffer: &mut [u8]) -> io::Result<(usize, Arc<str>)>;
}

impl Listener for TcpListener {
    type Stream = TcpStream;

    fn accept_one(&self) -> io::Result<(TcpStream, Arc<str>)> {
        let (stream, from) = self.accept()?;
        stream.set_nonblocking(true)?;
        Ok((stream, from.ip().to_string().into()))
    }
}

impl Listener for UnixListener {
    type Stream = UnixStream;

    fn accept_one(&self) -> io::Result<(UnixStream, Arc<str>)> {
        let (stream, _) = self.accept()?;
        stream.set_nonblocking(true)?;
        Ok((stream, "".into()))
    }
}

impl Datagrams for UdpSocket {
    fn receive(&self, buffer: &mut [u8]) -> io::Result<(usize, Arc<str>)> {
        let (bytes, from) = self.recv_from(buffer)?;
        Ok((bytes, from.ip().to_string().into()))
    }
}

impl Datagrams for UnixDatagram {
    fn receive(&self, buffer: &mut [u8]) -> io::Result<(usize, Arc<str>)> {
        Ok((self.recv(buffer)?, "".into()))
    }
}

/// Binds a socket and starts its thread.
pub(super) fn start(
    address: &FeedAddress,
    tls: Option<&ServerTls>,
    sender: Sender,
) -> io::Result<Started> {
    match address {
        FeedAddress::Stdin
        | FeedAddress::Http(_)
        | FeedAddress::Journal(_)
        | FeedAddress::Kafka(_) => Err(io::ErrorKind::Unsupported.into()),
        FeedAddress::Tcp(address) => {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let bound = listener.local_addr()?;
            let accept: Box<dyn FnOnce() + Send> = match tls.map(ServerTls::config) {
                None => Box::new(move || accept_all(&listener, &sender)),
                Some(config) => {
                    let listener = SecureListener { listener, config };
                    Box::new(move || accept_all(&listener, &sender))
                }
            };
            Ok((spawn("collect-listen", accept)?, Some(bound)))
        }
        FeedAddress::Unix(path) => {
            remove_socket(path)?;
            let listener = UnixListener::bind(path)?;
            listener.set_nonblocking(true)?;
            let thread = spawn("collect-listen", move || accept_all(&listener, &sender))?;
            Ok((thread, None))
        }
        FeedAddress::Udp(address) => {
            let socket = UdpSocket::bind(address)?;
            socket.set_nonblocking(true)?;
            let bound = socket.local_addr()?;
            let thread = spawn("collect-datagrams", move || receive_all(&socket, &sender))?;
            Ok((thread, Some(bound)))
        }
        FeedAddress::UnixDatagram(path) => {
            remove_socket(path)?;
            let socket = UnixDatagram::bind(path)?;
            socket.set_nonblocking(true)?;
            let thread = spawn("collect-datagrams", move || receive_all(&socket, &sender))?;
            Ok((thread, None))
        }
    }
}

/// A socket that an earlier process left cannot be bound again; anything else at its path is left alone.
fn remove_socket(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => std::fs::remove_file(path),
        _ => Ok(()),
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let named = thread::Builder::new().name(name.to_owned());
    named.stack_size(STACK_BYTES).spawn(run)
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    Ready,
    /// The time is up.
    Late,
    /// The inputs have to end.
    Stop,
}

/// Waits until a socket is as `flags` say, or for some time.
pub(super) fn wait(
    socket: &impl AsFd,
    flags: PollFlags,
    sender: &Sender,
    at_most: Option<Duration>,
) -> Woken {
    // One that is too long is none.
    let at_most = at_most.and_then(|time| Timespec::try_from(time).ok());
    loop {
        let mut fds = [
            PollFd::new(socket, flags),
            PollFd::new(&*sender.stop, PollFlags::IN),
        ];
        match poll(&mut fds, at_most.as_ref()) {
            Ok(0) => return Woken::Late,
            Ok(_) if fds[1].revents().is_empty() => return Woken::Ready,
            Ok(_) => return Woken::Stop,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot wait for a socket");
                return Woken::Stop;
            }
        }
    }
}

/// Waits until there is something to read; false when the inputs have to end.
fn is_readable(socket: &impl AsFd, sender: &Sender) -> bool {
    wait(socket, PollFlags::IN, sender, None) == Woken::Ready
}

fn accept_all(listener: &impl Listener, sender: &Sender) {
    let mut connections: Vec<JoinHandle<()>> = Vec::new();
    while is_readable(listener, sender) {
        connections.retain(|connection| !connection.is_finished());
        let (stream, from) = match listener.accept_one() {
            Ok(accepted) => accepted,
            Err(error) => {
                // Whoever connected has gone again, or there are no more descriptors.
                tracing::debug!(%error, "a connection was not accepted");
                continue;
            }
        };
        if connections.len() as u64 >= CONNECTIONS_MAX {
            tracing::warn!(%from, "too many connections, one was closed");
            continue;
        }
        let own = sender.clone();
        match spawn("collect-connection", move || read_all(stream, &from, &own)) {
            Ok(connection) => connections.push(connection),
            Err(error) => tracing::warn!(%error, "a connection gets no thread"),
        }
    }
    for connection in connections {
        // A thread that panicked has said so.
        let _ = connection.join();
    }
}

fn read_all(mut stream: impl Connection, from: &Arc<str>, sender: &Sender) {
    sender.counts.connections.fetch_add(1, Ordering::Relaxed);
    match stream.open(sender) {
        Ok(()) => read_lines(stream, from, sender),
        Err(NotOpen::Failed(reason)) => sender.handshake_failed(from, &reason),
        Err(NotOpen::Ended) => {}
    }
    sender.counts.connections.fetch_sub(1, Ordering::Relaxed);
}

fn read_lines(mut stream: impl Connection, from: &Arc<str>, sender: &Sender) {
    let mut frames = LineFrames::new(Separation::Counted, sender.line_bytes_max);
    let mut buffer = vec![0; PARCEL_BYTES];
    let mut more = false;
    // Where a buffer was filled there may be more, of which the socket does not tell.
    while more || is_readable(&stream, sender) {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                more = count == buffer.len();
                frames.push(&buffer[..count]);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => more = false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                tracing::debug!(%error, %from, "a connection broke off");
                break;
            }
        }
        if sender.hand_over(from, &mut frames) == Handed::Nowhere {
            break;
        }
    }
    take_last(&mut stream, &mut frames, &mut buffer);
    frames.finish();
    sender.hand_over(from, &mut frames);
}

/// At the stop, what has arrived already is taken, as far as that does not take long.
fn take_last(stream: &mut impl Read, frames: &mut LineFrames, buffer: &mut [u8]) {
    for _ in 0..LAST_READS_MAX {
        match stream.read(buffer) {
            Ok(count) if count > 0 => frames.push(&buffer[..count]),
            _ => return,
        }
    }
}

fn receive_all(socket: &impl Datagrams, sender: &Sender) {
    let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
    let mut frames = LineFrames::new(Separation::Newlines, sender.line_bytes_max);
    let mut last: Arc<str> = "".into();
    while is_readable(socket, sender) {
        // All that is there goes in one parcel, as long as it comes from one sender.
        while let Ok((bytes, from)) = socket.receive(&mut buffer) {
            if from != last || frames.is_full() {
                if sender.offer(&last, &mut frames) == Handed::Nowhere {
                    return;
                }
                last = from;
            }
            frames.push_whole(&buffer[..bytes]);
        }
        if sender.offer(&last, &mut frames) == Handed::Nowhere {
            return;
        }
    }
}
