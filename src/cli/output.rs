//! Where results go.

use std::error::Error;
use std::ffi::OsString;
use std::fs::Permissions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::document::is_standard_input;
use crate::kind::{VerbOutput, refuse};
use crate::report::quoted;
use clap::Args;

use super::interrupt;
use super::terminal::{Common, Host, Outcome, code_if};

/// Returns whether the name means standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Checks the destinations of results before any work is done: no two results go to the same file, none goes to a file
/// that is read, and each can be written.
pub(super) fn check_destinations(read: &[&Path], written: &[&Path]) -> Result<(), Box<dyn Error>> {
    let (streams, files): (Vec<&Path>, _) = read.iter().partition(|path| is_standard_input(path));
    if streams.len() > 1 {
        return refuse("standard input is one file: give the others by name");
    }
    let read: Vec<PathBuf> = files.into_iter().filter_map(place).collect();
    let mut taken: Vec<PathBuf> = Vec::new();
    for path in written {
        let Some(at) = place(path) else { continue };
        let shown = match is_stdout(path) {
            true => "standard output".into(),
            false => path.display().to_string(),
        };
        if read.contains(&at) {
            let why = "is read here and would be overwritten: choose another place for the result";
            return refuse(format!("{shown} {why}"));
        }
        if taken.contains(&at) {
            return refuse(format!(
                "two results cannot both go to {shown}: give each a file of its own"
            ));
        }
        taken.push(at);
    }
    let mut files = written.iter().filter(|path| !is_stdout(path));
    files.try_for_each(|path| writable(path))
}

/// Returns the file behind a name, whether it exists yet or not; none for a device, where results do not
/// replace each other.
fn place(path: &Path) -> Option<PathBuf> {
    if is_stdout(path) {
        return Some(path.into());
    }
    if let Ok(real) = path.canonicalize() {
        return Some(real).filter(|real| real.is_file());
    }
    let folder = folder_of(path).canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}

fn folder_of(path: &Path) -> &Path {
    let named = path.parent().filter(|p| !p.as_os_str().is_empty());
    named.unwrap_or(Path::new("."))
}

/// Writes text to a file, or else (and to `-`) to standard output. A regular file is replaced whole
/// or not at all, behind a link too; a device or a pipe is written to. A regular file in a folder that
/// does not permit new files is overwritten.
pub(super) fn emit(
    output: Option<&Path>,
    text: &str,
    common: &Common,
) -> Result<(), Box<dyn Error>> {
    let Some(path) = output.filter(|path| !is_stdout(path)) else {
        let mut stdout = common.host.clone();
        stdout.write_all(text.as_bytes())?;
        return Ok(stdout.flush()?);
    };
    let written = match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => {
            let opened = std::fs::OpenOptions::new().write(true).open(path);
            opened.and_then(|mut file| file.write_all(text.as_bytes()))
        }
        Ok(there) => {
            let real = path.canonicalize();
            let replaced = real.and_then(|real| replace(&real, text, Some(there.permissions())));
            match replaced {
                Err(why) if why.kind() == ErrorKind::PermissionDenied => std::fs::write(path, text),
                replaced => replaced,
            }
        }
        Err(_) => replace(path, text, None),
    };
    written.map_err(|e| format!("cannot write {}: {e}", path.display()).into())
}

/// Writes each document to its file, and returns the first failure once all have been tried: the caller prints its
/// answer all the same.
pub(super) fn emit_all(
    documents: &[(PathBuf, String)],
    common: &Common,
) -> Result<(), Box<dyn Error>> {
    let each = documents.iter();
    let each = each.map(|(file, text)| emit(Some(file), text, common));
    each.fold(Ok(()), Result::and)
}

