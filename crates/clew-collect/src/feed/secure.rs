//! Connections over TLS: what a handshake may cost, and what is told of those that fail.
//!
//! A connection counts, and has a thread or a task, before its handshake; that has to end within [`HANDSHAKE_MAX`]. A
//! handshake that fails ends its connection and nothing else.

use std::io::{self, ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::event::PollFlags;
use rustls::{InvalidMessage, ServerConfig, ServerConnection};

use super::Sender;
use super::listen::{Connection, Listener, NotOpen, Woken, wait};

/// How long a handshake may take.
pub(super) const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// The time between two lines of the log about handshakes that failed; those in between are counted.
const TOLD_EVERY: Duration = Duration::from_secs(1);

/// Handshakes that failed.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    /// All of them.
    pub(crate) count: AtomicU64,
    /// Those since the last line of the log.
    untold: AtomicU64,
    /// When the next line may be written, by the monotonic clock in milliseconds.
    next_ms: AtomicU64,
}

impl Failures {
    /// Counts one, and tells of it unless another was told of a moment ago.
    pub(super) fn add(&self, now: Duration, from: &str, reason: &str) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let before = self.untold.fetch_add(1, Ordering::Relaxed);
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let (now_ms, pause_ms) = (milliseconds(now), milliseconds(TOLD_EVERY));
        let later = |next_ms| (now_ms >= next_ms).then(|| now_ms.saturating_add(pause_ms));
        let told = self
            .next_ms
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, later);
        if told.is_ok() {
            self.untold.fetch_sub(before + 1, Ordering::Relaxed);
            tracing::warn!(from, reason, others = before, "a handshake of TLS failed");
        }
    }
}

/// A socket whose connections are secured.
pub(super) struct SecureListener {
    pub(super) listener: TcpListener,
    pub(super) config: Arc<ServerConfig>,
}

/// A secured connection.
pub(super) struct SecureConnection {
    tls: ServerConnection,
    socket: TcpStream,
}

impl AsFd for SecureListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Listener for SecureListener {
    type Stream = SecureConnection;

    fn accept_one(&self) -> io::Result<(SecureConnection, Arc<str>)> {
        let (socket, from) = self.listener.accept_one()?;
        let tls = ServerConnection::new(Arc::clone(&self.config)).map_err(io::Error::other)?;
        Ok((SecureConnection { tls, socket }, from))
    }
}

impl AsFd for SecureConnection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Connection for SecureConnection {
    fn open(&mut self, sender: &Sender) -> Result<(), NotOpen> {
        let end = sender.clock.monotonic() + HANDSHAKE_MAX;
        while self.tls.is_handshaking() {
            let left = end.saturating_sub(sender.clock.monotonic());
            let flags = match self.tls.wants_write() {
                true => PollFlags::IN | PollFlags::OUT,
                false => PollFlags::IN,
            };
            match wait(&self.socket, flags, sender, Some(left)) {
                Woken::Ready => match self.receive() {
                    // There was only room for what is to be sent.
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    other => drop(other.map_err(NotOpen::failed)?),
                },
                Woken::Late => return Err(NotOpen::Failed(late())),
                Woken::Stop => return Err(NotOpen::Ended),
            }
        }
        Ok(())
    }
}

impl SecureConnection {
    /// Takes what has come from the socket, and sends what has to be answered, neither of which waits. Returns the number of
    /// bytes that came.
    fn receive(&mut self) -> io::Result<usize> {
        let came = match self.tls.read_tls(&mut self.socket) {
            Ok(0) if self.tls.is_handshaking() => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.send()?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        let processed = self.tls.process_new_packets();
        // What is wrong is told to the other side, too.
        let sent = self.send();
        processed.map_err(io::Error::other)?;
        sent.map(|()| came)
    }

    /// Sends what is left to be sent, as far as there is room for it; what is not sent is when something comes.
    fn send(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Read for SecureConnection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.tls.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
            // The end of the socket is seen by the next look at the reader.
            self.receive()?;
        }
    }
}

impl Drop for SecureConnection {
    fn drop(&mut self) {
        self.tls.send_close_notify();
        // Whoever has gone is not told.
        let _ = self.send();
    }
}

/// Why a handshake failed, for those who look after the sender.
pub(super) fn reason(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    match inner {
        Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            "what came is not TLS".to_owned()
        }
        _ if error.kind() == ErrorKind::UnexpectedEof => {
            "the connection was closed in the middle of it".to_owned()
        }
        _ => error.to_string(),
    }
}

pub(super) fn late() -> String {
    format!("it did not end within {} s", HANDSHAKE_MAX.as_secs())
}

#[cfg(test)]
mod tests;
