//! The records: users, roles and groups as data, and the changes that keep them within their bounds. A change that is
//! refused has changed nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::bounds::{
    DESCRIPTION_BYTES_MAX, GRANTS_MAX, GROUP_PRIVILEGES_MAX, GROUPS_MAX, NAME_BYTES_MAX, ROLES_MAX,
    USERS_MAX, check_length, check_name, check_room, check_user_name, exists, invalid, not_found,
};
use crate::error::AccessError;
use crate::password::PasswordHash;

/// The first user, who may do everything and cannot be removed.
pub const ROOT: &str = "root";
/// The role that may do everything.
pub const ADMIN: &str = "admin";
/// The role that everybody has.
pub const PUBLIC: &str = "public";

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    pub(crate) password: PasswordHash,
    /// The roles that were given to the user; [`PUBLIC`] is not among them unless it was.
    pub roles: BTreeSet<String>,
    /// What was said of the user.
    pub description: String,
}

/// A role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// What was said of the role.
    pub description: String,
    /// What it may do, each right once.
    pub grants: Vec<Granted>,
}

/// Something that may be done with an object. `*` may stand for a privilege, a database or an object; what that means is the
/// protocol's affair.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Right {
    /// What kind of object it is.
    pub kind: String,
    /// The database that it is in.
    pub database: String,
    /// Its name.
    pub object: String,
    /// What may be done: a privilege, or a group of them.
    pub privilege: String,
}

impl Right {
    /// A privilege on an object of a database.
    pub fn new(kind: &str, (database, object): (&str, &str), privilege: &str) -> Self {
        Right {
            kind: kind.to_string(),
            database: database.to_string(),
            object: object.to_string(),
            privilege: privilege.to_string(),
        }
    }

    fn check(&self) -> Result<(), AccessError> {
        for (what, text) in [
            ("the kind of a right's object", &self.kind),
            ("the database of a right", &self.database),
            ("the object of a right", &self.object),
            ("the privilege of a right", &self.privilege),
        ] {
            check_length(what, text, NAME_BYTES_MAX)?;
            if text.is_empty() {
                return Err(invalid(what, "should not be empty"));
            }
        }
        Ok(())
    }
}

/// A right of a role, and who gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Granted {
    /// The right.
    pub right: Right,
    /// The user who gave it.
    pub by: String,
}

/// Whether a role goes that still has grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropRole {
    /// It stays, and that is an error.
    IfEmpty,
    /// It goes with them.
    Forced,
}

/// Everything that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Records {
    users: BTreeMap<String, User>,
    roles: BTreeMap<String, Role>,
    groups: BTreeMap<String, BTreeSet<String>>,
}

/// What is read.
impl Records {
    /// The records of a new folder: the first user, and the two roles that are always there.
    pub(crate) fn initial(root: PasswordHash, public: &[Right]) -> Result<Self, AccessError> {
        let mut records = Records {
            users: BTreeMap::new(),
            roles: [ADMIN, PUBLIC]
                .map(|role| (role.to_string(), Role::default()))
                .into(),
            groups: BTreeMap::new(),
        };
        records.create_user(ROOT, root, "")?;
        records.add_to_role(ROOT, ADMIN)?;
        for right in public {
            records.grant(PUBLIC, right.clone(), ROOT)?;
        }
        Ok(records)
    }

    /// A user.
    pub fn user(&self, name: &str) -> Option<&User> {
        self.users.get(name)
    }

    /// All users, by name.
    pub fn users(&self) -> impl Iterator<Item = (&str, &User)> {
        self.users.iter().map(|(name, user)| (name.as_str(), user))
    }

    /// A role.
    pub fn role(&self, name: &str) -> Option<&Role> {
        self.roles.get(name)
    }

    /// All roles, by name.
    pub fn roles(&self) -> impl Iterator<Item = (&str, &Role)> {
        self.roles.iter().map(|(name, role)| (name.as_str(), role))
    }

    /// The privileges of a group.
    pub fn group(&self, name: &str) -> Option<&BTreeSet<String>> {
        self.groups.get(name)
    }

    /// All groups, by name.
    pub fn groups(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.groups
            .iter()
            .map(|(name, group)| (name.as_str(), group))
    }

