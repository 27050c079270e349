//! Ctrl-C: the first time, what runs ends with what it has; the second time, at once.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::INTERRUPTED;

/// From now on Ctrl-C sets the flag; once it is set, Ctrl-C ends the program.
///
/// # Errors
/// When the system does not let signals be handled.
pub fn flag() -> Result<Arc<AtomicBool>, Box<dyn Error>> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    })
    .map_err(|e| format!("cannot listen to Ctrl-C: {e}"))?;
    Ok(flag)
}
