use std::path::Path;

use clap::Args;

/// Files that are read, and files that are written.
pub type Files<'a> = (Vec<&'a Path>, Vec<&'a Path>);

/// Collects files that are read, and files that are written.
pub fn files<'a, R, W>(
    read: impl IntoIterator<Item = &'a R>,
    written: impl IntoIterator<Item = &'a W>,
) -> Files<'a>
where
    R: AsRef<Path> + ?Sized + 'a,
    W: AsRef<Path> + ?Sized + 'a,
{
    let read = read.into_iter().map(AsRef::as_ref);
    (
        read.collect(),
        written.into_iter().map(AsRef::as_ref).collect(),
    )
}

/// Arguments that may name files.
pub trait NamesFiles {
    /// Returns all files named.
    fn files(&self) -> Files<'_> {
        Files::default()
    }
}

/// No arguments.
#[derive(Args)]
pub struct NoArgs {}

impl NamesFiles for NoArgs {}
