//! The document of a comparison of policies over loads.

use serde::{Deserialize, Serialize};

use super::{Comparing, Journal};
use crate::{Health, Ranking, Run};

/// What a comparison is about. Two of the same header have the same results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// `synth-comparison`.
    pub format: String,
    /// Version of the document's shape.
    pub version: u32,
    /// The program and its version.
    pub tool: String,
    /// What arrives.
    pub workload: Subject,
    /// When a cell ends, and what it draws from.
    pub settings: Budgets,
    /// The policies, in the order asked for.
    pub policies: Vec<Entrant>,
    /// The loads ρ, as fractions of what any policy can serve.
    pub loads: Vec<f64>,
}

impl Header {
    /// What this program compares.
    pub fn new(workload: Subject, request: &Comparing<'_>, policies: Vec<Entrant>) -> Self {
        let settings = request.settings;
        Header {
            format: "synth-comparison".into(),
            version: 1,
            tool: concat!("synth ", env!("CARGO_PKG_VERSION")).into(),
            workload,
            settings: Budgets {
                seed: settings.seed,
                replications: settings.replications,
                precision: settings.precision,
                events: settings.events,
                time_seconds: settings.time.map(|t| t.as_secs_f64()),
            },
            policies,
            loads: request.loads().to_vec(),
        }
    }

    /// What another header says differently, in words, each with its value there and here.
    pub fn differences(&self, here: &Header) -> Vec<String> {
        let name = |p: &Entrant| match &p.digest {
            Some(digest) => format!("{} ({digest})", p.name),
            None => p.name.clone(),
        };
        let facts = |h: &Header| {
            let s = &h.settings;
            let policies: Vec<String> = h.policies.iter().map(name).collect();
            [
                ("format", format!("{} {}", h.format, h.version)),
                ("program", h.tool.clone()),
                ("workload", h.workload.digest.clone()),
                ("seed", s.seed.to_string()),
                ("replications", s.replications.to_string()),
                ("precision", s.precision.to_string()),
                ("events", s.events.to_string()),
                ("time [s]", format!("{:?}", s.time_seconds)),
                ("policies", policies.join(", ")),
                ("loads", format!("{:?}", h.loads)),
            ]
        };
        differing(facts(self), facts(here))
    }
}

/// Those of these facts that are not the same, each with its value there and here.
pub(super) fn differing<const N: usize>(
    there: [(&str, String); N],
    here: [(&str, String); N],
) -> Vec<String> {
    let both = there.into_iter().zip(here);
    let others = both.filter(|((_, there), (_, here))| there != here);
    let words =
        others.map(|((what, there), (_, here))| format!("{what}: {there} there, {here} here"));
    words.collect()
}

/// The workload of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// The file as it was named.
    pub file: String,
    /// Where its figures come from, if it says.
    pub source: Option<String>,
    /// What identifies it, before its rates were scaled.
    pub digest: String,
    /// Its unit of time.
    pub time_unit: String,
    /// Its own load ρ, before its rates were scaled.
    pub load: f64,
}

/// When a cell ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budgets {
    /// Seed of all random streams.
    pub seed: u64,
    /// Independent replications.
    pub replications: u32,
    /// Relative half-width of the mean response time's 95 % interval that is enough.
    pub precision: f64,
    /// Most events.
    pub events: u64,
    /// Most wall-clock time \[s\]; results then depend on the machine.
    pub time_seconds: Option<f64>,
}

/// A policy that was entered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entrant {
    /// As it was named: a rule, or a policy file.
    pub name: String,
    /// `sha256:…` of the policy file; none for a rule.
    pub digest: Option<String>,
    /// Whether it stops running jobs.
    #[serde(default)]
    pub preempts: bool,
    /// What it knows of jobs.
    #[serde(default)]
    pub knows: Knows,
}

/// What a policy knows of a job's size. Policies that know different things are no rivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Knows {
    /// The mean of its class at most.
    #[default]
    Means,
    /// An estimate.
    Estimates,
    /// The size itself.
    Sizes,
}

impl Knows {
    /// What it knows beside its class, in words.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Knows::Means => None,
            Knows::Estimates => Some("knows estimates"),
            Knows::Sizes => Some("knows sizes"),
        }
    }
}

/// One policy at one load. `M` and `C` are what its kind of workload measures besides: see [`Run`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell<M = (), C = ()> {
    /// The policy's name.
    pub policy: String,
    /// The load ρ.
    pub load: f64,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome<M, C>,
}

impl<M, C> Cell<M, C> {
    /// Its run, if there is one.
    pub fn run(&self) -> Option<&Run<M, C>> {
        match &self.outcome {
            Outcome::Run(run) => Some(run),
            Outcome::Failure(_) => None,
        }
    }

    /// Whether it is of this policy at this load.
    pub fn is_of(&self, policy: &str, load: f64) -> bool {
        self.policy == policy && self.load.to_bits() == load.to_bits()
    }
}

/// What came of a cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome<M = (), C = ()> {
    /// It ran; the run says whether it is stable.
    Run(Box<Run<M, C>>),
    /// It could not be run, or had to be stopped, and why.
    Failure(String),
}