/// Writes a file of a new name beside it, waits until that is on the disk, then puts it in its place. It has these
/// permissions, or else those of a new file.
fn replace(path: &Path, text: &str, permissions: Option<Permissions>) -> std::io::Result<()> {
    let folder = folder_of(path);
    let mut beside = tempfile::Builder::new()
        .prefix(".synth-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    if let Some(permissions) = permissions {
        beside.as_file().set_permissions(permissions)?;
    }
    beside.write_all(text.as_bytes())?;
    beside.as_file().sync_all()?;
    beside.persist(path)?;
    // That the file has its name is on the disk, too; not every file system can be told to wait for that.
    let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Writes documents to their files, notes to standard error, and prints the table: to standard output, or to standard
/// error where a document goes to standard output. The table is printed even if a document could not be written.
fn publish(output: &VerbOutput, common: &Common) -> Result<(), Box<dyn Error>> {
    if let Host::Program(program) = &common.host {
        // What is not printed of it, for programs.
        let mut answer = program.answered();
        answer.document.clone_from(&output.document);
        answer.csv = output.report.numbers.csv()?;
        answer.page = output.report.page()?;
    }
    output.notes.iter().for_each(|note| common.tell(note));
    let written = emit_all(&output.documents, common);
    let text = output.report.text(common.host.width());
    let text = text.trim_end();
    if text.is_empty() {
        return written;
    }
    if output.documents.iter().any(|(file, _)| is_stdout(file)) {
        common.tell(text);
        return written;
    }
    let printed = common.host.say(&format!("{text}\n"));
    written.and(printed.map_err(Into::into))
}

/// Publishes what a verb answers.
pub(super) fn conclude(
    output: VerbOutput,
    interrupt: &interrupt::Later,
    common: &Common,
) -> Outcome {
    publish(&output, common)?;
    Ok(interrupt.code_or(code_if(output.negative)))
}

/// Checks that a result can be written there, and leaves the place as it was.
fn writable(path: &Path) -> Result<(), Box<dyn Error>> {
    let tried = match std::fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(ErrorKind::IsADirectory.into()),
        // Its reader would take that it is opened and closed for all that it gets.
        Ok(there) if there.file_type().is_fifo() => Ok(()),
        Ok(_) => std::fs::OpenOptions::new().write(true).open(path).map(drop),
        Err(_) => std::fs::File::create_new(path).and_then(|_| std::fs::remove_file(path)),
    };
    tried.map_err(|e| format!("cannot write {}: {e}; choose another place", path.display()).into())
}

/// Where the results of a comparison go.
#[derive(Args)]
pub(super) struct Results {
    /// Also write all results as JSON to this file (`-`: to standard output, in place of the table)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Also write all numbers as CSV, one per line (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Also write a page with the answer in words, tables and pictures (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Options after which a file stands that results go to.
const WRITTEN: [&str; 5] = ["--output", "-o", "--csv", "--html", "--jobs"];

/// Returns the command that was typed behind the name of the program, as a shell takes it, without files that results go to.
pub(super) fn command(program: &str, typed: &[OsString]) -> String {
    let mut command = program.to_owned();
    let mut words = typed.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        if WRITTEN.contains(&&*word) {
            words.next();
            continue;
        }
        let name = word.split_once('=').map_or(&*word, |(name, _)| name);
        let is_short = word.starts_with("-o");
        if !(WRITTEN.contains(&name) || is_short || ["--quiet", "-q"].contains(&name)) {
            command += " ";
            command += &quoted(&word);
        }
    }
    command
}

impl Results {
    /// Returns all files.
    pub(super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let all = [&self.output, &self.csv, &self.html];
        all.into_iter().flatten()
    }

    /// Writes what is requested of a comparison, and prints its table.
    pub(super) fn publish(
        &self,
        output: &mut VerbOutput,
        common: &Common,
    ) -> Result<(), Box<dyn Error>> {
        let mut documents = Vec::new();
        if let Some(file) = &self.output {
            documents.push((file.clone(), std::mem::take(&mut output.document)));
        }
        if let Some(file) = &self.csv {
            documents.push((file.clone(), output.report.numbers.csv()?));
        }
        if let Some(file) = &self.html {
            documents.push((file.clone(), output.report.page()?));
        }
        output.documents.splice(..0, documents);
        publish(output, common)
    }
}
