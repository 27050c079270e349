//! From a workload to a policy: load, means, number of interruptions, claims.

mod claims;
mod design;
mod tuning;

pub use design::{Aim, Designed, design};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::artifact::Finding;
use crate::compatibility::analysis::{self, Load, Means, Unknown};
use crate::compatibility::artifact::{
    Artifact, Checked, Design, Evidence, Family, Part, Policy, Provenance, Tried,
};
use crate::compatibility::workload::{Cluster, Record};
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
    /// The options as typed, for the record.
    pub typed: Vec<String>,
    /// Once it is set, nothing more is simulated.
    pub interrupt: Arc<AtomicBool>,
}

/// What goes on.
#[derive(Clone, Copy, Debug)]
pub enum Doing {
    /// Flow, cut and sums over sets.
    Analysing,
    /// Mean response time under balanced fairness is simulated, as no exact method is known.
    Fair(Option<Progress>),
    /// This many interruptions are simulated.
    Interruptions(f64, Option<Progress>),
}

/// A policy that was made.
#[derive(Clone, Debug)]
pub struct Synthesis {
    /// The policy, which the checker found valid.
    pub artifact: Artifact,
    /// The means under balanced fairness, or why they are not known.
    pub means: Result<Means, Unknown>,
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

/// Why there is no policy though there should be one.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SynthesisError {
    /// The checker finds fault with what was made.
    #[error(
        "the policy made does not check, and is not written:\n  {}\nPlease report this with the workload",
        .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  ")
    )]
    Unchecked(Vec<Finding>),
    /// What was simulated did not keep to what must hold.
    #[error("the simulation went wrong: {0}. Please report this with the workload")]
    Violation(String),
}

/// Makes a policy for a cluster; `design` is how its classes were assigned, if that was asked for.
///
/// # Errors
/// When something is wrong with this program.
pub fn synthesize(
    cluster: &Cluster,
    options: &Options,
    design: Option<Design>,
    mut hears: impl FnMut(Doing),
) -> Result<Outcome, SynthesisError> {
    hears(Doing::Analysing);
    let load = analysis::load(cluster);
    if load.load >= 1.0 {
        return Ok(Outcome::Overload(load));
    }
    let means = analysis::means(cluster);
    let tuned = tuning::tune(cluster, &load, means.as_ref().ok(), options, &mut hears)?;
    let Some(tuned) = tuned else {
        return Ok(Outcome::Interrupted);
    };
    let mean = cluster.size().mean();
    let m = tuned.interruptions;
    let artifact = Artifact::new(
        Record::of(cluster),
        Policy {
            family: Family::BalancedFairness,
            interruptions: m,
            slice: (m > 0.0).then(|| mean / m),
        },
        claims::claims(cluster, &load, means.as_ref().ok(), &tuned),
        evidence(cluster, &load),
        Provenance {
            tool: format!("synth {}", env!("CARGO_PKG_VERSION")),
            options: options.typed.clone(),
            tuning: tuned.record,
            design,
        },
    );
    let checked = Checked::check(artifact).map_err(SynthesisError::Unchecked)?;
    Ok(Outcome::Made(Box::new(Synthesis {
        artifact: checked.artifact().clone(),
        means,
    })))
}

fn evidence(cluster: &Cluster, load: &Load) -> Evidence {
    let classes = cluster.classes();
    let margin = load.margin.as_ref();
    let part = |(s, part): &(usize, f64)| Part {
        server: cluster.servers()[*s].name.clone(),
        part: *part,
    };
    Evidence {
        load: load.load,
        tight: margin.map(|m| m.tight.iter().map(|i| classes[*i].name.clone()).collect()),
        routing: margin.map(|m| {
            let routing = m.routing.iter();
            routing
                .map(|parts| parts.iter().map(part).collect())
                .collect()
        }),
    }
}

/// Additions that exact means take, about: members of sets, of servers or of classes.
fn additions(cluster: &Cluster) -> f64 {
    let least = cluster.servers().len().min(cluster.classes().len());
    let members = least.min(22) as f64;
    members * members.exp2()
}

fn is_set(flag: &AtomicBool) -> bool {
    flag.load(Ordering::Relaxed)
}

impl Tried {
    fn near(&self, most: f64) -> bool {
        self.response.is_some_and(|response| response <= most)
    }
}
