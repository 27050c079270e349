use std::path::Path;

use clap::Args;

/// The files that are read and the files that are written.
pub type Files<'a> = (Vec<&'a Path>, Vec<&'a Path>);

/// Collects the files that are read and the files that are written.
pub fn files<'a>(
    read: impl IntoIterator<Item = &'a (impl AsRef<Path> + ?Sized + 'a)>,
    written: impl IntoIterator<Item = &'a (impl AsRef<Path> + ?Sized + 'a)>,
) -> Files<'a> {
    let read = read.into_iter().map(AsRef::as_ref).collect();
    (read, written.into_iter().map(AsRef::as_ref).collect())
}

/// Arguments of several verbs that can contain the names of files.
pub trait NamesFiles {
    /// Returns all files that are named.
    fn files(&self) -> Files<'_> {
        Files::default()
    }
}

/// An empty list of arguments.
#[derive(Args)]
pub struct NoArgs {}

impl NamesFiles for NoArgs {}
