//! Ctrl-C: the first one ends a run with the results so far; the second one ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use super::INTERRUPTED;

fn listen(flag: &Arc<AtomicBool>) -> Result<(), String> {
    let set = Arc::clone(flag);
    ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    })
    .map_err(|e| format!("cannot listen to Ctrl-C: {e}"))
}

/// A flag that Ctrl-C sets once it is listened to; before that, Ctrl-C ends the program.
pub struct Later {
    flag: Arc<AtomicBool>,
    heard: Once,
}

impl Later {
    pub fn new() -> Self {
        Later {
            flag: Arc::default(),
            heard: Once::new(),
        }
    }

    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// From now on Ctrl-C sets the flag.
    pub fn listen(&self) {
        self.heard.call_once(|| {
            if let Err(why) = listen(&self.flag) {
                // Ctrl-C then ends the program, as before.
                anstream::eprintln!("{why}");
            }
        });
    }
}
