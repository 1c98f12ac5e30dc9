//! The privileges that Milvus knows, its built-in groups of them, and what a right that a role holds covers.
//!
//! A privilege is about one kind of object, has a level (what a grant of the second form must leave open) and a tier (the
//! least of the built-in groups of its level that has it). Those of calls that are not offered here can be granted, too: what
//! manages roles need not know which are.

use clew_access::{Principal, Records, Right};

/// Stands for any privilege, database or object.
pub(crate) const ANY: &str = "*";
/// Everything, of every kind.
const ALL: &str = "All";

/// What a privilege is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Collection,
    Global,
    User,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Collection => "Collection",
            Kind::Global => "Global",
            Kind::User => "User",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Kind> {
        let mut all = [Kind::Collection, Kind::Global, Kind::User].into_iter();
        all.find(|kind| kind.name() == name)
    }
}

/// How much a privilege is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Collection,
    Database,
    Cluster,
}

impl Level {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Level::Collection => "Collection",
            Level::Database => "Database",
            Level::Cluster => "Cluster",
        }
    }
}

/// The least built-in group of its level that has a privilege.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    ReadOnly,
    ReadWrite,
    Admin,
}

const LEVELS: [Level; 3] = [Level::Cluster, Level::Database, Level::Collection];
const TIERS: [(Tier, &str); 3] = [
    (Tier::ReadOnly, "ReadOnly"),
    (Tier::ReadWrite, "ReadWrite"),
    (Tier::Admin, "Admin"),
];

/// A privilege.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Privilege {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) level: Level,
    tier: Tier,
}

macro_rules! privileges {
    ($($level:ident $tier:ident { $($kind:ident: $($name:ident)*;)* })*) => {
        /// All of them.
        const PRIVILEGES: &[Privilege] = &[$($($(Privilege {
            name: stringify!($name),
            kind: Kind::$kind,
            level: Level::$level,
            tier: Tier::$tier,
        },)*)*)*];
    };
}

privileges! {
    Collection ReadOnly {
        Collection: Query Search IndexDetail GetFlushState GetLoadState GetLoadingProgress HasPartition ShowPartitions
            GetStatistics DescribeSnapshot ListSnapshots;
        Global: DescribeCollection DescribeAlias ListAliases;
    }
    Collection ReadWrite {
        Collection: Load Release Insert Delete Upsert Import Flush Compaction LoadBalance CreateIndex DropIndex CreatePartition
            DropPartition AddCollectionField AlterCollectionSchema CreateSnapshot DropSnapshot RestoreSnapshot
            RefreshExternalCollection;
        Global: GetImportProgress ListImport;
    }
    Collection Admin {
        Global: CreateAlias DropAlias;
    }
    Database ReadOnly {
        Global: ShowCollections DescribeDatabase;
    }
    Database ReadWrite {
        Global: AlterDatabase;
    }
    Database Admin {
        Global: CreateCollection DropCollection;
    }
    Cluster ReadOnly {
        Global: ListDatabases SelectOwnership DescribeResourceGroup ListResourceGroups ListPrivilegeGroups ListFileResources
            GetReplicateConfiguration;
        User: SelectUser;
    }
    Cluster ReadWrite {
        Global: FlushAll TransferNode TransferReplica UpdateResourceGroups;
    }
    Cluster Admin {
        Global: BackupRBAC RestoreRBAC CreateDatabase DropDatabase CreateOwnership DropOwnership ManageOwnership
            CreateResourceGroup DropResourceGroup RenameCollection CreatePrivilegeGroup DropPrivilegeGroup
            OperatePrivilegeGroup AddFileResource RemoveFileResource UpdateReplicateConfiguration PinSnapshotData
            UnpinSnapshotData RestoreExternalSnapshot ExportSnapshot;
        User: UpdateUser;
    }
}

impl Privilege {
    /// The privilege of a name.
    pub(crate) fn named(name: &str) -> Option<&'static Privilege> {
        PRIVILEGES.iter().find(|privilege| privilege.name == name)
    }

    /// Another privilege that brings this one along, as clients need it for the same task.
    fn with(&self) -> Option<&'static str> {
        match self.name {
            "GetLoadState" | "GetLoadingProgress" => Some("Load"),
            "GetFlushState" => Some("Flush"),
            _ => None,
        }
    }
}

/// The level and the tier of a built-in group.
pub(crate) fn built_in(group: &str) -> Option<(Level, Tier)> {
    let of_level = |level: Level| group.strip_prefix(level.name()).map(|rest| (level, rest));
    let (level, rest) = LEVELS.into_iter().find_map(of_level)?;
    let tier = TIERS.into_iter().find(|(_, name)| *name == rest)?;
    Some((level, tier.0))
}

