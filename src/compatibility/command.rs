//! Clusters with a compatibility graph as a kind of workload: what is typed → verbs → what is told.

use clap::Args;

use crate::artifact::Finding;
use crate::compatibility::artifact::{Checked, Compatibility};
use crate::compatibility::report;
use crate::compatibility::synthesis::{self, Options, Outcome};
use crate::compatibility::verbs;
use crate::compatibility::workload::Cluster;
use crate::document::{DocumentError, Parsed};
use crate::kind::{
    Answer, Caller, Compared, Kind, NamesFiles, NoArgs, NoVerb, Notice, VerbOutput, VerbResult,
    checked, other_workload, required_workload, run_document, same_workload,
};
use crate::report::rules_table;
use crate::simulation::sweep::{Comparing, Stage, Whole};
use crate::simulation::{Progress, Settings};
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
    match text.parse::<f64>() {
        Ok(m) if (0.0..=1e6).contains(&m) => Ok(m),
        _ => Err(format!("`{text}` is not a number from 0 to 1e6")),
    }
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
        let options = options(args, caller);
        let listener =
            |what: &str, reached: Progress| caller.notify(Notice::Simulating(what, reached));
        Ok(match synthesis::synthesize(cluster, &options, listener)? {
            Outcome::Made(made) => Answer::Policy {
                summary: report::made(cluster, &made, caller.width),
                documents: Vec::new(),
                artifact: checked(made.artifact)?,
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
        Ok(same_workload(
            &own,
            &other,
            "servers, classes, rates or sizes",
        ))
    }

    fn about(policy: &Checked) -> String {
        report::about(policy.workload())
    }

    fn show(policy: &Checked, width: usize) -> String {
        report::show(policy, width)
    }

    fn simulate(
        policy: &str,
        workload: Option<Cluster>,
        _: &NoArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<(VerbOutput, String)> {
        let changes = caller.changes;
        let listener = |reached| caller.notify(Notice::Simulating("simulating", reached));
        let simulated = verbs::simulate(policy, workload, changes, settings, listener)?;
        let (run, verdicts) = (&simulated.run, &simulated.verdicts);
        let answered = VerbOutput {
            table: report::simulation(&simulated.cluster, run, verdicts, caller.width),
            notes: other_workload(simulated.other_workload),
            negative: simulated.is_refuted(),
            documents: Vec::new(),
        };
        Ok((answered, run_document(policy, run, verdicts)?))
    }

    fn compare(
        cluster: Option<&Cluster>,
        asked: &Comparing<'_>,
        _: &NoArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<Compared> {
        let cluster = required_workload(cluster)?;
        caller.notify(Notice::Interruptible);
        let listener = |stage: Stage<'_>| caller.notify(Notice::Comparing(stage));
        let swept = verbs::compare(cluster, asked, listener)?;
        Compared::over_loads(swept, &report::besides(cluster), caller.width)
    }

    fn merge(cluster: &Cluster, whole: &Whole, width: usize) -> VerbResult<Compared> {
        let mut comparison = whole.comparison()?;
        verbs::add_exact(&mut comparison, cluster)?;
        Compared::over_loads(comparison, &report::besides(cluster), width)
    }

    fn rules(width: usize) -> String {
        rules_table(&verbs::RULES, width)
    }
}

fn options(args: &SynthesisArgs, caller: &Caller<'_>) -> Options {
    Options {
        interruptions: args.interruptions,
        tolerance: args.tolerance,
        events: args.budget,
        seed: args.seed,
        interrupt: caller.interrupt.clone(),
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
