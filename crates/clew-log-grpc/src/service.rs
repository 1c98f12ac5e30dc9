//! The service's calls, each handed to the module that knows it.

use std::pin::Pin;
use std::sync::Arc;

use clew_log::Log;
use futures_util::Stream;
use tokio::sync::Semaphore;
use tonic::{Code, Request, Response, Status, Streaming};

use crate::admission::Admission;
use crate::proto;
use crate::status::{broken, worded};
use crate::stop::Stop;
use crate::{append, read, scan, streams, subscribe};

/// Subscriptions of all clients together.
const SUBSCRIPTIONS_MAX: usize = 1024;

/// The log behind the service.
#[derive(Debug)]
pub(crate) struct LogService {
    log: Log,
    admission: Admission,
    places: Arc<Semaphore>,
    stop: Stop,
}

type Replies<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;
type Reply<T> = Result<Response<T>, Status>;

impl LogService {
    pub(crate) fn new(log: Log, admission: Admission, stop: Stop) -> Self {
        LogService {
            log,
            admission,
            places: Arc::new(Semaphore::new(SUBSCRIPTIONS_MAX)),
            stop,
        }
    }

    /// Runs what may block on a thread where that is no harm.
    async fn blocking<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Log) -> Result<T, Status> + Send + 'static,
    ) -> Result<T, Status> {
        let log = self.log.clone();
        tokio::task::spawn_blocking(move || call(&log))
            .await
            .map_err(|error| broken(&error))?
    }
}

#[tonic::async_trait]
impl proto::log_server::Log for LogService {
    async fn create_stream(
        &self,
        request: Request<proto::CreateStreamRequest>,
    ) -> Reply<proto::StreamInfo> {
        let name = request.into_inner().stream;
        let info = self.blocking(move |log| streams::create(log, &name));
        info.await.map(Response::new)
    }

    async fn list_streams(
        &self,
        _: Request<proto::ListStreamsRequest>,
    ) -> Reply<proto::ListStreamsReply> {
        Ok(Response::new(streams::list(&self.log)))
    }

    async fn describe_stream(
        &self,
        request: Request<proto::DescribeStreamRequest>,
    ) -> Reply<proto::StreamInfo> {
        streams::describe(&self.log, &request.into_inner().stream).map(Response::new)
    }

    async fn delete_stream(
        &self,
        request: Request<proto::DeleteStreamRequest>,
    ) -> Reply<proto::DeleteStreamReply> {
        let names = request.into_inner().streams;
        let deleted = self.blocking(move |log| streams::delete(log, &names));
        deleted.await.map(Response::new)
    }

    async fn seal_stream(
        &self,
        request: Request<proto::SealStreamRequest>,
    ) -> Reply<proto::StreamInfo> {
        let name = request.into_inner().stream;
        let info = self.blocking(move |log| streams::seal(log, &name));
        info.await.map(Response::new)
    }

    async fn unseal_stream(
        &self,
        request: Request<proto::UnsealStreamRequest>,
    ) -> Reply<proto::StreamInfo> {
        let name = request.into_inner().stream;
        let info = self.blocking(move |log| streams::unseal(log, &name));
        info.await.map(Response::new)
    }

    async fn trim(&self, request: Request<proto::TrimRequest>) -> Reply<proto::TrimReply> {
        let request = request.into_inner();
        let trimmed = self.blocking(move |log| streams::trim(log, &request));
        trimmed.await.map(Response::new)
    }

    async fn append(&self, request: Request<proto::AppendRequest>) -> Reply<proto::AppendReply> {
        let request = request.into_inner();
        let admission = self.admission.clone();
        let ordered = self
            .blocking(move |log| append::order((log, &admission), &request))
            .await?;
        ordered.acknowledged(&self.log).await.map(Response::new)
    }

    type AppendStreamStream = Replies<proto::AppendStreamReply>;

    async fn append_stream(
        &self,
        requests: Request<Streaming<proto::AppendRequest>>,
    ) -> Reply<Self::AppendStreamStream> {
        let requests = requests.into_inner();
        let replies = append::replies(
            (self.log.clone(), self.admission.clone()),
            requests,
            self.stop.clone(),
        );
        Ok(Response::new(Box::pin(replies)))
    }

    async fn read(&self, request: Request<proto::ReadRequest>) -> Reply<proto::Entry> {
        let request = request.into_inner();
        let entry = self.blocking(move |log| read::read(log, &request));
        entry.await.map(Response::new)
    }

    type ScanStream = Replies<proto::ScanReply>;

    async fn scan(&self, request: Request<proto::ScanRequest>) -> Reply<Self::ScanStream> {
        let request = request.into_inner();
        let sending = self.blocking(move |log| scan::open(log, &request)).await?;
        Ok(Response::new(Box::pin(scan::messages(sending))))
    }

    type SubscribeStream = Replies<proto::SubscribeReply>;

    async fn subscribe(
        &self,
        request: Request<proto::SubscribeRequest>,
    ) -> Reply<Self::SubscribeStream> {
        let request = request.into_inner();
        let place = self.places.clone().try_acquire_owned().map_err(|_| {
            let said = format!("{SUBSCRIPTIONS_MAX} subscriptions are open already");
            worded(Code::ResourceExhausted, "too-many-subscriptions", said)
        })?;
        let stop = self.stop.clone();
        let open = move |log: &Log| subscribe::open(log, &request, place, stop);
        let following = self.blocking(open).await?;
        Ok(Response::new(Box::pin(subscribe::messages(following))))
    }

    async fn position(&self, _: Request<proto::PositionRequest>) -> Reply<proto::PositionReply> {
        Ok(Response::new(read::position(&self.log)))
    }
}
