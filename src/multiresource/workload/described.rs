//! Reading documents of one server and of fleets.

use std::path::Path;

use super::document::{self, EXAMPLE, KIND, ServerDocument};
use super::fleet_document::{self, FleetDocument};
use super::{Fleet, Record, Workload};
use crate::document::{Document, DocumentError, Fault, Node, Parsed, meant, place, read_file};
use crate::law::{respell_law, respell_law_or_number, respell_process, respell_times_of};

/// What a document describes.
#[derive(Clone, Debug, PartialEq)]
pub enum Described {
    /// One server.
    Server(Workload),
    /// Servers of several shapes.
    Fleet(Fleet),
}

impl From<&Fleet> for Described {
    /// One server, or a fleet of several.
    fn from(fleet: &Fleet) -> Self {
        if fleet.is_one_server() {
            Self::Server(fleet.envelope().clone())
        } else {
            Self::Fleet(fleet.clone())
        }
    }
}

impl Workload {
    /// Reads a document of one server; `name` stands for the file in messages.
    ///
    /// # Errors
    /// [`DocumentError::Faults`] with every fault found.
    pub fn parse(text: &str, name: &str) -> Result<Parsed<Self>, DocumentError> {
        let (document, faults) = begin(text, name)?;
        if document.root.get("servers").is_some() {
            let fault = Fault::new(
                place!("servers"),
                "this is a fleet of several servers, and here one server is wanted",
                "give `server: {capacity: …}` here; a fleet goes with `synth --workload FILE --preemption …`, \
                 `synth check` and `synth simulate --policy FILE`",
            );
            return Err(document.refuse(vec![fault]));
        }
        parse_server(&document, faults)
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

    /// The same with every arrival rate multiplied by `factor`, as [`Workload::scaled`] does it.
    ///
    /// # Errors
    /// As [`Workload::scaled`].
    pub fn scaled(&self, factor: f64) -> Result<Self, DocumentError> {
        Ok(match self {
            Self::Server(workload) => Self::Server(workload.scaled(factor)?),
            Self::Fleet(fleet) => Self::Fleet(fleet.scaled(factor)?),
        })
    }

    /// As a policy file has it.
    #[must_use]
    pub fn record(&self) -> Record {
        match self {
            Self::Server(workload) => workload.record(),
            Self::Fleet(fleet) => fleet.record(),
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
        let (document, faults) = begin(text, name)?;
        match is_fleet(&document.root) {
            true => Ok(parse_fleet(&document, faults)?.map(Self::Fleet)),
            false => Ok(parse_server(&document, faults)?.map(Self::Server)),
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

/// A document of this kind, its laws and processes in the spelling that is read, and faults that are known already.
fn begin<'a>(text: &'a str, name: &'a str) -> Result<(Document<'a>, Vec<Fault>), DocumentError> {
    let mut document = Document::parse(text, name, EXAMPLE)?;
    let mut faults = document.misnamed(KIND)?;
    let root = &mut document.root;
    if root.get("server").is_some() && root.get("servers").is_some() {
        faults.push(Fault::new(
            place!("servers"),
            "the document has both `server` and `servers`",
            "keep `server` for one server, or `servers` for a fleet of several shapes",
        ));
        root.remove("server");
    }
    respell(root);
    Ok((document, faults))
}

/// Laws, processes and times, as documents spell them.
fn respell(root: &mut Node) {
    let unit = root.time_unit().unwrap_or_default().to_owned();
    root.meant_mut("start_latency").map(respell_law_or_number);
    respell_times_of(root, &["start_latency"], &unit);
    let jobs = root.meant_mut("jobs").map_or(&mut [][..], Node::items_mut);
    for job in jobs {
        job.meant_mut("size").map(respell_law);
        respell_times_of(job, &["mean_size", "size", "limit"], &unit);
        if let Some(process) = job.meant_mut("arrivals") {
            respell_process(process);
            respell_times_of(process, &["interarrival"], &unit);
        }
    }
}

/// Whether servers are listed, by their own key or by one that seems to stand for it.
fn is_fleet(root: &Node) -> bool {
    let listed = |key: &str| root.get(key).is_some_and(|node| node.len() > 0);
    let mut keys = root.keys();
    root.get("servers").is_some()
        || root.get("server").is_none()
            && keys.any(|key| listed(key) && meant(key, &["servers"]).is_some())
}

fn parse_server(
    document: &Document<'_>,
    misnamed: Vec<Fault>,
) -> Result<Parsed<Workload>, DocumentError> {
    let (written, mut faults) = document.read::<ServerDocument>();
    faults.extend(misnamed);
    let checked = match written.map(|written| written.draft(&mut faults)) {
        Some(draft) => draft.check(faults),
        None => Err(faults),
    };
    document.conclude(checked, |place| document::respelt(document, place))
}

fn parse_fleet(
    document: &Document<'_>,
    misnamed: Vec<Fault>,
) -> Result<Parsed<Fleet>, DocumentError> {
    let (written, mut faults) = document.read::<FleetDocument>();
    faults.extend(misnamed);
    let checked = match written.map(|written| written.draft(&mut faults)) {
        Some(draft) => draft.check_in_order(faults),
        None => Err(faults),
    };
    document.conclude(checked, |place| {
        let in_jobs = document::respelt(document, place);
        in_jobs.or_else(|| fleet_document::respelt(document, place))
    })
}
