//! Sockets that lines are sent to. A listener's thread accepts and starts a thread for each connection; all of them wait for
//! their socket and for the stop together, so that at rest nothing runs.

use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, poll};

use super::frames::{LineFrames, Separation};
use super::{FeedAddress, Handed, PARCEL_BYTES, Sender};

/// Connections at once; the next ones are closed.
const CONNECTIONS_MAX: u64 = 1_000;
/// The largest datagram.
const DATAGRAM_BYTES_MAX: usize = 64 << 10;
/// Reads of a connection after the stop.
const LAST_READS_MAX: usize = 64;
/// Reading lines needs little.
const STACK_BYTES: usize = 256 << 10;

/// A bound input's thread, and its address if it has a port.
type Started = (JoinHandle<()>, Option<SocketAddr>);

/// A socket that connections come to.
trait Listener: AsFd + Send + 'static {
    type Stream: Read + AsFd + Send + 'static;

    /// A connection, and who made it.
    fn accept_one(&self) -> io::Result<(Self::Stream, Arc<str>)>;
}

/// A socket that datagrams come to.
trait Datagrams: AsFd + Send + 'static {
    /// The size of a datagram, and who sent it. Does not wait.
    fn receive(&self, buffer: &mut [u8]) -> io::Result<(usize, Arc<str>)>;
}

impl Listener for TcpListener {
    type Stream = TcpStream;

    fn accept_one(&self) -> io::Result<(TcpStream, Arc<str>)> {
        let (stream, from) = self.accept()?;
        Ok((stream, from.ip().to_string().into()))
    }
}

impl Listener for UnixListener {
    type Stream = UnixStream;

    fn accept_one(&self) -> io::Result<(UnixStream, Arc<str>)> {
        let (stream, _) = self.accept()?;
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
pub(super) fn start(address: &FeedAddress, sender: Sender) -> io::Result<Started> {
    match address {
        FeedAddress::Stdin | FeedAddress::Http(_) => Err(io::ErrorKind::Unsupported.into()),
        FeedAddress::Tcp(address) => {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let bound = listener.local_addr()?;
            let thread = spawn("collect-listen", move || accept_all(&listener, &sender))?;
            Ok((thread, Some(bound)))
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

/// Waits until there is something to read; false when the inputs have to end.
fn wait(socket: &impl AsFd, sender: &Sender) -> bool {
    loop {
        let mut fds = [
            PollFd::new(socket, PollFlags::IN),
            PollFd::new(&*sender.stop, PollFlags::IN),
        ];
        match poll(&mut fds, None) {
            Ok(_) => return fds[1].revents().is_empty(),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot wait for a socket");
                return false;
            }
        }
    }
}

fn accept_all(listener: &impl Listener, sender: &Sender) {
    let mut connections: Vec<JoinHandle<()>> = Vec::new();
    while wait(listener, sender) {
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

fn read_all(mut stream: impl Read + AsFd, from: &Arc<str>, sender: &Sender) {
    sender.counts.connections.fetch_add(1, Ordering::Relaxed);
    let mut frames = LineFrames::new(Separation::Counted, sender.line_bytes_max);
    let mut buffer = vec![0; PARCEL_BYTES];
    while wait(&stream, sender) {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => frames.push(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
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
    sender.counts.connections.fetch_sub(1, Ordering::Relaxed);
}

/// At the stop, what has arrived already is taken, as far as that does not take long.
fn take_last(stream: &mut (impl Read + AsFd), frames: &mut LineFrames, buffer: &mut [u8]) {
    if rustix::io::ioctl_fionbio(&*stream, true).is_err() {
        return;
    }
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
    while wait(socket, sender) {
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
