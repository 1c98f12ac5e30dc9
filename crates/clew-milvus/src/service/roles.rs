//! Roles, and who has them.

use clew_access::{AccessError, DropRole, Records, Role};

use super::{Call, Service};
use crate::error::{MilvusError, Result};
use crate::proto::{self, *};

/// What a call that gives and takes means by its `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Give,
    Take,
}

impl Operation {
    pub(super) fn of(number: i32) -> Result<Self> {
        match number {
            0 => Ok(Operation::Give),
            1 => Ok(Operation::Take),
            other => Err(MilvusError::expected("0 or 1", other)),
        }
    }
}

/// A role that is not there.
pub(super) fn no_role(name: &str) -> MilvusError {
    let name = name.to_string();
    AccessError::NotFound { what: "role", name }.into()
}

impl Service {
    pub(crate) async fn create_role(
        &self,
        _: Call,
        request: CreateRoleRequest,
    ) -> Result<proto::Status> {
        let role = request.entity.unwrap_or_default();
        self.change_access(move |access| {
            Ok(access.change(|records| records.create_role(&role.name, &role.description))?)
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn alter_role(
        &self,
        _: Call,
        request: AlterRoleRequest,
    ) -> Result<proto::Status> {
        let change = move |records: &mut Records| {
            records.describe_role(&request.role_name, &request.description)
        };
        self.change_access(move |access| Ok(access.change(change)?))
            .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn drop_role(
        &self,
        _: Call,
        request: DropRoleRequest,
    ) -> Result<proto::Status> {
        let how = match request.force_drop {
            true => DropRole::Forced,
            false => DropRole::IfEmpty,
        };
        self.change_access(move |access| {
            Ok(access.change(|records| records.drop_role(&request.role_name, how))?)
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn operate_user_role(
        &self,
        _: Call,
        request: OperateUserRoleRequest,
    ) -> Result<proto::Status> {
        let operation = Operation::of(request.r#type)?;
        let change = move |records: &mut Records| {
            let (user, role) = (&request.username, &request.role_name);
            match operation {
                Operation::Give => records.add_to_role(user, role),
                // As in Milvus, nothing is taken from whom there is not.
                Operation::Take if records.user(user).is_none() && records.role(role).is_some() => {
                    Ok(())
                }
                Operation::Take => records.remove_from_role(user, role),
            }
        };
        self.change_access(move |access| Ok(access.change(change)?))
            .await?;
        Ok(proto::Status::default())
    }

    /// One role or all.
    pub(crate) async fn select_role(
        &self,
        _: Call,
        request: SelectRoleRequest,
    ) -> Result<SelectRoleResponse> {
        let records = self.records();
        let told = |(name, role): (&str, &Role)| {
            let has = records
                .users()
                .filter(|(_, user)| user.roles.contains(name));
            let user = |(name, _): (&str, _)| UserEntity {
                name: name.to_string(),
            };
            RoleResult {
                role: Some(RoleEntity {
                    name: name.to_string(),
                    description: role.description.clone(),
                }),
                users: match request.include_user_info {
                    true => has.map(user).collect(),
                    false => Vec::new(),
                },
            }
        };
        let asked = request.role.as_ref().map(|role| role.name.as_str());
        let results = match asked.filter(|name| !name.is_empty()) {
            None => records.roles().map(told).collect(),
            Some(name) => {
                let role = records.role(name).ok_or_else(|| no_role(name))?;
                vec![told((name, role))]
            }
        };
        Ok(SelectRoleResponse {
            results,
            ..SelectRoleResponse::default()
        })
    }
}