/// Whether a built-in group has a privilege.
fn has(group: (Level, Tier), privilege: &Privilege) -> bool {
    privilege.level == group.0 && privilege.tier <= group.1
}

/// The built-in groups with their privileges.
pub(crate) fn built_in_groups() -> impl Iterator<Item = (String, Vec<&'static str>)> {
    LEVELS.into_iter().flat_map(|level| {
        TIERS.into_iter().map(move |(tier, name)| {
            let own = PRIVILEGES.iter().filter(|own| has((level, tier), own));
            let name = format!("{}{name}", level.name());
            (name, own.map(|privilege| privilege.name).collect())
        })
    })
}

/// What a grant can give: everything, a privilege, a built-in group or one that somebody made.
pub(crate) enum Grantable<'r> {
    Any,
    All,
    One(&'static Privilege),
    BuiltIn(Level),
    Group(&'r std::collections::BTreeSet<String>),
}

impl<'r> Grantable<'r> {
    /// What a name means.
    pub(crate) fn named(name: &str, records: &'r Records) -> Option<Self> {
        if let Some(privilege) = Privilege::named(name) {
            return Some(Grantable::One(privilege));
        }
        match (name, built_in(name)) {
            (ANY, _) => Some(Grantable::Any),
            (ALL, _) => Some(Grantable::All),
            (_, Some((level, _))) => Some(Grantable::BuiltIn(level)),
            _ => records.group(name).map(Grantable::Group),
        }
    }

    /// Its level; a group's is that of its privileges, which are of one.
    pub(crate) fn level(&self) -> Level {
        match self {
            Grantable::Any => Level::Collection,
            Grantable::All => Level::Database,
            Grantable::One(privilege) => privilege.level,
            Grantable::BuiltIn(level) => *level,
            Grantable::Group(names) => {
                let first = names.iter().find_map(|name| Privilege::named(name));
                first.map_or(Level::Collection, |privilege| privilege.level)
            }
        }
    }

    /// The kind of object that it is kept with where none was said.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Grantable::Any => Kind::Collection,
            Grantable::One(privilege) => privilege.kind,
            Grantable::All | Grantable::BuiltIn(_) | Grantable::Group(_) => Kind::Global,
        }
    }
}

/// Whether a right has a privilege in it, wherever that holds.
fn covers(right: &Right, records: &Records, privilege: &Privilege) -> bool {
    let held = right.privilege.as_str();
    if held == privilege.name || privilege.with() == Some(held) {
        return true;
    }
    match held {
        ANY => right.kind == privilege.kind.name(),
        ALL => right.kind == Kind::Global.name(),
        group => {
            let own = records.group(group);
            built_in(group).is_some_and(|group| has(group, privilege))
                || own.is_some_and(|group| group.contains(privilege.name))
        }
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    pattern == ANY || pattern == name
}

/// Whether somebody has a privilege on an object of a database; `*` asks for all objects.
pub(crate) fn may(
    who: &Principal,
    privilege: &Privilege,
    (database, object): (&str, &str),
) -> bool {
    who.rights().any(|right| {
        fits(&right.database, database)
            && fits(&right.object, object)
            && covers(right, who.records(), privilege)
    })
}

/// Whether somebody sees a collection in lists: has some right on it, other than everybody.
pub(crate) fn sees(who: &Principal, (database, collection): (&str, &str)) -> bool {
    let shows = |privilege: &&Privilege| {
        privilege.level == Level::Collection || privilege.name == "ShowCollections"
    };
    who.own_rights().any(|right| {
        fits(&right.database, database)
            && fits(&right.object, collection)
            && PRIVILEGES
                .iter()
                .filter(shows)
                .any(|privilege| covers(right, who.records(), privilege))
    })
}

/// Whether somebody sees a database in lists: has some right in it, other than everybody.
pub(crate) fn sees_database(who: &Principal, database: &str) -> bool {
    who.own_rights()
        .any(|right| fits(&right.database, database))
}

/// What everybody may do in a new folder: what clients ask before they search or insert.
pub fn public_rights() -> Vec<Right> {
    ["DescribeCollection", "ListAliases", "IndexDetail"]
        .into_iter()
        .filter_map(Privilege::named)
        .map(|privilege| Right::new(privilege.kind.name(), (ANY, ANY), privilege.name))
        .collect()
}

#[cfg(test)]
mod tests;
