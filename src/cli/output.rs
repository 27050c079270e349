use std::ffi::OsString;
use std::fs::Permissions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::document::is_standard_input;
use crate::kind::{VerbOutput, VerbResult, refuse};
use crate::report::quoted;
use clap::Args;

use super::interrupt::SignalFlag;
use super::terminal::{Common, Host, Outcome, code_if};

pub(super) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Checks that the results can be written and do not overwrite an input or each other.
pub(super) fn check_destinations(read: &[&Path], written: &[&Path]) -> VerbResult<()> {
    let (streams, files): (Vec<&Path>, _) = read.iter().partition(|path| is_standard_input(path));
    if streams.len() > 1 {
        return refuse(
            "standard input can only be read once; use the names of the other files instead of `-`",
        );
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
            return refuse(format!(
                "{shown} is an input and would be overwritten; use a different file for the result"
            ));
        }
        if taken.contains(&at) {
            return refuse(format!(
                "it is not possible to write two results to {shown}; use a different file for each result"
            ));
        }
        taken.push(at);
    }
    let mut files = written.iter().filter(|path| !is_stdout(path));
    files.try_for_each(|path| writable(path))
}

/// Returns the canonical path, or `None` for a device, where results do not replace each other.
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

/// Writes the text to a file, or to the standard output if the path is `None` or `-`. Regular files
/// are replaced atomically if the directory allows it, even if the path is a symbolic link.
pub(super) fn emit(output: Option<&Path>, text: &str, common: &Common) -> VerbResult<()> {
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

pub(super) fn emit_all(documents: &[(PathBuf, String)], common: &Common) -> VerbResult<()> {
    let each = documents.iter();
    let each = each.map(|(file, text)| emit(Some(file), text, common));
    each.fold(Ok(()), Result::and)
}

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
    // Sync the directory so that the new name is durable. Some file systems do not support this.
    let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Writes the documents, the notes and the table, which is printed even if a document cannot be
/// written. If a document is written to standard output, the table is written to standard error.
fn publish(output: &VerbOutput, common: &Common) -> VerbResult<()> {
    if let Host::Program(program) = &common.host {
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

pub(super) fn conclude(output: VerbOutput, interrupt: &SignalFlag, common: &Common) -> Outcome {
    publish(&output, common)?;
    Ok(interrupt.code_or(code_if(output.negative)))
}

/// Checks that a file can be written, without changing it or creating it.
fn writable(path: &Path) -> VerbResult<()> {
    let folder = folder_of(path);
    let tried = match std::fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(ErrorKind::IsADirectory.into()),
        // If a pipe is opened and closed, its reader sees the end of the data.
        Ok(there) if there.file_type().is_fifo() => Ok(()),
        Ok(_) => std::fs::OpenOptions::new().write(true).open(path).map(drop),
        Err(why) if why.kind() != ErrorKind::NotFound => Err(why),
        Err(_) if !folder.exists() => {
            return refuse(format!(
                "cannot write {}: the directory {} does not exist; create it, or use a different path",
                path.display(),
                folder.display()
            ));
        }
        Err(_) => tempfile::tempfile_in(folder).map(drop),
    };
    tried.map_err(|e| format!("cannot write {}: {e}; use a different path", path.display()).into())
}

#[derive(Args)]
pub(super) struct Results {
    /// Also write all results to this file as JSON (`-`: standard output)
    ///
    /// On the standard output, it replaces the table
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Also write all numbers to this file as CSV, one per line
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Also write an HTML page with charts to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

const WRITTEN: [&str; 5] = ["--output", "-o", "--csv", "--html", "--jobs"];

/// Returns the command that was typed, quoted for a shell, without the paths of the results.
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
    pub(super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let all = [&self.output, &self.csv, &self.html];
        all.into_iter().flatten()
    }

    pub(super) fn publish(&self, output: &mut VerbOutput, common: &Common) -> VerbResult<()> {
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
