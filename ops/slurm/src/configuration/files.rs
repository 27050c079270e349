//! A site from files: slurm.conf alone, or a folder with what a login node printed.

use std::fs;
use std::path::Path;

use super::{CONF, SiteError, SlurmSite, of_texts};
use crate::commands::{QUESTIONS, Text, Texts};

/// Reads a site from its slurm.conf, or from a folder with slurm.conf or `config.txt`, and `nodes.txt`, `partitions.txt`,
/// `qos.txt`, `assoc.txt`, `shares.txt` and `reservations.txt` as far as they are there: what [`Exported::commands`](crate::commands::Exported::commands)
/// write.
///
/// # Errors
/// Where a file cannot be read, or is not what it should be.
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
    for (_, names) in QUESTIONS {
        let mut paths = names.iter().rev().map(|name| path.join(name));
        if let Some(path) = paths.find(|path| path.is_file()) {
            texts.insert(names[0], read(&path)?);
        }
    }
    if texts.is_empty() {
        return Err(SiteError(format!(
            "{}: neither slurm.conf nor config.txt nor nodes.txt is there: write them with the commands of `synth advise slurm --help`",
            path.display()
        )));
    }
    of_texts(&texts)
}
