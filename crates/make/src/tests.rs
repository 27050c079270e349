#![allow(clippy::unwrap_used)]

use synth_multiresource::workload::{Fleet, Workload};

pub(crate) fn fleet(name: &str) -> Fleet {
    let path = format!("{}/../../models/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    Fleet::read(path.as_ref()).unwrap().workload
}

pub(crate) fn model(name: &str) -> Workload {
    fleet(name).one_server().unwrap().clone()
}

/// Creates a workload from the attributes of a server and of its jobs.
pub(crate) fn one_server(capacity: &str, jobs: &[impl AsRef<str>]) -> Workload {
    let jobs = jobs.iter().map(|job| format!("  - {{{}}}\n", job.as_ref()));
    let jobs: String = jobs.collect();
    let head = "kind: multiresource\ntime_unit: s\n";
    let text = format!("{head}server: {{capacity: {{{capacity}}}}}\njobs:\n{jobs}");
    Workload::parse(&text, "test").unwrap().workload
}
