//! Somebody who was let in, and what that user may do.

use std::sync::Arc;

use crate::record::{ADMIN, PUBLIC, ROOT, Records, Right};

/// A user as the records were when the request came.
#[derive(Clone, Debug)]
pub struct Principal {
    name: Arc<str>,
    records: Arc<Records>,
}

impl Principal {
    pub(crate) fn new(name: &str, records: Arc<Records>) -> Self {
        Principal {
            name: name.into(),
            records,
        }
    }

    /// The user's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The records that hold for this request.
    pub fn records(&self) -> &Records {
        &self.records
    }

    fn own_roles(&self) -> impl Iterator<Item = &str> {
        let user = self.records.user(&self.name);
        user.into_iter()
            .flat_map(|user| user.roles.iter().map(String::as_str))
    }

    /// Whether the user has a role; everybody has [`PUBLIC`].
    pub fn has_role(&self, role: &str) -> bool {
        role == PUBLIC || self.own_roles().any(|own| own == role)
    }

    /// Whether nothing is forbidden: to the first user, and to whoever has the role [`ADMIN`].
    pub fn may_everything(&self) -> bool {
        &*self.name == ROOT || self.has_role(ADMIN)
    }

    fn rights_of<'a>(&'a self, role: &str) -> impl Iterator<Item = &'a Right> + use<'a> {
        let role = self.records.role(role);
        role.into_iter()
            .flat_map(|role| role.grants.iter().map(|granted| &granted.right))
    }

    /// The rights of the roles that were given to the user.
    pub fn own_rights(&self) -> impl Iterator<Item = &Right> {
        self.own_roles().flat_map(|role| self.rights_of(role))
    }

    /// These, and everybody's.
    pub fn rights(&self) -> impl Iterator<Item = &Right> {
        self.own_rights().chain(self.rights_of(PUBLIC))
    }
}
