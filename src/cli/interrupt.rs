//! This module handles `SIGINT`, `SIGTERM` and `SIGHUP`. The first signal stops a run, which
//! returns the results so far. The second signal terminates the program.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Once};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown, register_usize};

use super::terminal::Host;

/// The exit code in a shell is `128 + n` if a process is terminated by signal `n`.
const SIGNAL_EXIT_BASE: i32 = 128;

static SIGNAL: LazyLock<Arc<AtomicUsize>> =
    LazyLock::new(|| Arc::new(AtomicUsize::new(SIGINT as usize)));

pub(super) fn code() -> u8 {
    (SIGNAL_EXIT_BASE as usize + SIGNAL.load(Ordering::Relaxed)) as u8
}

/// A flag that is set by signals once [`listen`](SignalFlag::listen) has been called.
pub(super) struct SignalFlag {
    flag: Arc<AtomicBool>,
    listening: Once,
    host: Host,
}

impl SignalFlag {
    pub(super) fn new(host: &Host) -> Self {
        let flag = match host {
            Host::Terminal => Arc::default(),
            Host::Program(program) => Arc::clone(&program.interrupt),
        };
        SignalFlag {
            flag,
            listening: Once::new(),
            host: host.clone(),
        }
    }

    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    pub(super) fn code_or(&self, otherwise: u8) -> u8 {
        let is_set = self.flag.load(Ordering::Relaxed);
        if is_set { code() } else { otherwise }
    }

    /// Starts to listen to the signals. Inside another program this does nothing.
    pub(super) fn listen(&self) {
        if matches!(self.host, Host::Program(_)) {
            return;
        }
        self.listening.call_once(|| {
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                // The order is important: the shutdown must read the flag before it is set.
                let registered =
                    register_conditional_shutdown(signal, SIGNAL_EXIT_BASE + signal, self.flag())
                        .and_then(|_| register_usize(signal, Arc::clone(&SIGNAL), signal as usize))
                        .and_then(|_| register(signal, self.flag()));
                if let Err(why) = registered {
                    self.host
                        .tell(&format!("cannot listen to signal {signal}: {why}"));
                }
            }
        });
    }
}
