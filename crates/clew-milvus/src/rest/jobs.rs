//! `/jobs/…`: bulk imports.

use serde_json::{Map, Value, json};

use super::body::{Body, Refusal, Result};
use super::{Answer, unknown};
use crate::error::MilvusError;
use crate::proto::*;
use crate::service::{Caller, Door, IMPORT_DETAILS};

pub(super) async fn run(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    match action {
        "import/create" => {
            let request = ImportRequest {
                collection_name: body.text("collectionName")?,
                partition_name: body.text_or("partitionName", "")?,
                files: files(&body)?,
                options: body.pairs("options")?,
                ..ImportRequest::default()
            };
            let begun = door.import(caller, request).await?;
            let id = begun.tasks.first().copied().unwrap_or_default();
            Ok(Answer::Data(json!({"jobId": id.to_string()})))
        }
        "import/describe" | "import/get_progress" => {
            let id = body.text("jobId")?;
            let task: i64 = id
                .parse()
                .map_err(|_| MilvusError::Import(format!("parse job id failed, jobID={id}")))?;
            let request = GetImportStateRequest { task };
            let found = door.get_import_state(caller, request).await?;
            Ok(Answer::Data(Value::Object(described(&found))))
        }
        "import/list" => {
            let request = ListImportTasksRequest {
                collection_name: body.text_or("collectionName", "")?,
                ..ListImportTasksRequest::default()
            };
            let found = door.list_import_tasks(caller, request).await?;
            let record = |job: &GetImportStateResponse| {
                let mut told = described(job);
                let told = told.iter_mut();
                let short = told.filter(|(name, _)| {
                    matches!(
                        name.as_str(),
                        "jobId" | "collectionName" | "state" | "progress" | "reason"
                    )
                });
                let short = short.map(|(name, value)| (name.clone(), value.take()));
                Value::Object(short.collect())
            };
            let records: Vec<Value> = found.tasks.iter().map(record).collect();
            Ok(Answer::Data(json!({"records": records})))
        }
        other => Err(unknown(&format!("jobs/{other}"))),
    }
}

/// The files of an import: lists of those that belong together.
fn files(body: &Body) -> Result<Vec<String>> {
    if body.get("files").is_none() {
        return Err(Refusal::Missing("Key: 'files' is required".to_string()));
    }
    let refused = || {
        let said = "the parameter files should be a list of lists of strings".to_string();
        Refusal::NoJson(said)
    };
    let mut names = Vec::new();
    for one in body.list("files") {
        match one {
            Value::String(name) => names.push(name.clone()),
            Value::Array(together) => {
                for name in together {
                    names.push(name.as_str().ok_or_else(refused)?.to_string());
                }
            }
            _ => return Err(refused()),
        }
    }
    Ok(names)
}

/// What is told of a job.
fn described(job: &GetImportStateResponse) -> Map<String, Value> {
    let info = |key: &str| {
        let found = job.infos.iter().find(|pair| pair.key == key);
        found.map_or("", |pair| pair.value.as_str())
    };
    let mut told: Map<String, Value> =
        serde_json::from_str(info(IMPORT_DETAILS)).unwrap_or_default();
    told.insert("jobId".to_string(), job.id.to_string().into());
    let reason = info("failed_reason");
    if !reason.is_empty() {
        told.insert("reason".to_string(), reason.into());
    }
    told
}
