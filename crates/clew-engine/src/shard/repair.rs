//! Taking damaged files out of a shard, which nobody has open: they are moved aside, and a new manifest says what is left.

use std::path::Path;

use clew_log::Glsn;
use clew_platform::Disk;

use super::inspect::ShardFiles;
use super::manifest::{Manifest, manifest_number};
use crate::base::error::{EngineError, io_error};

/// A shard's folder, and where its damaged files go.
pub(crate) struct ShardRepair<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) dir: &'a Path,
    pub(crate) aside: &'a Path,
}

impl ShardRepair<'_> {
    /// Moves all files aside: what the shard holds comes from the log.
    pub(crate) fn begin_anew(&self) -> Result<(), EngineError> {
        let made = self.disk.create_dir_all_durable(self.dir);
        made.map_err(io_error("create", self.dir))?;
        let files = self
            .disk
            .list(self.dir)
            .map_err(io_error("list", self.dir))?;
        let number = files.iter().filter_map(|path| manifest_number(path)).max();
        for path in &files {
            self.move_aside(path)?;
        }
        let manifest = Manifest::new(number.unwrap_or(0) + 1, Glsn::ZERO, 0);
        manifest.write(self.disk, self.dir)
    }

    /// Moves the segments aside that have damaged files. Files first: a manifest that names a file which is gone
    /// refuses by name, one that forgets a file which is there would let it be removed.
    pub(crate) fn give_up_segments(&self) -> Result<(), EngineError> {
        let files = ShardFiles::read(self.disk, self.dir, &mut |_| {})?;
        let damaged = files.damaged_segments();
        let Some(manifest) = files.into_manifest() else {
            return Ok(());
        };
        for segment in manifest
            .segments
            .iter()
            .filter(|one| damaged.contains(&one.id))
        {
            let names = segment.files.iter().map(|file| &file.name);
            for name in names.chain(&segment.alive) {
                self.move_aside(&self.dir.join(name))?;
            }
        }
        let left = manifest.without(|segment| damaged.contains(&segment.id));
        left.write(self.disk, self.dir)
    }

    fn move_aside(&self, path: &Path) -> Result<(), EngineError> {
        let (Some(name), true) = (path.file_name(), self.disk.exists(path)) else {
            return Ok(());
        };
        let made = self.disk.create_dir_all_durable(self.aside);
        made.map_err(io_error("create", self.aside))?;
        let moved = self.disk.rename(path, &self.aside.join(name));
        moved.map_err(io_error("move aside", path))?;
        for dir in [self.aside, self.dir] {
            self.disk.sync_dir(dir).map_err(io_error("sync", dir))?;
        }
        Ok(())
    }
}
