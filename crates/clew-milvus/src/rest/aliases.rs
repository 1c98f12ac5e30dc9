//! `/aliases/…`

use serde_json::json;

use super::body::{Body, Refusal, Result};
use super::{Answer, done, unknown};
use crate::proto::*;
use crate::service::{Caller, Door};

pub(super) async fn run(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    let put = || {
        Ok::<_, Refusal>(CreateAliasRequest {
            collection_name: body.text("collectionName")?,
            alias: body.text("aliasName")?,
            ..CreateAliasRequest::default()
        })
    };
    match action {
        "list" => {
            let request = ListAliasesRequest {
                collection_name: body.text_or("collectionName", "")?,
                ..ListAliasesRequest::default()
            };
            let all = door.list_aliases(caller, request).await?;
            return Ok(Answer::Data(json!(all.aliases)));
        }
        "describe" => {
            let alias = body.text("aliasName")?;
            let request = DescribeAliasRequest {
                alias,
                ..DescribeAliasRequest::default()
            };
            let found = door.describe_alias(caller, request).await?;
            return Ok(Answer::Data(json!({
                "dbName": found.db_name,
                "aliasName": found.alias,
                "collectionName": found.collection,
            })));
        }
        "create" => door.create_alias(caller, put()?).await?,
        "alter" => door.alter_alias(caller, put()?).await?,
        "drop" => {
            let request = DropAliasRequest {
                alias: body.text("aliasName")?,
                ..DropAliasRequest::default()
            };
            door.drop_alias(caller, request).await?
        }
        other => return Err(unknown(&format!("aliases/{other}"))),
    };
    Ok(done())
}
