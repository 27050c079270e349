//! Where the results of a comparison go.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use synth::kind::Compared;

use super::output::{emit, is_stdout, writable};
use super::terminal::say;
use super::{Common, NEGATIVE, tell, width};

/// Files that results are wanted in.
#[derive(Clone, Copy)]
pub struct Results<'a> {
    /// All as JSON.
    pub output: Option<&'a PathBuf>,
    /// All numbers.
    pub csv: Option<&'a PathBuf>,
    /// A page.
    pub html: Option<&'a PathBuf>,
}

impl<'a> Results<'a> {
    /// All files.
    pub fn files(self) -> impl Iterator<Item = &'a PathBuf> {
        [self.output, self.csv, self.html].into_iter().flatten()
    }

    /// Checks that all can be written.
    pub fn check(self) -> Result<(), Box<dyn Error>> {
        let mut files = self.files().filter(|path| !is_stdout(path));
        files.try_for_each(|path| writable(path))
    }

    /// Prints the table to standard output, or to standard error where a document goes to standard
    /// output. Files are written in any case.
    pub fn publish(self, compared: &dyn Compared, common: &Common) -> Result<(), Box<dyn Error>> {
        if let Some(path) = self.output {
            emit(Some(path), &compared.document()?)?;
        }
        if let Some(path) = self.csv {
            emit(Some(path), &compared.csv()?)?;
        }
        if let Some(path) = self.html {
            emit(Some(path), &compared.page()?)?;
        }
        for (path, document) in compared.documents() {
            emit(Some(path), document)?;
        }
        let table = compared.table(width());
        let own = compared.documents().iter().map(|(path, _)| path);
        match self.files().chain(own).any(|path| is_stdout(path)) {
            true => tell(common, &table),
            false => say(&format!("{table}\n"))?,
        }
        Ok(())
    }
}

/// The exit code of a comparison that ended.
pub fn code_of(compared: &dyn Compared) -> ExitCode {
    match compared.has_failure() {
        true => ExitCode::from(NEGATIVE),
        false => ExitCode::SUCCESS,
    }
}
