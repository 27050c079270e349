//! Runs a command inside another program: output is collected, and no signals are caught.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::terminal::Host;

/// The outcome of an embedded command.
#[derive(Clone, Debug, Default)]
pub struct EmbeddedAnswer {
    /// The exit code that the command has in a shell.
    pub code: u8,
    /// Text written to standard output.
    pub printed: String,
    /// Lines written to standard error, except the error message.
    pub notes: Vec<String>,
    /// The error message if the command failed.
    pub error: Option<String>,
    /// The JSON document of all results; empty if the command has none or wrote it to a file.
    pub document: String,
    /// All numbers as CSV, one per line; empty like `document`.
    pub csv: String,
    /// An HTML page with tables and charts; empty like `document`.
    pub page: String,
}

/// The embedding program's side of a running command.
pub struct Embedding {
    pub(super) interrupt: Arc<AtomicBool>,
    progress: Option<ProgressCallback>,
    answer: RefCell<EmbeddedAnswer>,
}

/// Called with a description of the current step each time it changes.
pub type ProgressCallback = Box<dyn Fn(&str)>;

impl Embedding {
    /// Creates an embedding. Setting `interrupt` ends the command with the results it has so far.
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

    pub(super) fn answered(&self) -> RefMut<'_, EmbeddedAnswer> {
        self.answer.borrow_mut()
    }

    pub(super) fn answer(self, command: impl FnOnce(Host) -> u8) -> EmbeddedAnswer {
        let program = Rc::new(self);
        let code = command(Host::Program(Rc::clone(&program)));
        EmbeddedAnswer {
            code,
            ..program.answer.take()
        }
    }
}
