use std::fs;
use std::path::Path;

use super::{CONF, SiteError, SlurmSite, of_texts};
use crate::commands::{EXPORT_COMMANDS, Text, Texts};

/// Reads a site from slurm.conf, or from a folder with some of the files that are written by
/// [`Exported::commands`](crate::commands::Exported::commands), or slurm.conf for `config.txt`.
///
/// # Errors
/// If a file cannot be read or parsed.
pub fn of_path(path: &Path) -> Result<SlurmSite, SiteError> {
    let read = |path: &Path| {
        let name = path.display().to_string();
        let text = fs::read(path).map_err(|why| SiteError(format!("cannot read {name}: {why}")))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Text { name, text })
    };
    if !path.is_dir() {
        return of_texts(&Texts::from([(CONF, read(path)?)]));
    }
    let mut texts = Texts::new();
    for (_, names) in EXPORT_COMMANDS {
        let mut paths = names.iter().rev().map(|name| path.join(name));
        if let Some(path) = paths.find(|path| path.is_file()) {
            texts.insert(names[0], read(&path)?);
        }
    }
    if texts.is_empty() {
        let why = "there is no slurm.conf, config.txt or nodes.txt: create them with the commands listed by `synth advise slurm --help`";
        return Err(SiteError(format!("{}: {why}", path.display())));
    }
    of_texts(&texts)
}
