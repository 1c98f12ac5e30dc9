//! The enumerations of the messages as the log knows them. Zero means the default; a number that
//! this server does not know is refused rather than guessed.

use clew_log::{Compression, Durability, Order};
use tonic::Status;

use crate::proto;
use crate::status::invalid;

/// When an append is acknowledged.
pub(crate) fn durability(number: i32) -> Result<Durability, Status> {
    match proto::Durability::try_from(number) {
        Ok(proto::Durability::Unspecified | proto::Durability::Sync) => Ok(Durability::Sync),
        Ok(proto::Durability::Os) => Ok(Durability::Os),
        Ok(proto::Durability::Memory) => Ok(Durability::Memory),
        Err(_) => Err(invalid(format!("unknown durability {number}"))),
    }
}

/// What a subscriber sees.
pub(crate) fn visible(number: i32) -> Result<Durability, Status> {
    match durability(number)? {
        Durability::Memory => Err(invalid("a subscriber sees what is OS or SYNC")),
        visible => Ok(visible),
    }
}

/// How a batch is stored.
pub(crate) fn compression(number: i32) -> Result<Compression, Status> {
    match proto::Compression::try_from(number) {
        Ok(proto::Compression::Unspecified | proto::Compression::None) => Ok(Compression::None),
        Ok(proto::Compression::Lz4) => Ok(Compression::Lz4),
        Ok(proto::Compression::Zstd) => Ok(Compression::Zstd),
        Err(_) => Err(invalid(format!("unknown compression {number}"))),
    }
}

/// The order of a scan.
pub(crate) fn order(number: i32) -> Result<Order, Status> {
    match proto::Order::try_from(number) {
        Ok(proto::Order::Unspecified | proto::Order::Forward) => Ok(Order::Forward),
        Ok(proto::Order::Backward) => Ok(Order::Backward),
        Err(_) => Err(invalid(format!("unknown order {number}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_the_default_and_unknown_numbers_are_refused() {
        assert_eq!(durability(0).unwrap(), Durability::Sync);
        assert_eq!(durability(1).unwrap(), Durability::Memory);
        assert_eq!(visible(2).unwrap(), Durability::Os);
        assert_eq!(compression(0).unwrap(), Compression::None);
        assert_eq!(compression(3).unwrap(), Compression::Zstd);
        assert!(matches!(order(0).unwrap(), Order::Forward));
        assert!(matches!(order(2).unwrap(), Order::Backward));
        let refused = [
            durability(4).err(),
            visible(1).err(),
            visible(-1).err(),
            compression(4).err(),
            order(3).err(),
        ];
        for status in refused {
            assert_eq!(status.unwrap().code(), tonic::Code::InvalidArgument);
        }
    }
}
