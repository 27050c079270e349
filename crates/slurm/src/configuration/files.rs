//! A site from files: slurm.conf alone, or a folder with what a login node printed.

use std::fs;
use std::path::Path;

use super::{Site, SiteError, of_texts};
use crate::commands::{Text, Texts};

/// Reads a site from its slurm.conf, or from a folder with slurm.conf or `config.txt`, and `nodes.txt`, `partitions.txt`,
/// `qos.txt`, `assoc.txt`, `shares.txt` and `reservations.txt` as far as they are there: what [`Exported::commands`](crate::commands::Exported::commands)
/// write.
///
/// # Errors
/// Where a file cannot be read, or is not what it should be.
pub fn of_path(path: &Path) -> Result<Site, SiteError> {
    let read = |path: &Path| {
        let name = path.display().to_string();
        let text = fs::read(path).map_err(|why| SiteError(format!("cannot read {name}: {why}")))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Some(Text { name, text }))
    };
    if !path.is_dir() {
        return of_texts(&Texts {
            conf: read(path)?,
            ..Texts::default()
        });
    }
    let of = |names: &[&str]| {
        let paths = names.iter().map(|name| path.join(name));
        let there = paths.into_iter().find(|path| path.is_file());
        there.map_or(Ok(None), |path| read(&path))
    };
    let texts = Texts {
        conf: of(&["slurm.conf", "config.txt"])?,
        nodes: of(&["nodes.txt"])?,
        partitions: of(&["partitions.txt"])?,
        qos: of(&["qos.txt"])?,
        associations: of(&["assoc.txt"])?,
        shares: of(&["shares.txt"])?,
        reservations: of(&["reservations.txt", "reservation.txt", "res.txt", "resv.txt"])?,
    };
    if texts == Texts::default() {
        return Err(SiteError(format!(
            "{}: neither slurm.conf nor config.txt nor nodes.txt is there: write them with the commands of `synth advise slurm --help`",
            path.display()
        )));
    }
    of_texts(&texts)
}
