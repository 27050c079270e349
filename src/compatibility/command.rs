//! Clusters with a compatibility graph as a kind of workload: arguments, verbs, and policies by name.

use std::path::Path;
use std::sync::atomic::Ordering;

use clap::Args;

use super::Compatibility;
use super::analysis;
use super::artifact::Checked;
use super::report;
use super::simulator::{Measures, Rule, judge, simulate};
use super::synthesis::{self, Options, Outcome};
use super::workload::{Cluster, Trial};
use crate::artifact::{Changes, Finding};
use crate::document::{DocumentError, Parsed};
use crate::kind::{
    Answer, Caller, Compared, Kind, NamesFiles, NoArgs, NoVerb, Notice, Queueing, VerbOutput,
    VerbResult, checked, compare_over_loads, merge_over_loads, no_rule, read_policy,
    required_workload, run_document, same_workload, split_name, workload_of,
};
use crate::report::{Besides, rules_table};
use crate::simulation::sweep::{Comparing, Entrant, Exact, Knows, Subject, Whole};
use crate::simulation::{Ending, Health, Progress, Settings};
use crate::typed::{count, part};

/// What is typed beside the workload to make a policy.
#[derive(Args, Clone)]
pub struct SynthesisArgs {
    /// How often a job goes to the end of the queue, in the mean (0: it runs to its end); tuned if not given
    #[arg(long, value_name = "M", value_parser = interruptions, allow_negative_numbers = true)]
    interruptions: Option<f64>,

    /// How near to balanced fairness the mean response time is to come
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = part)]
    tolerance: f64,

    /// Events that may be simulated to tune
    #[arg(long, value_name = "EVENTS", default_value = "1e8", value_parser = count)]
    budget: u64,

    /// Seed of the simulations: the same seed gives the same policy
    #[arg(long, default_value = "1")]
    seed: u64,
}

impl NamesFiles for SynthesisArgs {}

fn interruptions(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|m| (0.0..=1e6).contains(m));
    found.ok_or_else(|| format!("`{text}` is not a number from 0 to 1e6"))
}

impl Kind for Compatibility {
    type SynthesisArgs = SynthesisArgs;
    type SimulationArgs = NoArgs;
    type ComparisonArgs = NoArgs;
    type Verb = NoVerb;

    const EXAMPLES: &'static str = EXAMPLES;

    fn parse(text: &str, name: &str) -> Result<Parsed<Cluster>, DocumentError> {
        Cluster::parse(text, name)
    }

