use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The maximum size of a workload, and of other documents, in bytes.
pub(super) const LARGEST: u64 = 64 << 20;
const LARGEST_OF_ALL: u64 = 256 << 20;

/// Returns the text of a file. The errors are those of [`all_bytes_of`] and invalid UTF-8.
pub fn text_of(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(all_bytes_of(path.as_ref())?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let why = format!("it is not valid UTF-8 from byte {at} on");
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}

/// Returns the bytes of a file, or of standard input if it is `-`.
///
/// # Errors
/// Returns an error if the file cannot be read, or is larger than 256 MiB.
pub fn all_bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    bytes_of(path, LARGEST_OF_ALL)
}

/// Returns `true` if a path is `-`, which means the standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Documents in memory that are used instead of files, by name.
pub type Documents = HashMap<PathBuf, Arc<[u8]>>;

thread_local! {
    static KEPT: RefCell<Documents> = RefCell::default();
}

/// Calls `run`. In this thread, these documents are used instead of the files with their names.
pub fn with_documents<T>(documents: Documents, run: impl FnOnce() -> T) -> T {
    struct Before(Documents);
    impl Drop for Before {
        fn drop(&mut self) {
            KEPT.set(std::mem::take(&mut self.0));
        }
    }
    let _before = Before(KEPT.replace(documents));
    run()
}

/// Returns the document in memory with this name.
pub fn kept(path: &Path) -> Option<Arc<[u8]>> {
    KEPT.with_borrow(|documents| documents.get(path).cloned())
}

/// Returns `true` if there is something to read with this name.
pub fn exists(path: &Path) -> bool {
    is_standard_input(path) || kept(path).is_some() || path.exists()
}

/// Returns the name of a file for messages.
pub fn display_name(path: &Path) -> String {
    match is_standard_input(path) {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}

/// Replaces the message of the operating system if it is not useful.
pub fn named(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::IsADirectory => io::Error::new(error.kind(), "it is a folder, not a file"),
        _ => error,
    }
}

/// Standard input can only be read once, so its bytes or the error are kept.
static STANDARD_INPUT: OnceLock<Result<Vec<u8>, String>> = OnceLock::new();

/// The size is limited, so that a device or a large log does not use all of the memory.
pub(super) fn bytes_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let read = |from: &mut dyn Read, most: u64| {
        let mut bytes = Vec::new();
        from.take(most + 1).read_to_end(&mut bytes).map(|_| bytes)
    };
    let bytes = if is_standard_input(path) {
        let input = || read(&mut io::stdin().lock(), LARGEST_OF_ALL).map_err(|e| e.to_string());
        let input = STANDARD_INPUT.get_or_init(input).clone();
        input.map_err(io::Error::other)?
    } else if let Some(bytes) = kept(path) {
        read(&mut &*bytes, most)?
    } else {
        read(&mut std::fs::File::open(path)?, most).map_err(named)?
    };
    if bytes.len() as u64 > most {
        let why = format!("it is larger than {} MiB", most >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}
