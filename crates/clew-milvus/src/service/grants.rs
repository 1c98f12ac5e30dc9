//! What roles may do: rights given and taken, in Milvus' two forms, and told.

use clew_access::{Granted, Records, Right};

use super::roles::{Operation, no_role};
use super::{Call, Service};
use crate::collection::NameOf;
use crate::error::{MilvusError, Result};
use crate::privilege::{ANY, Grantable, Kind, Level};
use crate::proto::{self, *};

fn unknown_privilege(name: &str) -> MilvusError {
    MilvusError::invalid(format!("not found the privilege name[{name}]"))
}

fn privilege_of(grantor: Option<GrantorEntity>) -> Result<String> {
    let privilege = grantor.and_then(|grantor| grantor.privilege);
    let name = privilege.unwrap_or_default().name;
    match name.is_empty() {
        true => Err(MilvusError::invalid(
            "the privilege entity in the grantor entity is nil",
        )),
        false => Ok(name),
    }
}

/// A database or an object of a grant: any, or a name by the rules.
fn check_object(of: NameOf, name: &str) -> Result<()> {
    if name == ANY {
        return Ok(());
    }
    of.check(name)
}

/// A right that names the kind of its object.
fn of_kind(entity: GrantEntity, call: &Call, records: &Records) -> Result<Right> {
    let kind = entity.object.unwrap_or_default().name;
    let kind = Kind::named(&kind).ok_or_else(|| {
        MilvusError::invalid("the object entity in the request is nil or invalid")
    })?;
    let name = privilege_of(entity.grantor)?;
    let privilege = Grantable::named(&name, records).ok_or_else(|| unknown_privilege(&name))?;
    let fits = match &privilege {
        Grantable::Any => true,
        one => one.kind() == kind,
    };
    if !fits {
        return Err(MilvusError::invalid(format!(
            "not found the privilege name[{name}] in object[{}]",
            kind.name()
        )));
    }
    if kind != Kind::User {
        check_object(NameOf::Collection, &entity.object_name)?;
    }
    let database = call.database(&entity.db_name);
    check_object(NameOf::Database, database)?;
    let place = (database, entity.object_name.as_str());
    Ok(Right::new(kind.name(), place, &name))
}

/// A right that names a collection, and leaves open what its privilege's level is above. One privilege of the cluster holds
/// in the database that it is given in, as one that names its object does; a group of them is given in all.
fn of_level(request: OperatePrivilegeV2Request, call: &Call, records: &Records) -> Result<Right> {
    let name = privilege_of(request.grantor)?;
    let privilege = Grantable::named(&name, records).ok_or_else(|| unknown_privilege(&name))?;
    let database = call.database(&request.db_name);
    let collection = request.collection_name.as_str();
    check_object(NameOf::Database, database)?;
    check_object(NameOf::Collection, collection)?;
    match privilege.level() {
        Level::Cluster
            if collection != ANY
                || (database != ANY && !matches!(privilege, Grantable::One(_))) =>
        {
            return Err(MilvusError::Invalid(format!(
                "dbName and collectionName should be * for the cluster level privilege: {name}"
            )));
        }
        Level::Database if collection != ANY => {
            return Err(MilvusError::Invalid(format!(
                "collectionName should be * for the database level privilege: {name}"
            )));
        }
        Level::Cluster | Level::Database | Level::Collection => {}
    }
    Ok(Right::new(
        privilege.kind().name(),
        (database, collection),
        &name,
    ))
}

impl Service {
    pub(crate) async fn operate_privilege(
        &self,
        call: Call,
        request: OperatePrivilegeRequest,
    ) -> Result<proto::Status> {
        let mut entity = request.entity.unwrap_or_default();
        let role = entity.role.take().unwrap_or_default().name;
        let operation = Operation::of(request.r#type)?;
        let right = of_kind(entity, &call, &self.records())?;
        self.operate(call, (role, right), operation).await
    }

    pub(crate) async fn operate_privilege_v2(
        &self,
        call: Call,
        mut request: OperatePrivilegeV2Request,
    ) -> Result<proto::Status> {
        let role = request.role.take().unwrap_or_default().name;
        let operation = Operation::of(request.r#type)?;
        let right = of_level(request, &call, &self.records())?;
        self.operate(call, (role, right), operation).await
    }

    async fn operate(
        &self,
        call: Call,
        (role, right): (String, Right),
        operation: Operation,
    ) -> Result<proto::Status> {
        let change = move |records: &mut Records| match operation {
            Operation::Give => records.grant(&role, right, call.grantor()),
            Operation::Take => records.revoke(&role, &right),
        };
        self.change_access(move |access| Ok(access.change(change)?))
            .await?;
        Ok(proto::Status::default())
    }

    /// The rights of a role in a database: those that hold there, as far as they are asked for.
    pub(crate) async fn select_grant(
        &self,
        call: Call,
        request: SelectGrantRequest,
    ) -> Result<SelectGrantResponse> {
        let asked = request.entity.unwrap_or_default();
        let name = asked.role.unwrap_or_default().name;
        let records = self.records();
        let role = records.role(&name).ok_or_else(|| no_role(&name))?;
        let database = call.database(&asked.db_name);
        let kind = asked.object.unwrap_or_default().name;
        let is_asked = |granted: &&Granted| {
            let right = &granted.right;
            let in_database = [ANY, right.database.as_str()].contains(&database);
            (in_database || right.database == ANY)
                && (kind.is_empty() || right.kind == kind)
                && (asked.object_name.is_empty() || right.object == asked.object_name)
        };
        let told = |granted: &Granted| told(&name, granted);
        Ok(SelectGrantResponse {
            entities: role.grants.iter().filter(is_asked).map(told).collect(),
            ..SelectGrantResponse::default()
        })
    }
}

fn told(role: &str, granted: &Granted) -> GrantEntity {
    let right = &granted.right;
    GrantEntity {
        role: Some(RoleEntity {
            name: role.to_string(),
            ..RoleEntity::default()
        }),
        object: Some(ObjectEntity {
            name: right.kind.clone(),
        }),
        object_name: right.object.clone(),
        db_name: right.database.clone(),
        grantor: Some(GrantorEntity {
            user: Some(UserEntity {
                name: granted.by.clone(),
            }),
            privilege: Some(PrivilegeEntity {
                name: right.privilege.clone(),
            }),
        }),
    }
}