/// Policies over loads, on the same arrivals and sizes at each load.
#[derive(Debug, Serialize)]
pub struct Comparison<M = (), C = ()> {
    /// What it is about.
    #[serde(flatten)]
    pub header: Header,
    /// Whether it was told to end before all cells were there.
    pub interrupted: bool,
    /// What ran, load by load.
    pub cells: Vec<Cell<M, C>>,
    /// Which policies are faster, and how surely, at each load.
    pub rankings: Vec<AtLoad>,
    /// Means that are known without a run, at loads where they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exact: Vec<Exact>,
    /// Where finished cells stand, to be removed once the results are written.
    #[serde(skip)]
    pub journal: Option<Journal>,
}

/// Exact means at a load, to stand beside those that were simulated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exact {
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
#[derive(Clone, Debug, Serialize)]
pub struct AtLoad {
    /// The load ρ.
    pub load: f64,
    /// Of the policies with a mean there.
    #[serde(flatten)]
    pub ranking: Ranking,
}

impl<M, C> Comparison<M, C> {
    /// Ranks the policies at each load by the cells that are there.
    pub fn new(header: Header, cells: Vec<Cell<M, C>>, interrupted: bool) -> Self {
        let mut comparison = Comparison {
            exact: Vec::new(),
            rankings: Vec::new(),
            interrupted,
            journal: None,
            header,
            cells,
        };
        let loads = comparison.header.loads.iter();
        let rankings = loads.map(|&load| AtLoad {
            load,
            ranking: comparison.ranking(load),
        });
        comparison.rankings = rankings.collect();
        comparison
    }

    fn ranking(&self, load: f64) -> Ranking {
        let settled = self
            .names()
            .filter_map(|name| Some((name, self.settled(name, load)?)));
        let replications = settled.map(|(name, run)| (name, run.replications.as_slice()));
        Ranking::new(&replications.collect::<Vec<_>>())
    }

    /// The exact means at a load, where they are known.
    pub fn exact(&self, load: f64) -> Option<&Exact> {
        let mut exact = self.exact.iter();
        exact.find(|exact| exact.load.to_bits() == load.to_bits())
    }

    /// The cell of a policy at a load; none where it was not reached.
    pub fn cell(&self, policy: &str, load: f64) -> Option<&Cell<M, C>> {
        self.cells.iter().find(|cell| cell.is_of(policy, load))
    }

    /// The run of a policy at a load, if there is one.
    pub fn run(&self, policy: &str, load: f64) -> Option<&Run<M, C>> {
        self.cell(policy, load)?.run()
    }

    /// Its run, if that has means.
    pub fn settled(&self, policy: &str, load: f64) -> Option<&Run<M, C>> {
        let run = self.run(policy, load)?;
        (run.health == Health::Settled).then_some(run)
    }

    /// Whether a policy is unstable at a load.
    pub fn unstable(&self, policy: &str, load: f64) -> bool {
        let run = self.run(policy, load);
        run.is_some_and(|run| run.health == Health::Unstable)
    }

    /// Names of the policies.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.header.policies.iter().map(|p| p.name.as_str())
    }

    /// The policy's label, with what sets it apart from others: `max-weight (preempts)`.
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

    /// The policy's name for people: of a file its last part, unless another policy shares it.
    pub fn label<'a>(&'a self, name: &'a str) -> &'a str {
        let short = last_part(name);
        let sharing = self.names().filter(|other| last_part(other) == short);
        if sharing.count() == 1 { short } else { name }
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

#[doc(hidden)]
impl Header {
    /// Returns the header of a comparison that nothing was run of, for tests of what renders it.
    pub fn sample(names: &[&str]) -> Header {
        let policy = |name: &&str| Entrant {
            name: (*name).into(),
            digest: None,
            preempts: false,
            knows: Knows::Means,
        };
        Header {
            format: "synth-comparison".into(),
            version: 1,
            tool: "synth".into(),
            workload: Subject {
                file: "a file.yaml".into(),
                source: None,
                digest: "sha256:0".into(),
                time_unit: "s".into(),
                load: 0.9,
            },
            settings: Budgets {
                seed: 1,
                replications: 8,
                precision: 0.01,
                events: 10,
                time_seconds: Some(1.5),
            },
            policies: names.iter().map(policy).collect(),
            loads: vec![0.5, 0.95],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_called_by_their_last_part_unless_two_share_it() {
        let names = ["fcfs", "a/p.json", "b/p.json", "c/q.json"];
        let comparison: Comparison = Comparison::new(Header::sample(&names), Vec::new(), false);
        let labels = names.map(|name| comparison.label(name));
        assert_eq!(labels, ["fcfs", "a/p.json", "b/p.json", "q.json"]);
    }

    #[test]
    fn a_title_tells_what_a_policy_may_do_and_knows() {
        let mut header = Header::sample(&["fcfs", "a/p.json", "srpt", "easy:3"]);
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

    #[test]
    fn differences_name_what_differs() {
        let (one, mut other) = (Header::sample(&["fcfs"]), Header::sample(&["fcfs"]));
        assert!(one.differences(&other).is_empty());
        other.settings.seed = 2;
        other.policies[0].digest = Some("sha256:1".into());
        other.workload.file = "another name of the same".into();
        assert_eq!(
            one.differences(&other),
            [
                "seed: 1 there, 2 here",
                "policies: fcfs there, fcfs (sha256:1) here"
            ]
        );
    }
}
