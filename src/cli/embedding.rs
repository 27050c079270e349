use std::cell::{RefCell, RefMut};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::terminal::Host;

/// The result of a command that was run inside another program.
#[derive(Clone, Debug, Default)]
pub struct EmbeddedAnswer {
    /// The exit code that the command has in a shell.
    pub code: u8,
    /// The text that was written to the standard output.
    pub printed: String,
    /// The lines that were written to the standard error, except for the error message.
    pub notes: Vec<String>,
    /// The error message if the command failed.
    pub error: Option<String>,
    /// The JSON document with all results, or an empty string if it was written to a file.
    pub document: String,
    /// All numbers as CSV, with one number per line, or an empty string if `document` is empty.
    pub csv: String,
    /// An HTML page with the tables and charts, or an empty string if `document` is empty.
    pub page: String,
}

/// The interface between a command and the program that it is running in.
pub struct Embedding {
    pub(super) interrupt: Arc<AtomicBool>,
    progress: Option<ProgressCallback>,
    answer: RefCell<EmbeddedAnswer>,
}

/// A function that is called with the description of each step of the command.
pub type ProgressCallback = Box<dyn Fn(&str)>;

impl Embedding {
    /// Creates a new embedding. If `interrupt` is set, the command returns the results so far.
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
