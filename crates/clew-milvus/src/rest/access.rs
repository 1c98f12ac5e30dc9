//! `/users/…`, `/roles/…` and `/privilege_groups/…`

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use super::body::{Body, Result};
use super::{Answer, done, unknown};
use crate::error::MilvusError;
use crate::proto::*;
use crate::service::{Caller, Door};

/// What gives, and what takes, in calls that do either.
const GIVE: i32 = 0;
const TAKE: i32 = 1;

pub(super) async fn users(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    let encoded = |name: &str| Ok::<_, super::Refusal>(BASE64_STANDARD.encode(body.text(name)?));
    match action {
        "list" => {
            let all = door
                .list_cred_users(caller, ListCredUsersRequest::default())
                .await?;
            return Ok(Answer::Data(json!(all.usernames)));
        }
        "describe" => {
            let request = SelectUserRequest {
                user: Some(UserEntity {
                    name: body.text("userName")?,
                }),
                include_role_info: true,
            };
            let found = door.select_user(caller, request).await?;
            let user = found.results.into_iter().next().unwrap_or_default();
            let names: Vec<String> = user.roles.into_iter().map(|role| role.name).collect();
            return Ok(described(json!(names), user.description));
        }
        "create" => {
            let request = CreateCredentialRequest {
                username: body.text("userName")?,
                password: encoded("password")?,
                description: description(&body)?,
            };
            door.create_credential(caller, request).await?
        }
        "update_password" => {
            let description = description(&body)?;
            // Without a new password it is the description that changes.
            let (old_password, new_password) = match body.text_or("newPassword", "")?.is_empty() {
                true if description.is_some() => (String::new(), String::new()),
                _ => (encoded("password")?, encoded("newPassword")?),
            };
            let request = UpdateCredentialRequest {
                username: body.text("userName")?,
                old_password,
                new_password,
                description,
            };
            door.update_credential(caller, request).await?
        }
        "drop" => {
            let request = DeleteCredentialRequest {
                username: body.text("userName")?,
            };
            door.delete_credential(caller, request).await?
        }
        "grant_role" | "revoke_role" => {
            let request = OperateUserRoleRequest {
                username: body.text("userName")?,
                role_name: body.text("roleName")?,
                r#type: direction(action),
            };
            door.operate_user_role(caller, request).await?
        }
        other => return Err(unknown(&format!("users/{other}"))),
    };
    Ok(done())
}

pub(super) async fn roles(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    match action {
        "list" => {
            let all = door
                .select_role(caller, SelectRoleRequest::default())
                .await?;
            let roles = all.results.into_iter().filter_map(|found| found.role);
            let names: Vec<String> = roles.map(|role| role.name).collect();
            return Ok(Answer::Data(json!(names)));
        }
        "describe" => return grants(door, caller, &body).await,
        "create" => {
            let request = CreateRoleRequest {
                entity: Some(role(&body)?),
            };
            door.create_role(caller, request).await?
        }
        "alter" => {
            let request = AlterRoleRequest {
                role_name: body.text("roleName")?,
                description: body.text_or("description", "")?,
            };
            door.alter_role(caller, request).await?
        }
        "drop" => {
            let request = DropRoleRequest {
                role_name: body.text("roleName")?,
                force_drop: body.flag("forceDrop")?.unwrap_or_default(),
            };
            door.drop_role(caller, request).await?
        }
        "grant_privilege" | "revoke_privilege" => {
            let request = OperatePrivilegeRequest {
                entity: Some(GrantEntity {
                    role: Some(role(&body)?),
                    object: Some(ObjectEntity {
                        name: body.text("objectType")?,
                    }),
                    object_name: body.text("objectName")?,
                    grantor: Some(grantor(&body)?),
                    db_name: body.text_or("dbName", "")?,
                }),
                r#type: direction(action),
            };
            door.operate_privilege(caller, request).await?
        }
        "grant_privilege_v2" | "revoke_privilege_v2" => {
            let request = OperatePrivilegeV2Request {
                role: Some(role(&body)?),
                grantor: Some(grantor(&body)?),
                r#type: direction(action),
                db_name: body.text_or("dbName", "")?,
                collection_name: body.text_or("collectionName", "")?,
            };
            door.operate_privilege_v2(caller, request).await?
        }
        other => return Err(unknown(&format!("roles/{other}"))),
    };
    Ok(done())
}

