//! What a build that counts has counted so far: the profile that the compiler trains the next build by.
//!
//! A build with `-Cprofile-generate` keeps a counter for each branch and for what indirect calls lead to, and LLVM's runtime
//! writes them to a file when the process ends. A server does not end, so that it is asked while it runs. `--cfg clew_training`
//! tells this crate that the runtime is there.

use crate::ProfileError;

/// The counters of this process since its start, as `llvm-profdata merge` reads them (a `.profraw`); counting goes on. Some tens
/// of megabytes and milliseconds; nothing stands still meanwhile, so that counters which belong together may be a few apart.
///
/// # Errors
/// [`ProfileError::NotTraining`] by builds that do not count.
pub fn training() -> Result<Vec<u8>, ProfileError> {
    counted::read()
}

/// Whether this build counts, so that there is something to hand out.
pub fn is_training() -> bool {
    cfg!(clew_training)
}

#[cfg(not(clew_training))]
mod counted {
    use crate::ProfileError;

    pub(super) fn read() -> Result<Vec<u8>, ProfileError> {
        Err(ProfileError::NotTraining)
    }
}

#[cfg(clew_training)]
mod counted {
    use std::ffi::{CStr, CString, c_char, c_int};
    use std::fs::File;
    use std::io::{self, Read, Seek, SeekFrom};
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    use parking_lot::Mutex;

    use crate::ProfileError;

    /// The runtime knows one name of a file at a time.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    // SAFETY: signatures of LLVM's profiling runtime, which `-Cprofile-generate` links.
    #[allow(unsafe_code, reason = "the runtime is written in C")]
    unsafe extern "C" {
        fn __llvm_profile_get_filename() -> *const c_char;
        fn __llvm_profile_set_filename(name: *const c_char);
        fn __llvm_profile_write_file() -> c_int;
    }

    pub(super) fn read() -> Result<Vec<u8>, ProfileError> {
        let _turn = ONE_AT_A_TIME.lock();
        // The runtime writes to names only. This one is of a file in memory.
        let mut file = memory_file().map_err(ProfileError::system("make a file in memory"))?;
        let name = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))
            .map_err(|error| ProfileError::Malformed(error.to_string()))?;
        let own = own_name();
        write_to(&name)?;
        // At the end of the process the runtime writes to the last name that it knows.
        set_name(&own);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    #[allow(unsafe_code, reason = "a system call, and its descriptor")]
    fn memory_file() -> io::Result<File> {
        // SAFETY: the name is a string that ends.
        let descriptor =
            unsafe { libc::memfd_create(c"clew-training".as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened, and nobody else's.
        Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }.into())
    }

    #[allow(unsafe_code, reason = "the runtime is written in C")]
    fn own_name() -> CString {
        // SAFETY: the runtime hands out a string that ends and stays as long as the name does, which is copied before it changes.
        let name = unsafe { __llvm_profile_get_filename() };
        if name.is_null() {
            return CString::default();
        }
        // SAFETY: as above.
        unsafe { CStr::from_ptr(name) }.to_owned()
    }

    #[allow(unsafe_code, reason = "the runtime is written in C")]
    fn set_name(name: &CStr) {
        // SAFETY: a string that ends; the runtime copies it.
        unsafe { __llvm_profile_set_filename(name.as_ptr()) }
    }

    #[allow(unsafe_code, reason = "the runtime is written in C")]
    fn write_to(name: &CStr) -> Result<(), ProfileError> {
        set_name(name);
        // SAFETY: takes nothing; the lock of the caller keeps a second one out.
        match unsafe { __llvm_profile_write_file() } {
            0 => Ok(()),
            _ => Err(ProfileError::System {
                what: "write what was counted",
                error: io::Error::last_os_error(),
            }),
        }
    }
}

#[cfg(all(test, not(clew_training)))]
mod tests {
    use super::*;

    #[test]
    fn a_build_that_counts_nothing_says_how_one_that_does_is_made() {
        assert!(!is_training());
        let told = training().expect_err("tests count nothing").to_string();
        assert!(told.contains("make pgo-server"), "{told}");
    }
}
