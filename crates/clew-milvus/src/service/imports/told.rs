//! What is told of bulk imports.

use serde_json::json;

use crate::bulk::Job;
use crate::proto::*;

/// What clients look for among what is told of a job, and where the RESTful API finds its files.
const REASON: &str = "failed_reason";
const PROGRESS: &str = "progress_percent";
pub(crate) const DETAILS: &str = "details";

/// When something was, as the RESTful API has it; nothing where it was not.
fn moment(at_ms: u64) -> String {
    let at = i64::try_from(at_ms).ok().filter(|at| *at > 0);
    let at = at.and_then(|at| jiff::Timestamp::from_second(at / 1_000).ok());
    at.map_or_else(String::new, |at| at.to_string())
}

/// A job as it is told.
pub(super) fn told(job: &Job) -> GetImportStateResponse {
    let (found, written) = job.rows();
    let ended = moment(job.ended_ms);
    let files = job.files.iter().map(|file| {
        let [total, imported] = file.rows;
        json!({
            "fileName": file.name,
            "fileSize": file.bytes,
            "progress": file.progress(job.state),
            "completeTime": ended,
            "state": job.state.name(),
            "importedRows": imported,
            "totalRows": total,
        })
    });
    let details = json!({
        "collectionName": job.collection,
        "completeTime": ended,
        "state": job.state.name(),
        "progress": job.progress(),
        "importedRows": written,
        "totalRows": found,
        "fileSize": job.bytes(),
        "details": files.collect::<Vec<_>>(),
    });
    let names: Vec<&str> = job.files.iter().map(|file| file.name.as_str()).collect();
    let info = |key: &str, value: String| KeyValuePair {
        key: key.to_string(),
        value,
    };
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    GetImportStateResponse {
        state: job.state.number(),
        row_count: whole(written),
        infos: vec![
            info("files", names.join(",")),
            info("collection", job.collection.clone()),
            info("partition", job.partition.clone()),
            info(REASON, job.reason.clone()),
            info(PROGRESS, job.progress().to_string()),
            info(DETAILS, details.to_string()),
        ],
        id: job.id,
        collection_id: job.collection_id,
        create_ts: whole(job.began_ms / 1_000),
        ..GetImportStateResponse::default()
    }
}
