//! Generates the service and its messages. `protox` reads the description in pure Rust, so that
//! building needs no `protoc`.

use std::path::PathBuf;
use std::{env, error::Error, fs};

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    let file = "proto/clew/log/v1/log.proto";
    println!("cargo::rerun-if-changed=proto");
    let descriptors = protox::compile([file], ["proto"])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("log_descriptor.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        .bytes(".")
        .compile_fds(descriptors)?;
    Ok(())
}
