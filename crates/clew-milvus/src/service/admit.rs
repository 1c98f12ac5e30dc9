//! Who is let through to a call, and how far the call reaches then.
//!
//! A call that is let through gets an [`Access`] to what it is about and to nothing else, so that what a function below does
//! with other names the engine refuses.

use axum::http::{Extensions, HeaderMap};
use clew_access::{Principal, Refused};
use clew_engine::{Access, Grant, Purpose};

use super::subject::Subject;
use super::{Call, Service};
use crate::collection::NameOf;
use crate::error::{MilvusError, Result};
use crate::index_name::index_name;
use crate::privilege::{ANY, Kind, Privilege, may, sees};
use crate::watch;

/// The privilege of calls that everybody may make who is let in at all.
pub(super) const ANYBODY: &str = "";

/// What a call takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// The name of the privilege, or [`ANYBODY`].
    pub(super) privilege: &'static str,
    pub(super) reach: Reach,
}

/// What a call that is let through can open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// No collection.
    Nothing,
    /// What the collections are that it names, or that its caller sees where it names none.
    Show,
    /// Their rows, too.
    Read,
    /// Their rows, also to change them.
    Write,
    /// All of them.
    Change,
    /// The rows of every collection of the database.
    Whole,
    /// What belongs to no collection, and whether there are any.
    Node,
}

impl Reach {
    fn purposes(self) -> Vec<Purpose> {
        use Purpose::{Change, Read, Show, Watch, Write};
        match self {
            Reach::Nothing => vec![],
            Reach::Node => vec![Watch],
            Reach::Show => vec![Show, Watch],
            Reach::Read => vec![Read, Show, Watch],
            Reach::Write | Reach::Whole => vec![Write, Read, Show, Watch],
            Reach::Change => vec![Change, Write, Read, Show, Watch],
        }
    }
}

/// Who calls, if that is known, and in which database.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    database: String,
    who: Option<Principal>,
}

impl Caller {
    /// What the headers of a request say, and whoever has looked at them before.
    pub(crate) fn of(headers: &HeaderMap, extensions: &Extensions) -> Caller {
        let database = headers.get("dbname").and_then(|name| name.to_str().ok());
        Caller::new(database.unwrap_or_default(), extensions.get().cloned())
    }

    pub(crate) fn new(database: &str, who: Option<Principal>) -> Caller {
        Caller {
            database: database.to_string(),
            who,
        }
    }
}

/// Whether callers must say who they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Login {
    /// Everybody may do everything.
    #[default]
    NotNeeded,
    /// Who is not known is refused.
    Needed,
}

impl Service {
    /// Lets a call through, or not.
    ///
    /// # Errors
    /// [`MilvusError::NotLetIn`] and [`MilvusError::Denied`].
    pub(super) fn admit(&self, caller: Caller, rule: Rule, request: &dyn Subject) -> Result<Call> {
        watch::is_about(&request.collections());
        let database = caller.database;
        let everything = |who: Option<Principal>| Call {
            database: database.clone(),
            access: Access::everything().to_what_is_there(),
            who,
        };
        let who = match (self.login(), caller.who) {
            (Login::NotNeeded, _) => return Ok(everything(None)),
            (Login::Needed, None) => return Err(MilvusError::NotLetIn(Refused::Missing)),
            (Login::Needed, Some(who)) => who,
        };
        if who.may_everything() {
            return Ok(everything(Some(who)));
        }
        let mut call = everything(None);
        let database = call.database(request.database()).to_string();
        let names = self.subjects(&database, request);
        check(&who, rule, (&database, &names), request)?;
        let mut grants = self.within(&who, rule, (&database, names));
        if let Some((other, name)) = request.new_name() {
            let to = if other.is_empty() { &database } else { other };
            let names = vec![name.to_string()];
            check(&who, rule, (to, &names), request)?;
            grants.extend(self.within(&who, rule, (to, names)));
        }
        let access = Access::only(grants).to_what_is_there();
        call.access = match rule.reach {
            Reach::Node => access.and_the_node(),
            _ => access,
        };
        call.who = Some(who);
        Ok(call)
    }

    /// The collections that a request is about, by their own names where there are such.
    fn subjects(&self, database: &str, request: &dyn Subject) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in request.collections() {
            if !name.is_empty() {
                names.push(self.collections().real_name(database, name));
            }
        }
        let numbers = request.numbers();
        if !numbers.is_empty() {
            let all = self.collections().list(database, &Access::everything());
            let all = all.unwrap_or_default().into_iter();
            let asked = all.filter(|named| numbers.contains(&named.collection.id));
            names.extend(asked.map(|named| named.name));
        }
        names
    }

    /// What a call that is let through may open.
    fn within(
        &self,
        who: &Principal,
        rule: Rule,
        (database, names): (&str, Vec<String>),
    ) -> Vec<Grant> {
        let all = || {
            let all = self.collections().list(database, &Access::everything());
            let names = all.unwrap_or_default().into_iter().map(|named| named.name);
            names.collect::<Vec<String>>()
        };
        let is_seen = |name: &String| sees(who, (database, name));
        let names: Vec<String> = match rule.reach {
            Reach::Nothing | Reach::Node => Vec::new(),
            Reach::Whole => all(),
            Reach::Show if names.is_empty() => all().into_iter().filter(is_seen).collect(),
            // Without a privilege nothing else was asked.
            _ if rule.privilege == ANYBODY => names.into_iter().filter(is_seen).collect(),
            _ => names,
        };
        let purposes = rule.reach.purposes();
        if rule.reach == Reach::Node {
            let pattern = ANY.to_string();
            return vec![Grant { pattern, purposes }];
        }
        // A name that breaks the rules might be a pattern.
        let named = names
            .into_iter()
            .filter(|name| NameOf::Collection.is_allowed(name));
        let grants = named.map(|name| Grant {
            pattern: index_name(database, &name),
            purposes: purposes.clone(),
        });
        grants.collect()
    }
}

/// Refuses who lacks the privilege for any of the objects.
fn check(
    who: &Principal,
    rule: Rule,
    (database, names): (&str, &[String]),
    request: &dyn Subject,
) -> Result<()> {
    if rule.privilege == ANYBODY {
        return Ok(());
    }
    let denied = || {
        MilvusError::Denied(format!(
            "Privilege{}: permission deny to {} in the `{database}` database",
            rule.privilege,
            who.name()
        ))
    };
    let privilege = Privilege::named(rule.privilege).ok_or_else(denied)?;
    let about_oneself = !request.user().is_empty() && request.user() == who.name();
    let about_own_role = !request.role().is_empty() && who.has_role(request.role());
    if about_oneself || about_own_role {
        return Ok(());
    }
    let objects: Vec<&str> = match privilege.kind {
        Kind::User => [request.user()]
            .into_iter()
            .filter(|user| !user.is_empty())
            .collect(),
        Kind::Collection | Kind::Global => names.iter().map(String::as_str).collect(),
    };
    let allowed = |object: &str| may(who, privilege, (database, object));
    let all_allowed = match objects.is_empty() {
        true => allowed(ANY),
        false => objects.into_iter().all(allowed),
    };
    if all_allowed { Ok(()) } else { Err(denied()) }
}

#[cfg(test)]
mod tests;
