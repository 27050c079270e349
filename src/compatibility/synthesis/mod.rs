//! From a workload to a policy: load, means, number of interruptions, claims.

mod claims;
mod tuning;

pub use tuning::Tuning;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::compatibility::analysis::{self, Load, Means, Unknown};
use crate::compatibility::artifact::{Artifact, Evidence, Part, Policy};
use crate::compatibility::workload::Cluster;
use crate::simulation::Progress;

/// What the user decides; the rest is found.
#[derive(Clone, Debug)]
pub struct Options {
    /// m; tuned if absent.
    pub interruptions: Option<f64>,
    /// How near to balanced fairness the mean response time is to come, as a fraction.
    pub tolerance: f64,
    /// Events of all simulations together, about.
    pub events: u64,
    /// Their seed.
    pub seed: u64,
    /// Once it is set, nothing more is simulated.
    pub interrupt: Arc<AtomicBool>,
}

/// A policy that was made.
#[derive(Clone, Debug)]
pub struct Synthesis {
    /// The policy.
    pub artifact: Artifact,
    /// The means under balanced fairness, or why they are not known.
    pub means: Result<Means, Unknown>,
    /// How the number of interruptions was chosen; none where it was given.
    pub tuning: Option<Tuning>,
}

/// What comes of a synthesis.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A policy.
    Made(Box<Synthesis>),
    /// No policy is stable.
    Overload(Load),
    /// An end was wanted before there was a policy.
    Interrupted,
}

/// Makes a policy for a cluster.
///
/// # Errors
/// What did not hold in a simulation that must, in words: a fault of this program.
pub fn synthesize(
    cluster: &Cluster,
    options: &Options,
    listener: impl FnMut(&str, Progress),
) -> Result<Outcome, String> {
    let load = analysis::load(cluster);
    if load.load >= 1.0 {
        return Ok(Outcome::Overload(load));
    }
    let means = analysis::means(cluster);
    let tuned = tuning::tune(cluster, &load, means.as_ref().ok(), options, listener)?;
    if options.interrupt.load(Ordering::Relaxed) {
        return Ok(Outcome::Interrupted);
    }
    let m = tuned.interruptions;
    let artifact = Artifact::new(
        cluster.record().clone(),
        Policy {
            interruptions: m,
            slice: (m > 0.0).then(|| cluster.size().mean() / m),
        },
        claims::claims(cluster, &load, means.as_ref().ok(), &tuned),
        evidence(cluster, &load),
    );
    Ok(Outcome::Made(Box::new(Synthesis {
        artifact,
        means,
        tuning: tuned.tuning,
    })))
}

fn evidence(cluster: &Cluster, load: &Load) -> Evidence {
    let margin = load.margin.as_ref();
    let part = |(s, part): &(usize, f64)| Part {
        server: cluster.servers()[*s].name.clone(),
        part: *part,
    };
    let of_class = |parts: &Vec<(usize, f64)>| parts.iter().map(part).collect();
    let name = |i: &usize| cluster.classes()[*i].name.clone();
    Evidence {
        load: load.load,
        tight: margin.map(|margin| margin.tight.iter().map(name).collect()),
        routing: margin.map(|margin| margin.routing.iter().map(of_class).collect()),
    }
}
