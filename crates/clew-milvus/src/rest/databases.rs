//! `/databases/…`

use serde_json::json;

use super::body::{Body, Result};
use super::{Answer, answers, done, unknown};
use crate::proto::*;
use crate::service::{Caller, Door};

pub(super) async fn run(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    match action {
        "list" => {
            let all = door
                .list_databases(caller, ListDatabasesRequest::default())
                .await?;
            return Ok(Answer::Data(json!(all.db_names)));
        }
        "describe" => {
            let request = DescribeDatabaseRequest {
                db_name: body.text("dbName")?,
            };
            let found = door.describe_database(caller, request).await?;
            return Ok(Answer::Data(json!({
                "dbName": found.db_name,
                "dbID": found.db_id,
                "properties": answers::pairs(&found.properties),
            })));
        }
        "create" => {
            let request = CreateDatabaseRequest {
                db_name: body.text("dbName")?,
                properties: body.pairs("properties")?,
            };
            door.create_database(caller, request).await?
        }
        "drop" => {
            let request = DropDatabaseRequest {
                db_name: body.text("dbName")?,
            };
            door.drop_database(caller, request).await?
        }
        "alter" | "alter_properties" | "drop_properties" => {
            let request = AlterDatabaseRequest {
                db_name: body.text("dbName")?,
                properties: body.pairs("properties")?,
                delete_keys: body.texts("propertyKeys")?,
            };
            door.alter_database(caller, request).await?
        }
        other => return Err(unknown(&format!("databases/{other}"))),
    };
    Ok(done())
}
