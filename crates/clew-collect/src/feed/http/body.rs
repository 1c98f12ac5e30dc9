//! Bodies of requests, read whole within bounds: of one body, of all bodies together, and of time.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use super::answer::Refused;

/// Bytes that all bodies may have at once.
#[derive(Debug)]
pub(super) struct Budget {
    left: AtomicUsize,
}

impl Budget {
    pub(super) fn new(bytes: usize) -> Self {
        Budget {
            left: AtomicUsize::new(bytes),
        }
    }
}

/// What a request has of a budget; dropping it gives that back.
#[derive(Debug)]
pub(super) struct Share {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Share {
    pub(super) fn new(budget: &Arc<Budget>) -> Self {
        Share {
            budget: Arc::clone(budget),
            bytes: 0,
        }
    }

    /// Takes so many bytes more.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), Refused> {
        let left = &self.budget.left;
        let less = |left: usize| left.checked_sub(bytes);
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .map_err(|_| Refused::Full)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// Reads a body as it comes.
pub(super) async fn read(
    body: Incoming,
    bytes_max: usize,
    at_most: Duration,
    share: &mut Share,
) -> Result<Vec<u8>, Refused> {
    let too_large = Refused::TooLarge { bytes_max };
    let mut body = body;
    let all = async {
        if body.size_hint().lower() > bytes_max as u64 {
            pass_over(&mut body).await;
            return Err(too_large);
        }
        let mut all = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame =
                frame.map_err(|error| Refused::Invalid(format!("the body broke off: {error}")))?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if all.len() + data.remaining() > bytes_max {
                pass_over(&mut body).await;
                return Err(too_large);
            }
            share.grow(data.remaining())?;
            all.extend_from_slice(&data);
        }
        Ok(all)
    };
    match tokio::time::timeout(at_most, all).await {
        Ok(all) => all,
        Err(_) => Err(Refused::Late),
    }
}

/// Bytes of a body that is not taken which are read nevertheless.
const PASSED_BYTES_MAX: usize = 64 << 20;

/// Reads what is left of a body that is not taken: who is still sending would see its connection break, and not the answer.
async fn pass_over(body: &mut Incoming) {
    let mut left = PASSED_BYTES_MAX;
    while let Some(Ok(frame)) = body.frame().await {
        let bytes = frame.data_ref().map_or(0, Buf::remaining);
        match left.checked_sub(bytes) {
            Some(less) => left = less,
            None => return,
        }
    }
}

/// Uncompresses a body; `encoding` is what the header says of it.
pub(super) fn uncompressed(
    body: Vec<u8>,
    encoding: Option<&str>,
    bytes_max: usize,
    share: &mut Share,
) -> Result<Bytes, Refused> {
    let broken = |error: std::io::Error| Refused::Invalid(format!("the body is broken: {error}"));
    let mut source: Box<dyn Read + '_> = match encoding {
        None | Some("" | "identity" | "none") => return Ok(body.into()),
        Some("gzip" | "x-gzip") => Box::new(flate2::read::MultiGzDecoder::new(&body[..])),
        Some("deflate" | "zlib") => Box::new(flate2::read::ZlibDecoder::new(&body[..])),
        Some("zstd") => Box::new(zstd::stream::read::Decoder::new(&body[..]).map_err(broken)?),
        Some(other) => return Err(Refused::Encoding(other.to_owned())),
    };
    let mut plain = Vec::new();
    let mut block = vec![0; 64 << 10];
    loop {
        let count = source.read(&mut block).map_err(broken)?;
        if count == 0 {
            return Ok(plain.into());
        }
        if plain.len() + count > bytes_max {
            return Err(Refused::TooLarge { bytes_max });
        }
        share.grow(count)?;
        plain.extend_from_slice(&block[..count]);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn compressed_bodies_are_bounded_by_what_they_become() {
        let budget = Arc::new(Budget::new(3_000));
        let plain = vec![b'a'; 2_000];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(&plain).unwrap();
        let bodies = [
            ("gzip", gzip.finish().unwrap()),
            ("deflate", zlib.finish().unwrap()),
            ("zstd", zstd::encode_all(&plain[..], 1).unwrap()),
        ];
        for (name, body) in bodies {
            let unpack = |body: &[u8], bytes_max, share: &mut Share| {
                uncompressed(body.to_vec(), Some(name), bytes_max, share)
            };
            let mut share = Share::new(&budget);
            assert_eq!(unpack(&body, 2_000, &mut share).unwrap(), plain, "{name}");
            // What one has the next one has not.
            let full = unpack(&body, 2_000, &mut Share::new(&budget));
            assert_eq!(full, Err(Refused::Full), "{name}");
            drop(share);
            let mut share = Share::new(&budget);
            let bytes_max = 1_999;
            let large = unpack(&body, bytes_max, &mut share);
            assert_eq!(large, Err(Refused::TooLarge { bytes_max }), "{name}");
            drop(share);
            let torn = unpack(&body[..body.len() - 4], 2_000, &mut Share::new(&budget));
            assert!(matches!(torn, Err(Refused::Invalid(_))), "{name}: {torn:?}");
        }
        let other = uncompressed(Vec::new(), Some("br"), 9, &mut Share::new(&budget));
        assert_eq!(other, Err(Refused::Encoding("br".to_owned())));
    }
}
