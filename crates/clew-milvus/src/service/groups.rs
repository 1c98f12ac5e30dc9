//! Groups of privileges, which are granted as one.

use clew_access::Records;

use super::roles::Operation;
use super::{Call, Service};
use crate::collection::NameOf;
use crate::error::{MilvusError, Result};
use crate::privilege::{Grantable, Privilege, built_in, built_in_groups};
use crate::proto::{self, *};

fn info<'p>(name: &str, privileges: impl Iterator<Item = &'p str>) -> PrivilegeGroupInfo {
    let entity = |name: &str| PrivilegeEntity {
        name: name.to_string(),
    };
    PrivilegeGroupInfo {
        group_name: name.to_string(),
        privileges: privileges.map(entity).collect(),
    }
}

/// The privileges that names mean, groups that users made among them; their level must be one, so that a group has it.
fn members(
    names: &[PrivilegeEntity],
    group: &str,
    records: &Records,
) -> Result<Vec<&'static Privilege>> {
    let mut all = Vec::new();
    for PrivilegeEntity { name } in names {
        match Grantable::named(name, records) {
            Some(Grantable::One(privilege)) => all.push(privilege),
            Some(Grantable::Group(others)) => {
                all.extend(others.iter().filter_map(|name| Privilege::named(name)));
            }
            _ => {
                return Err(MilvusError::Invalid(format!(
                    "there is no privilege name or privilege group name [{name}] defined in system to operate"
                )));
            }
        }
    }
    let own = records.group(group).into_iter().flatten();
    let own = own.filter_map(|name| Privilege::named(name));
    let together = own.chain(all.iter().copied());
    let mut levels = together.map(|privilege| privilege.level);
    let first = levels.next();
    if levels.any(|level| Some(level) != first) {
        return Err(MilvusError::invalid(
            "privileges are not the same privilege level",
        ));
    }
    Ok(all)
}

impl Service {
    pub(crate) async fn create_privilege_group(
        &self,
        _: Call,
        request: CreatePrivilegeGroupRequest,
    ) -> Result<proto::Status> {
        let name = request.group_name;
        NameOf::PrivilegeGroup.check(&name)?;
        if Privilege::named(&name).is_some() || built_in(&name).is_some() || name == "All" {
            return Err(MilvusError::Invalid(format!(
                "privilege group name [{name}] is defined by built in privileges or privilege groups in system"
            )));
        }
        self.change_access(move |access| Ok(access.change(|records| records.create_group(&name))?))
            .await?;
        Ok(proto::Status::default())
    }

    /// Removes a group; Milvus says nothing where there is none, nor where it is built in.
    pub(crate) async fn drop_privilege_group(
        &self,
        _: Call,
        request: DropPrivilegeGroupRequest,
    ) -> Result<proto::Status> {
        let name = request.group_name;
        NameOf::PrivilegeGroup.check(&name)?;
        if self.records().group(&name).is_none() {
            return Ok(proto::Status::default());
        }
        self.change_access(move |access| Ok(access.change(|records| records.drop_group(&name))?))
            .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn list_privilege_groups(
        &self,
        _: Call,
        _: ListPrivilegeGroupsRequest,
    ) -> Result<ListPrivilegeGroupsResponse> {
        let built_in = built_in_groups().map(|(name, all)| info(&name, all.into_iter()));
        let records = self.records();
        let made = records.groups();
        let made = made.map(|(name, all)| info(name, all.iter().map(String::as_str)));
        Ok(ListPrivilegeGroupsResponse {
            privilege_groups: built_in.chain(made).collect(),
            ..ListPrivilegeGroupsResponse::default()
        })
    }

    pub(crate) async fn operate_privilege_group(
        &self,
        _: Call,
        request: OperatePrivilegeGroupRequest,
    ) -> Result<proto::Status> {
        NameOf::PrivilegeGroup.check(&request.group_name)?;
        let operation = Operation::of(request.r#type)?;
        self.change_access(move |access| {
            let group = &request.group_name;
            if request.privileges.is_empty() && access.records().group(group).is_some() {
                return Err(MilvusError::invalid(
                    "privileges is empty when alter the privilege group",
                ));
            }
            let all = match operation {
                Operation::Give => members(&request.privileges, group, &access.records())?,
                Operation::Take => {
                    let named = request.privileges.iter();
                    named
                        .filter_map(|one| Privilege::named(&one.name))
                        .collect()
                }
            };
            Ok(access.change(|records| {
                records.check_group(group)?;
                all.iter().try_for_each(|privilege| match operation {
                    Operation::Give => records.add_to_group(group, privilege.name),
                    Operation::Take => records.remove_from_group(group, privilege.name),
                })
            })?)
        })
        .await?;
        Ok(proto::Status::default())
    }
}
