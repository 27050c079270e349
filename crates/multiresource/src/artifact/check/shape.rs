use super::branching;
use crate::artifact::SearchRecord;
use crate::workload::Workload;
use synth_core::artifact::Findings;

pub(super) use crate::policy::check::{all_served, schedules};

/// Checks that each type has load below 1 under `what`, which is at this path.
pub(super) fn stable(
    (path, what): (&str, &str),
    loads: &[f64],
    workload: &Workload,
    findings: &mut Findings,
) {
    for (kind, load) in workload.types().iter().zip(loads) {
        // A load that is not a number is not stable.
        let stable = *load < 1.0;
        if !stable {
            let name = kind.name();
            let message =
                format!("{what} is unstable: type `{name}` has load {load}, expected < 1");
            findings.add(path, message);
        }
    }
}

pub(super) fn search(
    found: &SearchRecord,
    (types, resources): (usize, usize),
    findings: &mut Findings,
) {
    let size = found.nodes.len().saturating_mul(found.types.len());
    if size > branching::SIZE {
        let expected = format!("at most {}", branching::SIZE);
        return findings.differs("", format!("{size} nodes times types"), expected);
    }
    let mut known = vec![false; types];
    for (place, &i) in found.types.iter().enumerate() {
        if i >= types || std::mem::replace(&mut known[i], true) {
            let expected = format!("each job type (below {types}) at most once");
            findings.differs(format!("types[{place}]"), i, expected);
        }
    }
    for (n, node) in found.nodes.iter().enumerate() {
        let prices = format!("nodes[{n}].prices");
        findings.all_nonnegative(&prices, &node.prices, resources, "resource");
        if let Some((i, _)) = node.branch.filter(|(i, _)| !found.types.contains(i)) {
            findings.differs(format!("nodes[{n}].branch"), i, "one of the types searched");
        }
    }
}
