//! Ctrl-C, and the signals by which schedulers and terminals end a program: the first one ends a run with the
//! results so far; the second one ends the program at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Once};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown, register_usize};

use super::terminal::Host;

/// By the convention of shells an end by a signal has the exit code 128 plus its number.
const ENDED: i32 = 128;

/// The signal that came last.
static SIGNAL: LazyLock<Arc<AtomicUsize>> =
    LazyLock::new(|| Arc::new(AtomicUsize::new(SIGINT as usize)));

/// Returns the exit code of a program that was ended by a signal.
pub(super) fn code() -> u8 {
    (ENDED as usize + SIGNAL.load(Ordering::Relaxed)) as u8
}

/// A flag that these signals set once they are listened to; before that, they end the program.
pub(super) struct Later {
    flag: Arc<AtomicBool>,
    listening: Once,
    host: Host,
}

impl Later {
    pub(super) fn new(host: &Host) -> Self {
        let flag = match host {
            Host::Terminal => Arc::default(),
            Host::Program(program) => Arc::clone(&program.interrupt),
        };
        Later {
            flag,
            listening: Once::new(),
            host: host.clone(),
        }
    }

    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// Returns the exit code after an interruption, or else this one.
    pub(super) fn code_or(&self, otherwise: u8) -> u8 {
        if self.flag.load(Ordering::Relaxed) {
            code()
        } else {
            otherwise
        }
    }

    /// From now on these signals set the flag; within another program it is that which sets it.
    pub(super) fn listen(&self) {
        if matches!(self.host, Host::Program(_)) {
            return;
        }
        self.listening.call_once(|| {
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                // In this order: what ends the program looks at the flag before it is set.
                let registered = register_conditional_shutdown(signal, ENDED + signal, self.flag())
                    .and_then(|_| register_usize(signal, Arc::clone(&SIGNAL), signal as usize))
                    .and_then(|_| register(signal, self.flag()));
                if let Err(why) = registered {
                    // The signal then ends the program, as before.
                    self.host
                        .tell(&format!("cannot listen to signal {signal}: {why}"));
                }
            }
        });
    }
}
