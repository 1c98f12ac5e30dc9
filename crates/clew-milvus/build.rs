//! Generates the service and its messages. `protox` reads the description in pure Rust, so that
//! building needs no `protoc`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = "proto/milvus.proto";
    println!("cargo::rerun-if-changed={file}");
    let descriptors = protox::compile([file], ["proto"])?;
    tonic_prost_build::configure()
        .bytes(".")
        .build_client(false)
        .compile_fds(descriptors)?;
    Ok(())
}
