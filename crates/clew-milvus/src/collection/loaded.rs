//! Which parts of a collection are let in to searches.

use super::Collection;
use crate::error::{MilvusError, Result};

/// What is said of a partition that is named where keys are spread over them.
pub(crate) fn partitions_go_by_key() -> MilvusError {
    MilvusError::invalid(
        "not support manually specifying the partition names if partition key mode is used",
    )
}

impl Collection {
    /// Lets all of it in to searches.
    pub(crate) fn load(&mut self) {
        self.loaded = true;
        self.released.clear();
    }

    /// Lets these partitions in, and those that are in already.
    pub(crate) fn load_partitions(&mut self, names: &[String]) {
        if !self.loaded {
            self.released = self.partitions.keys().cloned().collect();
        }
        self.loaded = true;
        self.released.retain(|released| !names.contains(released));
    }

    /// Lets none of it in.
    pub(crate) fn release(&mut self) {
        self.loaded = false;
        self.released.clear();
    }

    /// Takes these partitions out of searches; the collection is not loaded without any.
    pub(crate) fn release_partitions(&mut self, names: &[String]) {
        if self.loaded {
            self.released.extend(names.iter().cloned());
            self.release_if_empty();
        }
    }

    fn release_if_empty(&mut self) {
        if self.loaded_partitions().next().is_none() {
            self.release();
        }
    }

    /// Forgets a partition.
    pub(crate) fn drop_partition(&mut self, name: &str) {
        self.partitions.remove(name);
        self.released.remove(name);
        self.release_if_empty();
    }

    pub(crate) fn has_loaded(&self, partition: &str) -> bool {
        self.loaded && !self.released.contains(partition)
    }

    /// The partitions that searches look at, and their numbers.
    pub(crate) fn loaded_partitions(&self) -> impl Iterator<Item = (&String, i64)> {
        let all = self.partitions.iter();
        all.filter(|(name, _)| self.has_loaded(name))
            .map(|(name, id)| (name, *id))
    }

    /// Refuses partitions that are not there, or that searches do not look at.
    pub(crate) fn check_loaded_partitions(&self, names: &[String]) -> Result<()> {
        self.check_partitions(names)?;
        let released = names.iter().find(|name| !self.has_loaded(name));
        match released {
            None => Ok(()),
            Some(name) => Err(MilvusError::PartitionNotLoaded(name.clone())),
        }
    }

    /// The partitions that a search is kept to: those that it names, or those that are loaded; none where that is all. Of a
    /// collection that is not loaded this says only whether they are there.
    ///
    /// # Errors
    /// When it names one that is not there, or not loaded while others are, or where keys are spread over them.
    pub(crate) fn searched_partitions(&self, named: &[String]) -> Result<Vec<String>> {
        if self.has_partition_key() {
            return match named.is_empty() {
                true => Ok(Vec::new()),
                false => Err(partitions_go_by_key()),
            };
        }
        self.check_named(named)?;
        if self.loaded {
            self.check_loaded_partitions(named)?;
        }
        if !named.is_empty() || self.released.is_empty() {
            return Ok(named.to_vec());
        }
        Ok(self
            .loaded_partitions()
            .map(|(name, _)| name.clone())
            .collect())
    }

    /// Refuses partitions that are not there, as Milvus does where rows are read: it is a parameter that is wrong.
    fn check_named(&self, names: &[String]) -> Result<()> {
        for name in names {
            if name.trim().is_empty() {
                return Err(MilvusError::invalid(
                    "Invalid partition name: . Partition name should not be empty.",
                ));
            }
            if !self.partitions.contains_key(name) {
                return Err(MilvusError::invalid(format!(
                    "partition name {name} not found"
                )));
            }
        }
        Ok(())
    }
}