    /// What must hold of records that were read.
    ///
    /// # Errors
    /// The first thing that does not hold.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (what, name, there) in [
            ("user", ROOT, self.users.contains_key(ROOT)),
            ("role", ADMIN, self.roles.contains_key(ADMIN)),
            ("role", PUBLIC, self.roles.contains_key(PUBLIC)),
        ] {
            if !there {
                return Err(format!("there is no {what} {name}"));
            }
        }
        for (name, user) in &self.users {
            user.password
                .check()
                .map_err(|why| format!("the password of {name}: {why}"))?;
            let unknown = user.roles.iter().find(|role| self.role(role).is_none());
            if let Some(role) = unknown {
                return Err(format!("{name} has the role {role}, which is not there"));
            }
        }
        Ok(())
    }
}

/// What is changed.
impl Records {
    /// Makes a user who has no roles but everybody's.
    ///
    /// # Errors
    /// When the name breaks the rules or is taken, the description is too long, or there are too many.
    pub(crate) fn create_user(
        &mut self,
        name: &str,
        password: PasswordHash,
        description: &str,
    ) -> Result<(), AccessError> {
        self.check_new_user(name, description)?;
        let user = User {
            password,
            roles: BTreeSet::new(),
            description: description.to_string(),
        };
        self.users.insert(name.to_string(), user);
        Ok(())
    }

    /// Whether a user could be made, before a password is hashed for it.
    pub(crate) fn check_new_user(&self, name: &str, description: &str) -> Result<(), AccessError> {
        check_user_name(name)?;
        check_length("a description", description, DESCRIPTION_BYTES_MAX)?;
        if self.users.contains_key(name) {
            return Err(exists("user", name));
        }
        check_room("users", self.users.len(), USERS_MAX)
    }

    fn user_mut(&mut self, name: &str) -> Result<&mut User, AccessError> {
        let user = self.users.get_mut(name);
        user.ok_or_else(|| not_found("user", name))
    }

    fn role_mut(&mut self, name: &str) -> Result<&mut Role, AccessError> {
        let role = self.roles.get_mut(name);
        role.ok_or_else(|| not_found("role", name))
    }

    pub(crate) fn set_password(
        &mut self,
        name: &str,
        password: PasswordHash,
    ) -> Result<(), AccessError> {
        self.user_mut(name)?.password = password;
        Ok(())
    }

    /// Says something of a user.
    ///
    /// # Errors
    /// When there is no such user, or it is too long.
    pub fn describe_user(&mut self, name: &str, description: &str) -> Result<(), AccessError> {
        check_length("a description", description, DESCRIPTION_BYTES_MAX)?;
        self.user_mut(name)?.description = description.to_string();
        Ok(())
    }

    /// Removes a user; none is no error.
    ///
    /// # Errors
    /// When it is the first one.
    pub fn delete_user(&mut self, name: &str) -> Result<(), AccessError> {
        if name == ROOT {
            let name = name.to_string();
            return Err(AccessError::BuiltIn { what: "user", name });
        }
        self.users.remove(name);
        Ok(())
    }

    /// Makes a role without grants.
    ///
    /// # Errors
    /// When the name breaks the rules or is taken, the description is too long, or there are too many.
    pub fn create_role(&mut self, name: &str, description: &str) -> Result<(), AccessError> {
        check_name("a role's name", name)?;
        check_length("a description", description, DESCRIPTION_BYTES_MAX)?;
        if self.roles.contains_key(name) {
            return Err(exists("role", name));
        }
        check_room("roles", self.roles.len(), ROLES_MAX)?;
        let role = Role {
            description: description.to_string(),
            grants: Vec::new(),
        };
        self.roles.insert(name.to_string(), role);
        Ok(())
    }

    /// Says something of a role.
    ///
    /// # Errors
    /// When there is no such role, or it is too long.
    pub fn describe_role(&mut self, name: &str, description: &str) -> Result<(), AccessError> {
        check_length("a description", description, DESCRIPTION_BYTES_MAX)?;
        self.role_mut(name)?.description = description.to_string();
        Ok(())
    }

    /// Removes a role, also from those who have it.
    ///
    /// # Errors
    /// When there is no such role, it is built in, or it has grants and is not dropped by force.
    pub fn drop_role(&mut self, name: &str, how: DropRole) -> Result<(), AccessError> {
        if [ADMIN, PUBLIC].contains(&name) {
            let name = name.to_string();
            return Err(AccessError::BuiltIn { what: "role", name });
        }
        let role = self.role_mut(name)?;
        if how == DropRole::IfEmpty && !role.grants.is_empty() {
            let role = name.to_string();
            return Err(AccessError::RoleHasGrants { role });
        }
        self.roles.remove(name);
        for user in self.users.values_mut() {
            user.roles.remove(name);
        }
        Ok(())
    }

