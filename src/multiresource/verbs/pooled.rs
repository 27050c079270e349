//! Rules over all servers of a fleet, by name or from a policy file; and their comparison over loads.

use super::compare::{Compared, Underway};
use super::enter::same_record;
use super::{VerbError, own_load, refuse};
use crate::artifact::Changes;
use crate::document::nearest;
use crate::kind::read_policy;
use crate::multiresource::artifact::{Checked, Family};
use crate::multiresource::program;
use crate::multiresource::simulator::{
    Measures, Offered, PooledRule, Run, Settings, knows_over, simulate_over,
};
use crate::multiresource::workload::Fleet;
use crate::simulation::Progress;
use crate::simulation::sweep::{self, Cells, Comparing, Entrant, Header, Stage, Subject};

/// Why a name is not that of a rule.
pub(super) fn unnamed(name: &str) -> String {
    let names: Vec<&str> = PooledRule::ALL.iter().map(|rule| rule.name).collect();
    let meant = nearest(name, &names).map_or(String::new(), |near| format!(" (`{near}`?)"));
    format!(
        "no rule `{name}`{meant} over the servers of a fleet; these are {}",
        PooledRule::names()
    )
}

/// The rule of a policy file for this fleet, or why it has none.
pub(super) fn policy_for(checked: &Checked, fleet: &Fleet) -> Result<Family, String> {
    let artifact = checked.artifact();
    if !artifact.policy.pools() {
        return Err("this is the policy of one server, and the workload is a fleet".into());
    }
    same_record(&artifact.workload, &fleet.record())?;
    Ok(artifact.policy.clone())
}

/// A policy that was entered; or why it cannot run on this fleet.
struct Entered {
    entrant: Entrant,
    policy: Result<Family, String>,
}

fn enter(name: &str, fleet: &Fleet, changes: Changes) -> Result<Entered, VerbError> {
    let entered = |digest, policy: Result<Family, String>| Entered {
        entrant: Entrant {
            name: name.into(),
            digest,
            preempts: false,
            knows: policy
                .as_ref()
                .map_or_else(|_| Default::default(), |p| knows_over(p, fleet)),
        },
        policy,
    };
    if let Some(rule) = PooledRule::named(name) {
        return Ok(entered(None, Ok(rule.policy())));
    }
    let (checked, digest) = read_policy(name, unnamed(name), changes)?;
    Ok(entered(Some(digest), policy_for(&checked, fleet)))
}

/// Compares rules over all servers of a fleet at each load.
///
/// # Errors
/// As [`super::compare`].
pub fn compare_pooled(
    fleet: &Fleet,
    asked: &Comparing<'_>,
    mut progress: impl FnMut(Underway<'_>),
) -> Result<Compared, VerbError> {
    let policies = asked.policies.iter();
    let entered = policies.map(|name| enter(name, fleet, asked.changes));
    let entered = entered.collect::<Result<Vec<Entered>, VerbError>>()?;
    let misfits = entered.iter().filter_map(|e| e.policy.as_ref().err());
    let misfits: Vec<&str> = misfits.map(String::as_str).collect();
    if misfits.len() == entered.len() {
        return refuse(format!(
            "no policy can run on this fleet: {}",
            misfits.join("; ")
        ));
    }
    let own = own_load(asked.settings.time, |limits| {
        let found = program::solve_fleet(fleet, limits)?.certificate;
        Ok((found.load, found.bound))
    })?;
    let cells = FleetCells {
        fleet,
        own,
        entered: &entered,
        settings: asked.settings,
    };
    let subject = Subject {
        file: asked.file.into(),
        source: fleet.envelope().source().map(Into::into),
        digest: fleet.digest(),
        time_unit: fleet.time_unit().into(),
        load: own,
    };
    let entrants = entered.iter().map(|e| e.entrant.clone()).collect();
    let header = Header::new(subject, asked, entrants);
    let hears = |stage: Stage<'_>| progress(Underway::Cell(stage));
    sweep::sweep(header, &cells, asked, hears)
}

/// Cells on a fleet.
struct FleetCells<'a> {
    fleet: &'a Fleet,
    /// The fleet's own load ρ.
    own: f64,
    entered: &'a [Entered],
    settings: &'a Settings,
}

impl Cells for FleetCells<'_> {
    type Scene = Fleet;
    type Measures = Measures;
    type OfClass = Offered;
    type Error = VerbError;

    fn scene(&self, load: f64) -> Result<Fleet, VerbError> {
        Ok(self.fleet.scaled(load / self.own)?)
    }

    fn run(
        &self,
        scene: &Fleet,
        policy: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Run, String> {
        let policy = self.entered[policy]
            .policy
            .as_ref()
            .map_err(String::clone)?;
        let run = simulate_over(scene, policy, self.settings, progress);
        run.map_err(|violation| violation.to_string())
    }
}
