//! A command that another program runs within itself: what it says is kept, nothing is printed, no signal is listened to.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::terminal::Host;

/// What a command answers to a program.
#[derive(Clone, Debug, Default)]
pub struct EmbeddedAnswer {
    /// The exit code that it has in a shell.
    pub code: u8,
    /// What it writes to standard output.
    pub printed: String,
    /// What it writes to standard error, but for the error.
    pub notes: Vec<String>,
    /// Why there is no answer, where there is none.
    pub error: Option<String>,
    /// All results, for programs: JSON; empty where the command has none, or wrote it to a file.
    pub document: String,
    /// All numbers, one a line; empty as before.
    pub csv: String,
    /// A page with tables and pictures; empty as before.
    pub page: String,
}

/// A program that runs a command.
pub struct Embedding {
    pub(super) interrupt: Arc<AtomicBool>,
    progress: Option<ProgressCallback>,
    answer: RefCell<EmbeddedAnswer>,
}

/// Is called with what is done now, each time that this changes.
pub type ProgressCallback = Box<dyn Fn(&str)>;

impl Embedding {
    /// Returns a program that sets this flag to end the command with what it has.
    pub fn new(interrupt: Arc<AtomicBool>, progress: Option<ProgressCallback>) -> Self {
        Embedding {
            interrupt,
            progress,
            answer: RefCell::default(),
        }
    }

    pub(super) fn progress(&self, text: &str) {
        if let Some(progress) = &self.progress {
            progress(text);
        }
    }

    /// Returns the answer so far, to be added to.
    pub(super) fn answered(&self) -> RefMut<'_, EmbeddedAnswer> {
        self.answer.borrow_mut()
    }

    /// Returns the answer of a command that this program runs, which returns the exit code.
    pub(super) fn answer(self, command: impl FnOnce(Host) -> u8) -> EmbeddedAnswer {
        let program = Rc::new(self);
        let code = command(Host::Program(Rc::clone(&program)));
        EmbeddedAnswer {
            code,
            ..program.answer.take()
        }
    }
}
