//! Field norms of segments older than the mapping: tantivy's merger wants a norm for every text
//! field of the schema, and a segment written before a field existed has none. Zeros say what is
//! true: none of its documents has a token there.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

use tantivy::directory::{CompositeFile, CompositeWrite, Directory, OwnedBytes, RamDirectory};
use tantivy::index::{Segment, SegmentComponent};
use tantivy::schema::{Field, Schema};
use tantivy::{Index, IndexSettings};

/// Replacements for the norm files that lack fields of the schema, by path.
pub(super) fn complete_norms(
    schema: &Schema,
    segments: &[Segment],
) -> tantivy::Result<HashMap<PathBuf, OwnedBytes>> {
    let wanted: Vec<Field> = schema
        .fields()
        .filter(|(_, entry)| entry.is_indexed() && entry.has_fieldnorms())
        .map(|(field, _)| field)
        .collect();
    let mut replaced = HashMap::new();
    for segment in segments {
        let norms = CompositeFile::open(&segment.open_read(SegmentComponent::FieldNorms)?)?;
        if wanted.iter().all(|field| norms.open_read(*field).is_some()) {
            continue;
        }
        let path = segment.relative_path(SegmentComponent::FieldNorms);
        replaced.insert(path, rewrite(schema, segment, &norms, &wanted)?);
    }
    Ok(replaced)
}

/// The norm file with zeros for missing fields, in memory. It is written through a throw-away
/// index because only an index's directory adds the footer that readers expect.
fn rewrite(
    schema: &Schema,
    segment: &Segment,
    norms: &CompositeFile,
    wanted: &[Field],
) -> tantivy::Result<OwnedBytes> {
    let memory = RamDirectory::create();
    let index = Index::create(memory.clone(), schema.clone(), IndexSettings::default())?;
    let path = PathBuf::from("norms");
    let mut out = CompositeWrite::wrap(index.directory().open_write(&path)?);
    for field in wanted {
        match norms.open_read(*field) {
            Some(bytes) => out.for_field(*field).write_all(&bytes.read_bytes()?)?,
            None => out
                .for_field(*field)
                .write_all(&vec![0; segment.meta().max_doc() as usize])?,
        }
    }
    out.close()?;
    Ok(memory.open_read(&path)?.read_bytes()?)
}
