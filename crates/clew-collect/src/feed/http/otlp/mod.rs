//! OpenTelemetry's logs: what comes as a request of them, and the documents that it becomes.

mod fields;
mod messages;

use prost::Message;

use super::answer::{RETRY_AFTER_S, Refused};
use super::documents::{DOCUMENTS_MAX, Documents};
use messages::{AnyMessage, ExportLogsRequest, RetryInfo, RpcStatus, Seconds};

/// How a request is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Protobuf,
    Json,
}

/// The codes of `google.rpc.Code` that are answered.
const INVALID_ARGUMENT: i32 = 3;
const RESOURCE_EXHAUSTED: i32 = 8;
const UNAVAILABLE: i32 = 14;
const UNAUTHENTICATED: i32 = 16;

/// Takes a request apart.
pub(super) fn read(body: &[u8], form: Form, documents: &mut Documents) -> Result<(), Refused> {
    let request = match form {
        Form::Protobuf => ExportLogsRequest::decode(body)
            .map_err(|error| Refused::Invalid(format!("no request of logs: {error}")))?,
        Form::Json => serde_json::from_slice(body)
            .map_err(|error| Refused::Invalid(format!("no request of logs: {error}")))?,
    };
    let of_resources = request.resource_logs.iter();
    let of_scopes = of_resources.flat_map(|resource| &resource.scope_logs);
    let count: usize = of_scopes.map(|scope| scope.log_records.len()).sum();
    if count > DOCUMENTS_MAX {
        let reason = format!("{count} records, at most {DOCUMENTS_MAX} are taken at once");
        return Err(Refused::Invalid(reason));
    }
    fields::add_all(request, documents);
    Ok(())
}

/// The code and the message of a refusal, with when to come again, without which clients do not.
pub(super) fn status(refused: &Refused) -> (i32, Vec<u8>) {
    let code = match refused {
        Refused::Full => RESOURCE_EXHAUSTED,
        Refused::Unauthorized => UNAUTHENTICATED,
        Refused::NotDelivered | Refused::Late => UNAVAILABLE,
        Refused::Invalid(_) | Refused::TooLarge { .. } | Refused::Encoding(_) => INVALID_ARGUMENT,
    };
    let retry = RetryInfo {
        retry_delay: Some(Seconds {
            seconds: i64::from(RETRY_AFTER_S),
        }),
    };
    let detail = AnyMessage {
        type_url: "type.googleapis.com/google.rpc.RetryInfo".to_owned(),
        value: retry.encode_to_vec(),
    };
    let status = RpcStatus {
        code,
        message: refused.reason(),
        details: refused.is_for_now().then_some(detail).into_iter().collect(),
    };
    (code, status.encode_to_vec())
}
