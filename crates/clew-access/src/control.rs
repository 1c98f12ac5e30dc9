//! The door itself: who is let in, and changes of the records.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_platform::{Clock, Disk};
use parking_lot::{Mutex, RwLock};

use crate::attempts::Attempts;
use crate::credentials::Credentials;
use crate::error::{AccessError, Refused};
use crate::file;
use crate::hashing::Hashing;
use crate::password::{PASSWORD_BYTES_MAX, PasswordHash, check_password};
use crate::principal::Principal;
use crate::record::{ROOT, Records, Right};
use crate::remembered::Remembered;

/// Whose attempts those are for names that nobody has; no user has an empty name.
const NOBODY: &str = "";

/// What a folder begins with.
pub struct Initial {
    /// The password of the first user, [`ROOT`].
    pub root_password: String,
    /// What everybody may do.
    pub public: Vec<Right>,
}

impl fmt::Debug for Initial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Initial").finish_non_exhaustive()
    }
}

/// Users, roles and groups of a data folder, whose owner this process must be.
pub struct AccessControl {
    disk: Arc<dyn Disk>,
    clock: Arc<dyn Clock>,
    path: PathBuf,
    records: RwLock<Arc<Records>>,
    /// Held while the records are changed and written, and never together with `records` while the disk is waited for.
    changing: Mutex<()>,
    remembered: Remembered,
    attempts: Attempts,
    hashing: Hashing,
}

impl fmt::Debug for AccessControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessControl")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl AccessControl {
    /// Reads the records of a file, or begins with the first user where there is no file; it is written with the first change,
    /// so that until then the password of the configuration is the one that holds.
    ///
    /// # Errors
    /// [`AccessError::Corrupt`] for a file that is damaged, [`AccessError::Invalid`] for a first password that breaks the rules,
    /// and what the disk says.
    pub fn open(
        disk: Arc<dyn Disk>,
        clock: Arc<dyn Clock>,
        path: &Path,
        initial: &Initial,
    ) -> Result<Self, AccessError> {
        let records = match file::load(&*disk, path)? {
            Some(records) => records,
            None => {
                let root = PasswordHash::later(&initial.root_password)?;
                Records::initial(root, &initial.public)?
            }
        };
        Ok(AccessControl {
            disk,
            clock,
            path: path.to_path_buf(),
            records: RwLock::new(Arc::new(records)),
            changing: Mutex::new(()),
            remembered: Remembered::new()?,
            attempts: Attempts::default(),
            hashing: Hashing::default(),
        })
    }

    /// Holds a file against its checksum and its rules; none is well.
    ///
    /// # Errors
    /// [`AccessError::Corrupt`], and what the disk says.
    pub fn verify(disk: &dyn Disk, path: &Path) -> Result<(), AccessError> {
        file::load(disk, path).map(drop)
    }

    /// The records as they are now.
    pub fn records(&self) -> Arc<Records> {
        self.records.read().clone()
    }

    /// Lets somebody in who was let in before with the same password; does not block.
    pub fn remembered(&self, said: &Credentials) -> Option<Principal> {
        let records = self.records();
        let user = records.user(&said.user)?;
        let known = self
            .remembered
            .knows(&said.user, &user.password, &said.password);
        known.then(|| Principal::new(&said.user, records))
    }

    /// Lets somebody in whose password is right. Blocks for the time of a hash, some 20 ms, and of those before it.
    ///
    /// # Errors
    /// [`Refused`]; a wrong user and a wrong password look and last the same.
    pub fn authenticate(&self, said: &Credentials) -> Result<Principal, Refused> {
        if let Some(known) = self.remembered(said) {
            return Ok(known);
        }
        if said.password.len() > PASSWORD_BYTES_MAX {
            return Err(Refused::Wrong);
        }
        let records = self.records();
        let user = records.user(&said.user);
        let whose = user.map_or(NOBODY, |_| said.user.as_str());
        self.attempts.take(whose, self.clock.monotonic())?;
        let place = self.hashing.enter()?;
        let Some(user) = user else {
            PasswordHash::spend(&said.password);
            return Err(Refused::Wrong);
        };
        let is_right = user.password.is_of(&said.password);
        drop(place);
        if !is_right {
            return Err(Refused::Wrong);
        }
        self.attempts.right(whose);
        self.remembered
            .remember(&said.user, &user.password, &said.password);
        Ok(Principal::new(&said.user, records))
    }

    /// Whether this is the first user's password; nothing is remembered, and no attempt is taken.
    pub fn is_root_password(&self, password: &str) -> bool {
        let records = self.records();
        let root = records.user(ROOT);
        root.is_some_and(|root| root.password.is_of(password))
    }

    /// Makes a user. Blocks for the time of a hash and for the disk, as all that changes records does.
    ///
    /// # Errors
    /// When name, password or description break the rules, the name is taken, or there are too many.
    pub fn create_user(
        &self,
        name: &str,
        password: &str,
        description: &str,
    ) -> Result<(), AccessError> {
        // What is refused anyway costs no hash.
        self.records().check_new_user(name, description)?;
        check_password(password)?;
        let hash = self.hash(password)?;
        self.change(|records| records.create_user(name, hash, description))
    }

    /// Changes a password for another, which may be the same.
    ///
    /// # Errors
    /// [`Refused::Wrong`] when there is no such user or the old one is wrong, and the rules of passwords.
    pub fn change_password(&self, name: &str, (old, new): (&str, &str)) -> Result<(), AccessError> {
        check_password(new)?;
        let asker = self.authenticate(&Credentials::new(name, old))?;
        let hash = self.hash(new)?;
        self.change(|records| {
            // Somebody else may have changed it since: the old one must still be the one that was found to be right.
            let password = |records: &Records| records.user(name).map(|user| user.password.clone());
            if password(records) != password(asker.records()) {
                return Err(Refused::Wrong.into());
            }
            records.set_password(name, hash)
        })
    }

    fn hash(&self, password: &str) -> Result<PasswordHash, AccessError> {
        let _place = self.hashing.enter()?;
        PasswordHash::build(password)
    }

    /// Changes the records; durable when it returns, and in force from then on.
    ///
    /// # Errors
    /// What `change` says, and what the disk says; nothing has changed then, but see [`AccessError::Undecided`].
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut Records) -> Result<T, AccessError>,
    ) -> Result<T, AccessError> {
        let _changing = self.changing.lock();
        let before = self.records();
        let mut records = (*before).clone();
        let outcome = change(&mut records)?;
        if records == *before {
            return Ok(outcome);
        }
        let was_saved = self.disk.exists(&self.path);
        if let Err(refused) = file::save(&*self.disk, &self.path, &records) {
            let saved = was_saved.then_some(&*before);
            file::take_back(&*self.disk, &self.path, saved)?;
            return Err(refused);
        }
        let same = |name: &str| {
            let password = |records: &Records| records.user(name).map(|user| user.password.clone());
            password(&before).is_some() && password(&before) == password(&records)
        };
        self.remembered.retain(same);
        self.attempts.retain(|name| name == NOBODY || same(name));
        *self.records.write() = Arc::new(records);
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests;
