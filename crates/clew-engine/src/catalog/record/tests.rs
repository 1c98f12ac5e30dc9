use clew_opensearch_mapping::{merge, reader, shown};
use serde_json::json;

use super::*;

/// A catalog as builds kept it that knew format 1 alone, with one index.
fn of_format_1() -> Value {
    let field = |path: &str, kind: Value| json!({"path": path, "multi_field": false, "hidden": false, "mapping": kind});
    json!({
        "format": 1, "applied": 7, "next_stream": 17,
        "indices": {"u": {
            "name": "old", "uuid": "u", "created_ms": 1, "first_stream": 16,
            "settings": IndexSettings::default(),
            "mapping": {
                "root": {"dynamic": "strict"}, "objects": {}, "aliases": {}, "similarities": {}, "analysis": null,
                "fields": [field("t", json!({"type": "text"})), field("d", json!({"type": "date"}))],
            },
        }},
    })
}

fn reopened(catalog: &[u8]) -> Catalog {
    loaded(catalog).unwrap().unwrap()
}

fn loaded(catalog: &[u8]) -> Result<Option<Catalog>, EngineError> {
    let disk = clew_platform::SimDisk::new();
    let path = Path::new("/catalog.json");
    let mut bytes = format!("{:08x}\n", crc32c::crc32c(catalog)).into_bytes();
    bytes.extend_from_slice(catalog);
    disk.write_atomic(path, &bytes).unwrap();
    Catalog::load(&disk, path)
}

#[test]
fn records_of_format_1_stay_until_their_mapping_changes_and_then_are_written_whole() {
    let written = of_format_1();
    let mut catalog = reopened(written.to_string().as_bytes());
    let old = &written["indices"]["u"]["mapping"];
    assert_eq!(&catalog.indices["u"].mapping, old);

    // A change that was logged before the upgrade fits what it was made for.
    let grown = json!({"grow_mapping": {"uuid": "u", "change": {"fields": {
        "2": {"path": "n", "multi_field": false, "hidden": false, "mapping": {"type": "long"}},
    }}}});
    let grown = CatalogOperation::decode(grown.to_string().as_bytes()).unwrap();
    catalog.apply(grown, Glsn::new(8)).unwrap();
    let saved = serde_json::to_value(&catalog).unwrap();
    assert_eq!(saved["format"], FORMAT);
    let first_two = |mapping: &Value| mapping["fields"].as_array().unwrap()[..2].to_vec();
    let kept = &saved["indices"]["u"]["mapping"];
    assert_eq!(first_two(kept), first_two(old));
    let mut catalog = reopened(saved.to_string().as_bytes());

    let settings = IndexSettings::default();
    let decoded = |catalog: &Catalog| {
        let record = &catalog.indices["u"];
        record.decode_mapping(&settings, Some(reader())).unwrap()
    };
    let mut mapping = decoded(&catalog);
    assert_eq!(mapping.fields().len(), 3);
    let change = |mapping: &mut Mapping, name: &str| {
        let body = json!({"properties": {name: {"type": "long"}}});
        merge(mapping, &body).unwrap();
        mapping.encode()
    };
    let first = catalog.mapping_operation("u", change(&mut mapping, "x"));
    assert!(matches!(first, CatalogOperation::PutMapping { .. }));
    catalog.apply(first, Glsn::new(9)).unwrap();
    let second = catalog.mapping_operation("u", change(&mut mapping, "y"));
    assert!(matches!(second, CatalogOperation::GrowMapping { .. }));
    catalog.apply(second, Glsn::new(10)).unwrap();
    assert_eq!(catalog.indices["u"].mapping, mapping.encode());
    assert_eq!(shown(&decoded(&catalog)), shown(&mapping));
}

#[test]
fn records_of_format_1_are_refused_without_a_reader() {
    let catalog = reopened(of_format_1().to_string().as_bytes());
    let refused = catalog.indices["u"].decode_mapping(&IndexSettings::default(), None);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("format 1"), "{refused}");
}

#[test]
fn a_catalog_of_a_later_build_is_refused() {
    let mut later = of_format_1();
    later["format"] = json!(4);
    let refused = loaded(later.to_string().as_bytes()).err().unwrap();
    let told = refused.to_string();
    assert!(told.contains("format 4 is not known"), "{told}");
}