/// What is said of a user or a role, where something is.
fn description(body: &Body) -> Result<Option<String>> {
    match body.get("description") {
        None => Ok(None),
        Some(_) => Ok(Some(body.text_or("description", "")?)),
    }
}

/// What is told of a user or a role, and the words about them beside it.
fn described(data: Value, description: String) -> Answer {
    let mut whole = Map::new();
    whole.insert("data".to_string(), data);
    whole.insert("description".to_string(), description.into());
    Answer::Whole(whole)
}

/// What a role is granted.
async fn grants(door: &Door, caller: Caller, body: &Body) -> Result<Answer> {
    let asked = SelectRoleRequest {
        role: Some(role(body)?),
        ..SelectRoleRequest::default()
    };
    // Who may not know more of roles is told what is granted.
    let roles = match door.select_role(caller.clone(), asked).await {
        Ok(found) => found.results,
        Err(MilvusError::Denied(_)) => Vec::new(),
        Err(other) => return Err(other.into()),
    };
    let found = roles.into_iter().find_map(|found| found.role);
    let description = found.unwrap_or_default().description;
    let request = SelectGrantRequest {
        entity: Some(GrantEntity {
            role: Some(role(body)?),
            ..GrantEntity::default()
        }),
    };
    let found = door.select_grant(caller, request).await?;
    let grants = found.entities.into_iter().map(grant).collect();
    Ok(described(grants, description))
}

fn direction(action: &str) -> i32 {
    let gives = ["grant_", "add_"];
    match gives.iter().any(|word| action.starts_with(word)) {
        true => GIVE,
        false => TAKE,
    }
}

fn role(body: &Body) -> Result<RoleEntity> {
    Ok(RoleEntity {
        name: body.text("roleName")?,
        description: body.text_or("description", "")?,
    })
}

fn grantor(body: &Body) -> Result<GrantorEntity> {
    let privilege = PrivilegeEntity {
        name: body.text("privilege")?,
    };
    Ok(GrantorEntity {
        privilege: Some(privilege),
        ..GrantorEntity::default()
    })
}

fn grant(entity: GrantEntity) -> Value {
    let grantor = entity.grantor.unwrap_or_default();
    json!({
        "objectType": entity.object.unwrap_or_default().name,
        "objectName": entity.object_name,
        "privilege": grantor.privilege.unwrap_or_default().name,
        "dbName": entity.db_name,
        "grantor": grantor.user.unwrap_or_default().name,
    })
}

pub(super) async fn privilege_groups(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    match action {
        "list" => {
            let all = door
                .list_privilege_groups(caller, ListPrivilegeGroupsRequest::default())
                .await?;
            let groups: Vec<Value> = all.privilege_groups.into_iter().map(group).collect();
            return Ok(Answer::Data(json!({"privilegeGroups": groups})));
        }
        "create" => {
            let request = CreatePrivilegeGroupRequest {
                group_name: body.text("privilegeGroupName")?,
            };
            door.create_privilege_group(caller, request).await?
        }
        "drop" => {
            let request = DropPrivilegeGroupRequest {
                group_name: body.text("privilegeGroupName")?,
            };
            door.drop_privilege_group(caller, request).await?
        }
        "add_privileges_to_group" | "remove_privileges_from_group" => {
            let names = body.texts("privileges")?;
            let privileges = names.into_iter().map(|name| PrivilegeEntity { name });
            let request = OperatePrivilegeGroupRequest {
                group_name: body.text("privilegeGroupName")?,
                privileges: privileges.collect(),
                r#type: direction(action),
            };
            door.operate_privilege_group(caller, request).await?
        }
        other => return Err(unknown(&format!("privilege_groups/{other}"))),
    };
    Ok(done())
}

/// A group, its privileges in one text as Milvus tells them.
fn group(info: PrivilegeGroupInfo) -> Value {
    let names: Vec<String> = info.privileges.into_iter().map(|one| one.name).collect();
    json!({"privilegeGroupName": info.group_name, "privileges": names.join(",")})
}
