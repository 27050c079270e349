use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::header::SweepHeader;
use super::journal::Journal;
use crate::comparison::Ranking;
use crate::run::{Health, Run};

/// The result of a policy at a load. `M` and `C` are measurements for a specific kind of workload.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cell<M = (), C = ()> {
    /// The policy's name.
    pub policy: String,
    /// The load ρ.
    pub load: f64,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: CellOutcome<M, C>,
}

impl<M, C> Cell<M, C> {
    /// Returns the run, if there is one.
    pub fn run(&self) -> Option<&Run<M, C>> {
        match &self.outcome {
            CellOutcome::Run(run) => Some(run),
            CellOutcome::Failure(_) => None,
        }
    }

    pub(super) fn is_of(&self, policy: &str, load: f64) -> bool {
        self.policy == policy && self.load.to_bits() == load.to_bits()
    }
}

/// The outcome of a cell.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellOutcome<M = (), C = ()> {
    /// The policy was run, and it may be stable or not.
    Run(Box<Run<M, C>>),
    /// It could not run or was stopped, with the reason.
    Failure(String),
}

/// The results of several policies, with the same arrivals and sizes at each of the loads.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Comparison<M = (), C = ()> {
    /// The header, which defines the comparison.
    #[serde(flatten)]
    pub header: SweepHeader,
    /// Whether it was interrupted before all of the cells were finished.
    pub interrupted: bool,
    /// The cells that are finished, ordered by load.
    pub cells: Vec<Cell<M, C>>,
    /// The ranking of the policies for each of the loads.
    pub rankings: Vec<AtLoad>,
    /// Exact means, for loads at which they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exact: Vec<ExactMeans>,
    /// The journal of the finished cells, which must be deleted after the results are written.
    #[serde(skip)]
    pub journal: Option<Journal>,
}

/// The exact means at a load, which are shown next to the means from the simulation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExactMeans {
    /// The name of the model; the same at all loads.
    pub name: String,
    /// The load ρ.
    pub load: f64,
    /// The mean of the response times of all jobs \[time\].
    pub mean_response: f64,
    /// The same by class.
    pub types: Vec<(String, f64)>,
}

/// The ranking of the policies at a load.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AtLoad {
    /// The load ρ.
    pub load: f64,
    /// The ranking of the policies that have a mean at this load.
    #[serde(flatten)]
    pub ranking: Ranking,
}

impl<M, C> Comparison<M, C> {
    /// Creates a comparison from its cells and ranks the policies for each of the loads.
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
            let of = |name| Some((name, &comparison.converged(name, load)?.replications[..]));
            let settled: Vec<_> = comparison.names().filter_map(of).collect();
            let ranking = Ranking::new(&settled);
            AtLoad { load, ranking }
        };
        comparison.rankings = comparison.header.loads.iter().map(ranked).collect();
        comparison
    }

    /// Returns the exact means at a load, if known.
    pub fn exact(&self, load: f64) -> Option<&ExactMeans> {
        let mut exact = self.exact.iter();
        exact.find(|exact| exact.load.to_bits() == load.to_bits())
    }

    /// Returns the cell of a policy at a load, if it was reached.
    pub fn cell(&self, policy: &str, load: f64) -> Option<&Cell<M, C>> {
        self.cells.iter().find(|cell| cell.is_of(policy, load))
    }

    /// Returns the run of a policy at a load, if there is one.
    pub fn run(&self, policy: &str, load: f64) -> Option<&Run<M, C>> {
        self.cell(policy, load)?.run()
    }

    /// Returns the run of a policy at a load, if it has converged.
    pub fn converged(&self, policy: &str, load: f64) -> Option<&Run<M, C>> {
        let run = self.run(policy, load)?;
        (run.health == Health::Settled).then_some(run)
    }

    /// Returns whether a policy is unstable at a load.
    pub fn unstable(&self, policy: &str, load: f64) -> bool {
        let run = self.run(policy, load);
        run.is_some_and(|run| run.health == Health::Unstable)
    }

    /// Returns the names of the policies.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.header.policies.iter().map(|p| p.name.as_str())
    }

    /// Returns the label with distinguishing properties, such as `max-weight (preempts)`.
    pub fn titled(&self, name: &str) -> String {
        let label = self.label(name);
        let entrant = self.header.policies.iter().find(|p| p.name == name);
        let preempts = entrant.filter(|p| p.preempts).map(|_| "preempts");
        let knows = entrant.and_then(|p| p.knows.describe());
        match preempts.into_iter().chain(knows).collect::<Vec<_>>()[..] {
            [] => label.into(),
            ref marks => format!("{label} ({})", marks.join(", ")),
        }
    }

    /// Returns a short name: the last component of a path, unless several policies share it.
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
    use crate::sweep::Information;

    #[test]
    fn labels_are_shortened_unless_ambiguous() {
        let names = ["fcfs", "a/p.json", "b/p.json", "c/q.json"];
        let comparison: Comparison =
            Comparison::new(SweepHeader::sample(&names), Vec::new(), false);
        let labels = names.map(|name| comparison.label(name));
        assert_eq!(labels, ["fcfs", "a/p.json", "b/p.json", "q.json"]);
    }

    #[test]
    fn titles_mention_preemption_and_size_information() {
        let mut header = SweepHeader::sample(&["fcfs", "a/p.json", "srpt", "easy:3"]);
        for (n, preempts, knows) in [
            (1, true, Information::Means),
            (2, true, Information::Sizes),
            (3, false, Information::Estimates),
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
