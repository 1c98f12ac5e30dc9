//! The names of a simulated disk: as programs see them, as they are durable, and the changes
//! between the two in the order in which they were made.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::SplitMix;
use super::content::FileRef;

#[derive(Debug, Default)]
pub(super) struct Names {
    live: Table,
    durable: Table,
    unsynced: Vec<Change>,
}

type Table = BTreeMap<PathBuf, Node>;

#[derive(Clone, Debug)]
enum Node {
    Folder,
    File(FileRef),
}

#[derive(Clone, Debug)]
enum Change {
    Add {
        path: PathBuf,
        node: Node,
    },
    Remove {
        path: PathBuf,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
        node: Node,
    },
}

impl Names {
    pub(super) fn file(&self, path: &Path) -> io::Result<FileRef> {
        match self.live.get(path) {
            Some(Node::File(content)) => Ok(content.clone()),
            Some(Node::Folder) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn exists(&self, path: &Path) -> bool {
        is_root(path) || self.live.contains_key(path)
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.folder(path)?;
        Ok(self
            .live
            .keys()
            .filter(|name| name.parent() == Some(path))
            .cloned()
            .collect())
    }

    pub(super) fn bytes_used(&self) -> u64 {
        let files = self.live.values().filter_map(|node| match node {
            Node::File(content) => Some(content.lock().bytes().len() as u64),
            Node::Folder => None,
        });
        files.sum()
    }

    pub(super) fn create_file(&mut self, path: &Path) -> io::Result<FileRef> {
        self.folder(path.parent().unwrap_or(Path::new("")))?;
        if self.exists(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let content = FileRef::default();
        self.make(Change::Add {
            path: path.to_owned(),
            node: Node::File(content.clone()),
        });
        Ok(content)
    }

    pub(super) fn create_folders(&mut self, path: &Path) -> io::Result<()> {
        let mut above: Vec<&Path> = path.ancestors().filter(|folder| !is_root(folder)).collect();
        above.reverse();
        for folder in above {
            match self.live.get(folder) {
                Some(Node::Folder) => {}
                Some(Node::File(_)) => return Err(io::ErrorKind::NotADirectory.into()),
                None => self.make(Change::Add {
                    path: folder.to_owned(),
                    node: Node::Folder,
                }),
            }
        }
        Ok(())
    }

    pub(super) fn rename_file(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let node = Node::File(self.file(from)?);
        self.folder(to.parent().unwrap_or(Path::new("")))?;
        if let Some(Node::Folder) = self.live.get(to) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.make(Change::Rename {
            from: from.to_owned(),
            to: to.to_owned(),
            node,
        });
        Ok(())
    }

    pub(super) fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        self.file(path)?;
        self.make(Change::Remove {
            path: path.to_owned(),
        });
        Ok(())
    }

    pub(super) fn remove_folder(&mut self, path: &Path) {
        let mut below: Vec<PathBuf> = self
            .live
            .keys()
            .filter(|name| name.starts_with(path))
            .cloned()
            .collect();
        // Deepest first, as a recursive removal does.
        below.reverse();
        for path in below {
            self.make(Change::Remove { path });
        }
    }

    pub(super) fn sync_folder(&mut self, path: &Path) -> io::Result<()> {
        self.folder(path)?;
        let (synced, left) = std::mem::take(&mut self.unsynced)
            .into_iter()
            .partition(|change| change.is_in(path));
        self.unsynced = left;
        let synced: Vec<Change> = synced;
        synced
            .iter()
            .for_each(|change| change.apply(&mut self.durable));
        Ok(())
    }

    /// The names a power cut leaves, themselves durable, with the content it leaves in each file.
    pub(super) fn after_power_loss(&self, random: &mut SplitMix) -> Names {
        let mut found = self.durable.clone();
        let mode = random.up_to(3);
        let prefix = random.up_to(self.unsynced.len());
        for (index, change) in self.unsynced.iter().enumerate() {
            let kept = match mode {
                0 => false,
                1 => true,
                2 => index < prefix,
                _ => random.coin(),
            };
            if kept {
                change.apply(&mut found);
            }
        }
        // A name whose folder is gone cannot be reached, so it is gone too.
        let reachable = |path: &Path| {
            path.ancestors()
                .skip(1)
                .all(|above| is_root(above) || matches!(found.get(above), Some(Node::Folder)))
        };
        let mut live = Table::new();
        for (path, node) in found.iter().filter(|(path, _)| reachable(path)) {
            let node = match node {
                Node::Folder => Node::Folder,
                Node::File(content) => {
                    let left = content.lock().after_power_loss(random);
                    Node::File(Arc::new(parking_lot::Mutex::new(left)))
                }
            };
            live.insert(path.clone(), node);
        }
        Names {
            durable: live.clone(),
            live,
            unsynced: Vec::new(),
        }
    }

    fn folder(&self, path: &Path) -> io::Result<()> {
        match self.live.get(path) {
            Some(Node::Folder) => Ok(()),
            None if is_root(path) => Ok(()),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn make(&mut self, change: Change) {
        change.apply(&mut self.live);
        self.unsynced.push(change);
    }
}

impl Change {
    fn apply(&self, table: &mut Table) {
        match self {
            Change::Add { path, node } => {
                table.insert(path.clone(), node.clone());
            }
            Change::Remove { path } => {
                table.remove(path);
            }
            Change::Rename { from, to, node } => {
                table.remove(from);
                table.insert(to.clone(), node.clone());
            }
        }
    }

    /// Whether the sync of a folder makes this change durable. A rename between two folders is
    /// one step, made durable by either.
    fn is_in(&self, folder: &Path) -> bool {
        let names = match self {
            Change::Add { path, .. } | Change::Remove { path } => [path, path],
            Change::Rename { from, to, .. } => [from, to],
        };
        names.iter().any(|name| {
            name.parent() == Some(folder) || (is_root(folder) && name.parent().is_none_or(is_root))
        })
    }
}

/// The folder above all others, which always exists: of absolute, relative and bare paths.
fn is_root(path: &Path) -> bool {
    path.parent().is_none() || path == Path::new(".")
}
