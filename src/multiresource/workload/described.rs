//! Reading documents of one server and of fleets.

use std::path::Path;

use super::document::{self, EXAMPLE, KIND, ServerDocument};
use super::fleet_document::{self, FleetDocument};
use super::{Fleet, Workload};
use crate::document::{Document, DocumentError, Fault, Parsed, place, read_file, suggest};
use crate::law::{respell_law, respell_law_or_number, respell_process};

/// What a document describes.
#[derive(Clone, Debug, PartialEq)]
pub enum Described {
    /// One server.
    Server(Workload),
    /// Servers of several shapes.
    Fleet(Fleet),
}

impl Workload {
    /// Reads a document of one server; `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`DocumentError::Faults`] with every fault found.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        let document = begin(text, name)?;
        if document.root.get("servers").is_some() {
            let fault = Fault::new(
                place!("servers"),
                "this is a fleet of several servers, and here one server is wanted",
                "give `server: {capacity: …}` here; a fleet goes with `synth --workload FILE --preemption …`, \
                 `synth check` and `synth simulate --policy FILE`",
            );
            return Err(document.refuse(vec![fault]));
        }
        parse_server(&document)
    }

    /// Reads the document in a file of UTF-8 text, at most 64 MiB.
    ///
    /// # Errors
    /// [`DocumentError::Io`] if the file cannot be read, [`DocumentError::Faults`] with every
    /// fault found in it.
    pub fn read(path: &Path) -> Result<Parsed<Self>, DocumentError> {
        read_file(path, Self::parse)
    }
}

impl Described {
    /// The document, which reads back as this workload.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        match self {
            Self::Server(workload) => workload.to_yaml(),
            Self::Fleet(fleet) => fleet.to_yaml(),
        }
    }

    /// What stands for its types and resources: the workload of one server, or the [envelope](Fleet::envelope).
    #[must_use]
    pub fn envelope(&self) -> &Workload {
        match self {
            Self::Server(workload) => workload,
            Self::Fleet(fleet) => fleet.envelope(),
        }
    }

    /// Reads a document of one server or of a fleet; `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`DocumentError::Faults`] with every fault found.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        let document = begin(text, name)?;
        match document.root.get("servers") {
            Some(_) => Ok(parse_fleet(&document)?.map(Self::Fleet)),
            None => Ok(parse_server(&document)?.map(Self::Server)),
        }
    }

    /// Reads the document in a file of UTF-8 text, at most 64 MiB.
    ///
    /// # Errors
    /// [`DocumentError::Io`] if the file cannot be read, [`DocumentError::Faults`] with every
    /// fault found in it.
    pub fn read(path: &Path) -> Result<Parsed<Self>, DocumentError> {
        read_file(path, Self::parse)
    }
}

/// A document of this kind, its laws and processes in the spelling that is read.
fn begin<'a>(text: &'a str, name: &'a str) -> Result<Document<'a>, DocumentError> {
    let mut document = Document::parse(text, name, EXAMPLE)?;
    let root = &mut document.root;
    let has = |key| root.get(key).is_some();
    let kind = root.get("kind").and_then(|kind| kind.text());
    let fault = match kind.filter(|kind| *kind != KIND) {
        Some(kind) => Some(Fault::new(
            place!("kind"),
            format!("unknown kind of workload `{kind}`"),
            suggest(kind, "here it is", &[KIND]),
        )),
        None if has("server") && has("servers") => Some(Fault::new(
            place!("servers"),
            "the document has both `server` and `servers`",
            "keep `server` for one server, or `servers` for a fleet of several shapes",
        )),
        None => None,
    };
    root.get_mut("start_latency").map(respell_law_or_number);
    if let Some(jobs) = root.get_mut("jobs") {
        for job in jobs.items_mut() {
            job.get_mut("size").map(respell_law);
            job.get_mut("arrivals").map(respell_process);
        }
    }
    match fault {
        Some(fault) => Err(document.refuse(vec![fault])),
        None => Ok(document),
    }
}

fn parse_server(document: &Document<'_>) -> Result<Parsed<Workload>, DocumentError> {
    let (written, mut faults) = document.read::<ServerDocument>();
    let checked = match written.map(|written| written.draft(&mut faults)) {
        Some(draft) => draft.check(faults),
        None => Err(faults),
    };
    document.conclude(checked, |place| document::respelt(document, place))
}

fn parse_fleet(document: &Document<'_>) -> Result<Parsed<Fleet>, DocumentError> {
    let (written, mut faults) = document.read::<FleetDocument>();
    let checked = match written.map(|written| written.draft(&mut faults)) {
        Some(draft) => draft.check(faults),
        None => Err(faults),
    };
    document.conclude(checked, |place| {
        let in_jobs = document::respelt(document, place);
        in_jobs.or_else(|| fleet_document::respelt(document, place))
    })
}
