//! Policies over loads, on the same arrivals, sizes and servers that are drawn.

use super::{Entered, VerbError, enter, refuse};
use crate::compatibility::analysis;
use crate::compatibility::artifact::Checked;
use crate::compatibility::simulator::{Measures, Run, simulate};
use crate::compatibility::workload::Cluster;
use crate::simulation::sweep::{self, Cells, Comparing, Exact, Header, Stage, Subject};
use crate::simulation::{Progress, Settings};

/// Policies over loads on a cluster.
pub type Comparison = sweep::Comparison<Measures, ()>;

/// Compares policies at each load, beside the exact means of balanced fairness where these are known.
///
/// # Errors
/// When a policy does not exist or is refused, a load cannot be reached, or the journal not be read or written.
pub fn compare(
    cluster: &Cluster,
    asked: &Comparing<'_>,
    progress: impl FnMut(Stage<'_>),
) -> Result<Comparison, VerbError> {
    let entered = asked.policies.iter().map(|name| enter(name, asked.changes));
    let entered = entered.collect::<Result<Vec<Entered>, VerbError>>()?;
    let own = analysis::load(cluster).load;
    let cells = ClusterCells {
        cluster,
        own,
        entered: &entered,
        settings: asked.settings,
    };
    let subject = Subject {
        file: asked.file.into(),
        source: cluster.record().source.clone(),
        digest: cluster.digest(),
        time_unit: cluster.time_unit().into(),
        load: own,
    };
    let entrants = entered.iter().map(|entered| entered.entrant.clone());
    let header = Header::new(subject, asked, entrants.collect());
    let mut comparison = sweep::sweep(header, &cells, asked, progress)?;
    if asked.share.is_none() {
        add_exact(&mut comparison, cluster)?;
    }
    Ok(comparison)
}

/// Adds to a comparison on this cluster the exact means of balanced fairness, where these are known.
///
/// # Errors
/// When a load cannot be reached.
pub fn add_exact(comparison: &mut Comparison, cluster: &Cluster) -> Result<(), VerbError> {
    let header = &comparison.header;
    let own = header.workload.load;
    let exact = |&load: &f64| Ok(exact(load, &at(cluster, load, own)?));
    let exact = header.loads.iter().map(exact);
    let exact = exact.collect::<Result<Vec<_>, VerbError>>()?;
    comparison.exact = exact.into_iter().flatten().collect();
    Ok(())
}

/// The cluster at the load ρ, where its own load is this.
fn at(cluster: &Cluster, load: f64, own: f64) -> Result<Cluster, VerbError> {
    match cluster.scaled(load / own) {
        Some(scaled) => Ok(scaled),
        None => refuse(format!(
            "the load {load} takes arrival rates out of the range of numbers"
        )),
    }
}

/// The means of balanced fairness at a load, where they are known.
fn exact(load: f64, scaled: &Cluster) -> Option<Exact> {
    let means = analysis::means(scaled).ok()?;
    let rates = scaled.arrival_rates();
    let each = means.numbers.iter().zip(&rates).zip(scaled.names());
    Some(Exact {
        name: "balanced fairness, exactly".into(),
        load,
        mean_response: means.response(scaled),
        types: each
            .map(|((number, rate), name)| (name.into(), number / rate))
            .collect(),
    })
}

struct ClusterCells<'a> {
    cluster: &'a Cluster,
    /// The cluster's own load ρ.
    own: f64,
    entered: &'a [Entered],
    settings: &'a Settings,
}

impl Cells for ClusterCells<'_> {
    type Scene = Cluster;
    type Measures = Measures;
    type OfClass = ();
    type Error = VerbError;

    fn scene(&self, load: f64) -> Result<Cluster, VerbError> {
        at(self.cluster, load, self.own)
    }

    fn run(
        &self,
        scene: &Cluster,
        policy: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Run, String> {
        let entered = &self.entered[policy];
        let scene = &scene.with_sizes(entered.trial.law(scene.size()));
        let same = |file: &Checked| {
            let own = file.workload();
            own.servers().len() == scene.servers().len() && own.names() == scene.names()
        };
        if !entered.file.as_ref().is_none_or(same) {
            return Err("the policy was made for other classes or other servers; synthesize one for this workload".into());
        }
        let rule = entered.policy.on(scene);
        simulate(scene, &rule, self.settings, progress)
    }
}
