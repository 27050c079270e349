//! The document of a comparison of policies over loads: its cells, and who is faster.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::header::SweepHeader;
use super::journal::Journal;
use crate::comparison::Ranking;
use crate::run::{Health, Run};

/// One policy at one load. `M` and `C` are what its kind of workload measures besides: see the measurements of one run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cell<M = (), C = ()> {
    /// The policy's name.
    pub policy: String,
    /// The load ρ.
    pub load: f64,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: CellOutcome<M, C>,
}

impl<M, C> Cell<M, C> {
    /// Returns its run, if there is one.
    pub fn run(&self) -> Option<&Run<M, C>> {
        match &self.outcome {
            CellOutcome::Run(run) => Some(run),
            CellOutcome::Failure(_) => None,
        }
    }

    /// Returns whether it is of this policy at this load.
    pub fn is_of(&self, policy: &str, load: f64) -> bool {
        self.policy == policy && self.load.to_bits() == load.to_bits()
    }
}

/// What came of a cell.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellOutcome<M = (), C = ()> {
    /// It ran; the run says whether it is stable.
    Run(Box<Run<M, C>>),
    /// It could not be run, or had to be stopped, and why.
    Failure(String),
}

/// Policies over loads, on the same arrivals and sizes at each load.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Comparison<M = (), C = ()> {
    /// What it is about.
    #[serde(flatten)]
    pub header: SweepHeader,
    /// Whether it was interrupted before all cells were there.
    pub interrupted: bool,
    /// What ran, load by load.
    pub cells: Vec<Cell<M, C>>,
    /// Which policies are faster, and how surely, at each load.
    pub rankings: Vec<AtLoad>,
    /// Means that are known without a run, at loads where they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exact: Vec<ExactMeans>,
    /// Where finished cells stand, to be removed once the results are written.
    #[serde(skip)]
    pub journal: Option<Journal>,
}

/// Exact means at a load, to stand beside those that were simulated.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExactMeans {
    /// What they are of; the same at all loads.
    pub name: String,
    /// The load ρ.
    pub load: f64,
    /// Mean response time over all jobs \[time\].
    pub mean_response: f64,
    /// The same by class.
    pub types: Vec<(String, f64)>,
}

/// A ranking and its load.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AtLoad {
    /// The load ρ.
    pub load: f64,
    /// Of the policies with a mean there.
    #[serde(flatten)]
    pub ranking: Ranking,
}

impl<M, C> Comparison<M, C> {
    /// Ranks the policies at each load by the cells that are there.
    pub fn new(header: SweepHeader, cells: Vec<Cell<M, C>>, interrupted: bool) -> Self {
        let mut comparison = Comparison {
            exact: Vec::new(),
            rankings: Vec::new(),
            interrupted,
            journal: None,
            header,
            cells,
        };
        let ranked = |&load: &f64| {
            let of = |name| Some((name, &comparison.settled(name, load)?.replications[..]));
            let settled: Vec<_> = comparison.names().filter_map(of).collect();
            let ranking = Ranking::new(&settled);
            AtLoad { load, ranking }
        };
        comparison.rankings = comparison.header.loads.iter().map(ranked).collect();
        comparison
    }

    /// Returns the exact means at a load, where they are known.
    pub fn exact(&self, load: f64) -> Option<&ExactMeans> {
        let mut exact = self.exact.iter();
        exact.find(|exact| exact.load.to_bits() == load.to_bits())
    }

    /// Returns the cell of a policy at a load; none where it was not reached.
    pub fn cell(&self, policy: &str, load: f64) -> Option<&Cell<M, C>> {
        self.cells.iter().find(|cell| cell.is_of(policy, load))
    }

    /// Returns the run of a policy at a load, if there is one.
    pub fn run(&self, policy: &str, load: f64) -> Option<&Run<M, C>> {
        self.cell(policy, load)?.run()
    }

    /// Returns its run, if that has means.
    pub fn settled(&self, policy: &str, load: f64) -> Option<&Run<M, C>> {
        let run = self.run(policy, load)?;
        (run.health == Health::Settled).then_some(run)
    }

    /// Returns whether a policy is unstable at a load.
    pub fn unstable(&self, policy: &str, load: f64) -> bool {
        let run = self.run(policy, load);
        run.is_some_and(|run| run.health == Health::Unstable)
    }

    /// Returns names of the policies.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.header.policies.iter().map(|p| p.name.as_str())
    }

    /// Returns the policy's label, with what sets it apart from others: `max-weight (preempts)`.
    pub fn titled(&self, name: &str) -> String {
        let label = self.label(name);
        let entrant = self.header.policies.iter().find(|p| p.name == name);
        let preempts = entrant.filter(|p| p.preempts).map(|_| "preempts");
        let knows = entrant.and_then(|p| p.knows.words());
        match preempts.into_iter().chain(knows).collect::<Vec<_>>()[..] {
            [] => label.into(),
            ref marks => format!("{label} ({})", marks.join(", ")),
        }
    }

    /// Returns the policy's name for people: of a file its last part, unless another policy shares it.
    pub fn label<'a>(&'a self, name: &'a str) -> &'a str {
        let short = last_part(name);
        let sharing = self.names().filter(|other| last_part(other) == short);
        if sharing.count() == 1 { short } else { name }
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Knows;

    #[test]
    fn files_are_called_by_their_last_part_unless_two_share_it() {
        let names = ["fcfs", "a/p.json", "b/p.json", "c/q.json"];
        let comparison: Comparison =
            Comparison::new(SweepHeader::sample(&names), Vec::new(), false);
        let labels = names.map(|name| comparison.label(name));
        assert_eq!(labels, ["fcfs", "a/p.json", "b/p.json", "q.json"]);
    }

    #[test]
    fn a_title_tells_what_a_policy_may_do_and_knows() {
        let mut header = SweepHeader::sample(&["fcfs", "a/p.json", "srpt", "easy:3"]);
        for (n, preempts, knows) in [
            (1, true, Knows::Means),
            (2, true, Knows::Sizes),
            (3, false, Knows::Estimates),
        ] {
            header.policies[n].preempts = preempts;
            header.policies[n].knows = knows;
        }
        let comparison: Comparison = Comparison::new(header, Vec::new(), false);
        let titles: Vec<String> = comparison.names().map(|n| comparison.titled(n)).collect();
        assert_eq!(
            titles,
            [
                "fcfs",
                "p.json (preempts)",
                "srpt (preempts, knows sizes)",
                "easy:3 (knows estimates)"
            ]
        );
    }
}
