//! The client of HTTP with our own TLS below it, as its own does not know authorities of one output, or certificates that are
//! good for another name.

use std::io::{self, Read, Write};
use std::sync::Arc;

use rustls::{ClientConfig, ClientConnection, StreamOwned};
use ureq::config::Config;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{
    Buffers, ConnectProxyConnector, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout,
    TcpConnector, Transport, TransportAdapter,
};

use crate::tls::{ClientTls, hostname};

/// A client that secures connections to addresses that begin with `https`.
pub fn agent(config: Config, tls: Option<&ClientTls>) -> ureq::Agent {
    let connector = ().chain(ConnectProxyConnector::default()).chain(TcpConnector::default());
    match tls {
        None => ureq::Agent::with_parts(config, connector, DefaultResolver::default()),
        Some(tls) => {
            let connector = connector.chain(Secured(tls.config()));
            ureq::Agent::with_parts(config, connector, DefaultResolver::default())
        }
    }
}

/// Puts TLS on a connection that has to have it.
struct Secured(Arc<ClientConfig>);

impl<In: Transport> Connector<In> for Secured {
    type Out = Either<In, SecureTransport>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        let Some(transport) = chained else {
            return Ok(None);
        };
        if !details.needs_tls() || transport.is_tls() {
            return Ok(Some(Either::A(transport)));
        }
        let wrong = |reason: String| ureq::Error::Io(io::Error::other(reason));
        let name = hostname(details.uri.host().unwrap_or_default()).map_err(wrong)?;
        let mut tls = ClientConnection::new(Arc::clone(&self.0), name).map_err(io::Error::other)?;
        let clock = Arc::clone(&details.current_time);
        let mut socket = TransportAdapter::new(transport.boxed(), clock);
        socket.set_timeout(details.timeout);
        tls.complete_io(&mut socket)?;
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        let stream = StreamOwned::new(tls, socket);
        Ok(Some(Either::B(SecureTransport { buffers, stream })))
    }
}

/// A secured connection.
struct SecureTransport {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl SecureTransport {
    /// Why nothing can be sent: what the server said before it closed, if that has come, tells more than that it closed.
    fn why(&mut self, error: io::Error) -> io::Error {
        let said = self.stream.read(&mut [0]).err();
        let is_of_tls = |said: &io::Error| {
            said.get_ref()
                .is_some_and(|inner| inner.is::<rustls::Error>())
        };
        said.filter(is_of_tls).unwrap_or(error)
    }
}

impl Transport for SecureTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        let sent = self.stream.write_all(&self.buffers.output()[..amount]);
        sent.map_err(|error| self.why(error).into())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        let count = self.stream.read(self.buffers.input_append_buf())?;
        self.buffers.input_appended(count);
        Ok(count > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.get_mut().get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl std::fmt::Debug for Secured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secured")
    }
}

impl std::fmt::Debug for SecureTransport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecureTransport")
    }
}

#[cfg(test)]
mod tests;
