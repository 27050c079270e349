use crate::multiresource::simulator::{Measures, Offered};
use crate::multiresource::workload::Workload;
use crate::report::{Besides, Shares};

/// What is told of a comparison on a server besides response times: what is in use of its resources.
pub fn besides(workload: &Workload) -> Besides<'_, Measures, Offered> {
    let parts: Vec<&str> = workload.resources().iter().map(|r| r.name()).collect();
    let resources = match parts.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        all => all.concat(),
    };
    Besides {
        about: format!("{} job types on {resources}", workload.types().len()),
        parts,
        section: (
            "Resources",
            "Every stable policy gets the same work done, and so uses as much; they differ in what stands idle while a job waits.",
        ),
        shares: &[
            Shares {
                quantity: "utilization",
                words: "in use",
                of: |run| &run.own.utilization,
            },
            Shares {
                quantity: "wastage",
                words: "free while a job waits",
                of: |run| &run.own.wastage,
            },
        ],
        counts: &[
            ("preemptions", |run| run.own.counters.preemptions),
            ("setups", |run| run.own.counters.setups),
        ],
        frequencies: &[("switching_frequency", |run| run.own.switching_frequency)],
    }
}
