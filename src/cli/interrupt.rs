//! Ctrl-C, and the signals by which schedulers and terminals end a program: the first one ends a run with the
//! results so far; the second one ends the program at once.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Once};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown, register_usize};

use super::terminal::tell_always;

/// By the convention of shells an end by a signal has the exit code 128 plus its number.
const ENDED: i32 = 128;

/// The signal that came last.
static SIGNAL: LazyLock<Arc<AtomicUsize>> =
    LazyLock::new(|| Arc::new(AtomicUsize::new(SIGINT as usize)));

/// Returns the exit code of a program that was ended by a signal.
pub fn code() -> ExitCode {
    ExitCode::from((ENDED as usize + SIGNAL.load(Ordering::Relaxed)) as u8)
}

/// A flag that these signals set once they are listened to; before that, they end the program.
pub struct Later {
    flag: Arc<AtomicBool>,
    listening: Once,
}

impl Later {
    pub fn new() -> Self {
        Later {
            flag: Arc::default(),
            listening: Once::new(),
        }
    }

    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// Returns the exit code after an interruption, or else this one.
    pub fn code_or(&self, otherwise: ExitCode) -> ExitCode {
        if self.flag.load(Ordering::Relaxed) {
            code()
        } else {
            otherwise
        }
    }

    /// From now on these signals set the flag.
    pub fn listen(&self) {
        self.listening.call_once(|| {
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                // In this order: what ends the program looks at the flag before it is set.
                let registered = register_conditional_shutdown(signal, ENDED + signal, self.flag())
                    .and_then(|_| register_usize(signal, Arc::clone(&SIGNAL), signal as usize))
                    .and_then(|_| register(signal, self.flag()));
                if let Err(why) = registered {
                    // The signal then ends the program, as before.
                    tell_always(&format!("cannot listen to signal {signal}: {why}"));
                }
            }
        });
    }
}
