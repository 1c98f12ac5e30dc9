//! Users: their passwords, and what is said of them.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use clew_access::{AccessError, Refused, User};

use super::{Call, Service};
use crate::error::{MilvusError, Result};
use crate::proto::{self, *};

/// A password, which clients send in base64.
fn password(encoded: &str) -> Result<String> {
    let bytes = BASE64_STANDARD.decode(encoded).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| MilvusError::invalid("invalid password: it is no base64 of a text"))
}

impl Service {
    pub(crate) async fn create_credential(
        &self,
        _: Call,
        request: CreateCredentialRequest,
    ) -> Result<proto::Status> {
        let password = password(&request.password)?;
        let description = request.description.unwrap_or_default();
        self.change_access(move |access| {
            Ok(access.create_user(&request.username, &password, &description)?)
        })
        .await?;
        Ok(proto::Status::default())
    }

    /// Changes a password, or what is said of a user where no password comes along.
    pub(crate) async fn update_credential(
        &self,
        _: Call,
        request: UpdateCredentialRequest,
    ) -> Result<proto::Status> {
        let name = request.username;
        let (old, new) = (
            password(&request.old_password)?,
            password(&request.new_password)?,
        );
        self.change_access(move |access| {
            if !(old.is_empty() && new.is_empty() && request.description.is_some()) {
                access
                    .change_password(&name, (&old, &new))
                    .map_err(|error| match error {
                        AccessError::Refused(Refused::Wrong) => MilvusError::NotAuthenticated(
                            format!("old password not correct for {name}"),
                        ),
                        other => other.into(),
                    })?;
            }
            if let Some(description) = request.description {
                access.change(|records| records.describe_user(&name, &description))?;
            }
            Ok(())
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn delete_credential(
        &self,
        _: Call,
        request: DeleteCredentialRequest,
    ) -> Result<proto::Status> {
        self.change_access(move |access| {
            Ok(access.change(|records| records.delete_user(&request.username))?)
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn list_cred_users(
        &self,
        _: Call,
        _: ListCredUsersRequest,
    ) -> Result<ListCredUsersResponse> {
        let records = self.records();
        Ok(ListCredUsersResponse {
            usernames: records.users().map(|(name, _)| name.to_string()).collect(),
            ..ListCredUsersResponse::default()
        })
    }

    /// One user or all; none where the one is not there.
    pub(crate) async fn select_user(
        &self,
        _: Call,
        request: SelectUserRequest,
    ) -> Result<SelectUserResponse> {
        let records = self.records();
        let asked = request.user.map(|user| user.name);
        let asked = asked.filter(|name| !name.is_empty());
        let is_asked = |name: &str| asked.as_ref().is_none_or(|asked| asked == name);
        let told = |(name, user): (&str, &User)| {
            let role = |role: &String| RoleEntity {
                name: role.clone(),
                ..RoleEntity::default()
            };
            UserResult {
                user: Some(UserEntity {
                    name: name.to_string(),
                }),
                roles: match request.include_role_info {
                    true => user.roles.iter().map(role).collect(),
                    false => Vec::new(),
                },
                description: user.description.clone(),
            }
        };
        let users = records.users().filter(|(name, _)| is_asked(name));
        Ok(SelectUserResponse {
            results: users.map(told).collect(),
            ..SelectUserResponse::default()
        })
    }
}