    /// Gives a user a role; once more is no error.
    ///
    /// # Errors
    /// When there is no such user or role.
    pub fn add_to_role(&mut self, user: &str, role: &str) -> Result<(), AccessError> {
        self.role_mut(role)?;
        self.user_mut(user)?.roles.insert(role.to_string());
        Ok(())
    }

    /// Takes a role from a user, who need not have it.
    ///
    /// # Errors
    /// When there is no such user or role.
    pub fn remove_from_role(&mut self, user: &str, role: &str) -> Result<(), AccessError> {
        self.role_mut(role)?;
        self.user_mut(user)?.roles.remove(role);
        Ok(())
    }

    /// Gives a role a right; once more is no error.
    ///
    /// # Errors
    /// When there is no such role, a part of the right is empty or too long, or there are too many.
    pub fn grant(&mut self, role: &str, right: Right, by: &str) -> Result<(), AccessError> {
        right.check()?;
        let grants = &mut self.role_mut(role)?.grants;
        if grants.iter().any(|granted| granted.right == right) {
            return Ok(());
        }
        check_room("grants of a role", grants.len(), GRANTS_MAX)?;
        let by = by.to_string();
        grants.push(Granted { right, by });
        Ok(())
    }

    /// Takes a right from a role, which need not have it.
    ///
    /// # Errors
    /// When there is no such role.
    pub fn revoke(&mut self, role: &str, right: &Right) -> Result<(), AccessError> {
        let grants = &mut self.role_mut(role)?.grants;
        grants.retain(|granted| granted.right != *right);
        Ok(())
    }

    /// Makes a group of privileges that has none yet.
    ///
    /// # Errors
    /// When the name breaks the rules or is taken, or there are too many.
    pub fn create_group(&mut self, name: &str) -> Result<(), AccessError> {
        check_name("a privilege group's name", name)?;
        if self.groups.contains_key(name) {
            return Err(exists("privilege group", name));
        }
        check_room("privilege groups", self.groups.len(), GROUPS_MAX)?;
        self.groups.insert(name.to_string(), BTreeSet::new());
        Ok(())
    }

    /// Removes a group; none is no error.
    ///
    /// # Errors
    /// When a role has it.
    pub fn drop_group(&mut self, name: &str) -> Result<(), AccessError> {
        let has = |role: &Role| role.grants.iter().any(|one| one.right.privilege == name);
        if let Some((role, _)) = self.roles().find(|(_, role)| has(role)) {
            let (group, role) = (name.to_string(), role.to_string());
            return Err(AccessError::GroupGranted { group, role });
        }
        self.groups.remove(name);
        Ok(())
    }

    /// Refuses groups that are not there.
    ///
    /// # Errors
    /// When a name breaks the rules, or there is no such group.
    pub fn check_group(&self, name: &str) -> Result<(), AccessError> {
        check_name("a privilege group's name", name)?;
        let there = self.groups.contains_key(name);
        if there {
            Ok(())
        } else {
            Err(not_found("privilege group", name))
        }
    }

    /// Puts a privilege into a group; once more is no error.
    ///
    /// # Errors
    /// When there is no such group, the privilege's name is empty or too long, or there are too many.
    pub fn add_to_group(&mut self, group: &str, privilege: &str) -> Result<(), AccessError> {
        check_name("a privilege", privilege)?;
        let members = self.groups.get_mut(group);
        let members = members.ok_or_else(|| not_found("privilege group", group))?;
        if !members.contains(privilege) {
            check_room("privileges of a group", members.len(), GROUP_PRIVILEGES_MAX)?;
            members.insert(privilege.to_string());
        }
        Ok(())
    }

    /// Takes a privilege out of a group, which need not have it.
    ///
    /// # Errors
    /// When there is no such group.
    pub fn remove_from_group(&mut self, group: &str, privilege: &str) -> Result<(), AccessError> {
        let members = self.groups.get_mut(group);
        let members = members.ok_or_else(|| not_found("privilege group", group))?;
        members.remove(privilege);
        Ok(())
    }
}
