//! What the benchmark of Milvus' API is measured against.
//!
//! `clew-bench-milvus rows COUNT DIMENSION ROWS_A_WRITE` writes rows to the engine with no protocol before it.
//! `clew-bench-milvus replay FOLDER` is a server that costs nothing: each call is answered by the file of its name.

mod replay;
mod rows;

use std::path::Path;

use anyhow::bail;

#[global_allocator]
static ALLOCATOR: clew_platform::Mimalloc = clew_platform::Mimalloc;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["rows", count, dimension, together] => {
            rows::write(count.parse()?, dimension.parse()?, together.parse()?)
        }
        ["replay", folder] => replay::serve(Path::new(folder)),
        _ => bail!("rows COUNT DIMENSION ROWS_A_WRITE, or replay FOLDER"),
    }
}