    fn synthesize(
        cluster: &Cluster,
        args: &SynthesisArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<Answer<Self>> {
        caller.notify(Notice::Interruptible);
        caller.notify(Notice::Doing("flow, cut and sums over sets"));
        let options = Options {
            interruptions: args.interruptions,
            tolerance: args.tolerance,
            events: args.budget,
            seed: args.seed,
            interrupt: caller.interrupt.clone(),
        };
        let listener =
            |what: &str, reached: Progress| caller.notify(Notice::Simulating(what, reached));
        Ok(match synthesis::synthesize(cluster, &options, listener)? {
            Outcome::Made(synthesized) => Answer::Policy {
                summary: report::summary(cluster, &synthesized, caller.width),
                documents: Vec::new(),
                artifact: checked(synthesized.artifact)?,
            },
            Outcome::Overload(load) => Answer::Refused {
                why: report::overload(cluster, &load, caller.width),
                decided: true,
            },
            Outcome::Interrupted => Answer::Interrupted,
        })
    }

    fn against(policy: &Checked, cluster: &Cluster) -> VerbResult<Vec<Finding>> {
        let (own, other) = (policy.workload().digest(), cluster.digest());
        let what = "servers, classes, rates or sizes";
        Ok(same_workload(&own, &other, what))
    }

    fn about(policy: &Checked) -> String {
        report::about(policy.workload())
    }

    fn show(policy: &Checked, width: usize) -> String {
        report::show(policy, width)
    }

    fn simulate(
        name: &str,
        workload: Option<Cluster>,
        _: &NoArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<(VerbOutput, String)> {
        let policy = resolve_policy(name, caller.changes)?;
        let own = policy.file.as_ref().map(Checked::workload);
        let cluster = workload_of(name, workload, own)?;
        let cluster = cluster.with_sizes(policy.trial.law(cluster.size()));
        let listener = |reached| caller.notify(Notice::Simulating("simulating", reached));
        let mut run = simulate(&cluster, &policy.rule, settings, listener)?;
        if settings.interrupt.load(Ordering::Relaxed) {
            run.ending = Ending::Interrupted;
        }
        let is_other = own.is_some_and(|own| own.digest() != cluster.digest());
        let verdicts = match &policy.file {
            Some(file) if !is_other => judge(file.artifact(), &cluster, &run),
            _ => Vec::new(),
        };
        let table = report::simulation(&cluster, &run, &verdicts, caller.width);
        let is_unstable = run.health == Health::Unstable;
        let output = VerbOutput::of_run(table, &verdicts, is_unstable, is_other);
        Ok((output, run_document(name, &run, &verdicts)?))
    }

    fn compare(
        cluster: Option<&Cluster>,
        request: &Comparing<'_>,
        _: &NoArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<Compared> {
        let cluster = required_workload(cluster)?;
        caller.notify(Notice::Interruptible);
        let policies = request.policies.iter();
        let policies = policies.map(|name| resolve_policy(name, request.changes));
        let policies = policies.collect::<VerbResult<Vec<Policy>>>()?;
        let entrants = policies.iter().map(|policy| policy.entrant.clone());
        let run = |cluster: &Cluster, n: usize, progress: &mut dyn FnMut(Progress)| {
            let policy: &Policy = &policies[n];
            let same = |file: &Checked| {
                let own = file.workload();
                own.servers().len() == cluster.servers().len() && own.names() == cluster.names()
            };
            if !policy.file.as_ref().is_none_or(same) {
                return Err("the policy was made for other classes or other servers; synthesize one for this workload".into());
            }
            let cluster = &cluster.with_sizes(policy.trial.law(cluster.size()));
            simulate(cluster, &policy.rule, request.settings, progress)
        };
        compare_over_loads(cluster, request, entrants.collect(), run, caller)
    }

    fn merge(cluster: &Cluster, whole: &Whole, width: usize) -> VerbResult<Compared> {
        merge_over_loads(cluster, whole, width)
    }

    fn rules(width: usize) -> String {
        rules_table(&RULES, width)
    }
}

impl Queueing for Cluster {
    type Measures = Measures;

    fn subject(&self, file: &str) -> Subject {
        Subject {
            file: file.into(),
            source: self.record().source.clone(),
            digest: self.digest(),
            time_unit: self.time_unit().into(),
            load: analysis::load(self).load,
        }
    }

    fn scaled(&self, factor: f64) -> Option<Self> {
        Cluster::scaled(self, factor)
    }

    /// Returns the means of balanced fairness, where they are known.
    fn exact(&self, load: f64) -> Option<Exact> {
        let means = analysis::means(self).ok()?;
        let each = self.names().into_iter().zip(self.arrival_rates());
        let each = each.zip(&means.numbers);
        Some(Exact {
            name: "balanced fairness, exactly".into(),
            load,
            mean_response: means.response(self),
            types: each
                .map(|((name, rate), number)| (name.into(), number / rate))
                .collect(),
        })
    }

    fn besides(&self) -> Besides<'_, Measures, ()> {
        report::besides(self)
    }
}

/// Rules by name: each with what may stand behind it, and what it does.
const RULES: [(&str, &str, &str); 4] = [
    (
        "balanced-fairness",
        ":M",
        "one virtual queue, each server works on the first job that it may serve, and a job goes to the end M times in the mean before it is done; with more and more interruptions balanced fairness",
    ),
    (
        "fcfs",
        "",
        "the same without interruptions: first come, first served at every server, and a job is served by all that are free for it",
    ),
    (
        "random-ps",
        "",
        "each job is sent to any of its servers, which share themselves among their jobs",
    ),
    (
        "shortest-ps",
        "",
        "each job is sent to that of its servers where it is served fastest at once (join the shortest queue), which share themselves",
    ),
];

/// A policy that was named: a rule, or a file.
struct Policy {
    entrant: Entrant,
    rule: Rule,
    file: Option<Checked>,
    /// The law of sizes that it is tried with.
    trial: Trial,
}

/// Finds a rule by its name, or reads a policy file; `changes` is what becomes of one that was changed after it was written.
/// Behind an `@` may stand a law of sizes that it is tried with.
fn resolve_policy(whole: &str, changes: Changes) -> VerbResult<Policy> {
    let parts = whole.rsplit_once('@');
    let parts = parts.filter(|_| !Path::new(whole).exists());
    let trial = |law: &str| Trial::ALL.into_iter().find(|trial| trial.name() == law);
    let tried = parts.and_then(|(name, law)| Some((name, trial(law)?)));
    let (name, trial) = tried.unwrap_or((whole, Trial::Own));
    let (rule, file, digest) = match rule(name) {
        Ok(rule) => (rule, None, None),
        Err(why) => {
            let (file, digest): (Checked, String) = read_policy(name, why, changes)?;
            let rule = Rule::Fair(file.artifact().policy.interruptions);
            (rule, Some(file), Some(digest))
        }
    };
    let entrant = Entrant {
        name: whole.into(),
        digest,
        preempts: matches!(rule, Rule::Fair(m) if m > 0.0),
        knows: Knows::Means,
    };
    Ok(Policy {
        entrant,
        rule,
        file,
        trial,
    })
}

fn rule(name: &str) -> Result<Rule, String> {
    match split_name(name) {
        ("balanced-fairness", Some(m)) => interruptions(m).map(Rule::Fair).map_err(|_| {
            format!("`{m}` is not how often a job is interrupted: a number from 0 to 1e6, as in balanced-fairness:5")
        }),
        ("balanced-fairness", None) => Err(
            "balanced-fairness needs how often a job is interrupted, as in balanced-fairness:5"
                .into(),
        ),
        ("fcfs", None) => Ok(Rule::Fair(0.0)),
        ("random-ps", None) => Ok(Rule::RandomPs),
        ("shortest-ps", None) => Ok(Rule::ShortestPs),
        _ => Err(no_rule(name, &RULES)),
    }
}

const EXAMPLES: &str = "  synth --workload models/three_servers.yaml --output p.json
      load, bottleneck, exact means under balanced fairness, and how often jobs are interrupted
  synth show p.json
      what a policy file says, in words
  synth check p.json
      derive again what can be, and say what was judged for sense and what is taken on trust
  synth simulate p.json --precision 1%
      run it, with confidence intervals, and judge its claims
  synth compare --workload models/three_servers.yaml --policies fcfs,balanced-fairness:5,random-ps,p.json --loads .3,.6,.9 --html c.html
      mean response times beside those of other rules and of balanced fairness, as a page with pictures
  synth compare --workload models/three_servers.yaml --policies fcfs@zipf,p.json@zipf,p.json@hyperexponential --loads .6,.9
      how far means depend on the law of sizes
";
