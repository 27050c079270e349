use std::path::Path;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::artifact::Checked;
use super::simulator::{Measures, Rule, judge, simulate};
use super::synthesis::{self, Options, Outcome};
use super::workload::{Cluster, Trial};
use super::{Compatibility, analysis, report};
use synth_core::document::exists;
use synth_simulation::sweep::{Comparing, ExactMeans, Information, Whole};
use synth_simulation::{Health, Settings};
use synth_typed::{count, part};
use synth_verb::report::{KindMeasurements, Report};
use synth_verb::{
    Caller, Kind, NamedPolicy, NamesFiles, NoArgs, Notice, Queueing, Rules, SynthesisAnswer,
    VerbOutput, VerbResult, compare_over_loads, merge_over_loads, no_rule, scaled_to,
    simulate_policy, split_name,
};

/// The arguments that are used to compute a policy.
#[derive(Args, Clone)]
pub struct SynthesisArgs {
    /// The mean number of interruptions per job (0: jobs are never interrupted); tuned if not given
    #[arg(long, value_name = "M", value_parser = interruptions, allow_negative_numbers = true)]
    interruptions: Option<f64>,

    /// The maximum relative amount by which the mean response time can exceed balanced fairness
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = part)]
    tolerance: f64,

    /// The maximum number of events that can be used by the simulations to tune the policy
    #[arg(long, value_name = "EVENTS", default_value = "1e8", value_parser = count)]
    work: u64,

    /// The seed of the simulations; if the seed is the same, the result is also the same
    #[arg(long, default_value = "1")]
    seed: u64,
}

impl NamesFiles for SynthesisArgs {}

fn interruptions(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|m| (0.0..=1e6).contains(m));
    found.ok_or_else(|| format!("`{text}` is not a number from 0 to 1e6"))
}

impl Rules for Compatibility {
    type Content = Self;
    /// A rule, and the sizes that it is simulated with.
    type Rule = (Rule, Trial);

    const RULES: &'static str = include_str!("rules.txt").trim_ascii_end();

    fn rule(name: &str, _: Option<&Cluster>) -> Result<Self::Rule, String> {
        let (name, trial) = split_trial(name);
        let rule = match split_name(name) {
            ("balanced-fairness", Some(m)) => Rule::Fair(interruptions(m).map_err(|_| {
                format!("`{m}` is not a valid number of interruptions per job: expected a number from 0 to 1e6, for example balanced-fairness:5")
            })?),
            ("balanced-fairness", None) => {
                return Err("the mean number of interruptions per job is missing: use, for example, balanced-fairness:5".into());
            }
            ("fcfs", None) => Rule::Fair(0.0),
            ("random-ps", None) => Rule::RandomPs,
            ("shortest-ps", None) => Rule::ShortestPs,
            _ => return Err(no_rule(name, Self::RULES)),
        };
        Ok((rule, trial))
    }

    fn file_of(name: &str) -> &str {
        split_trial(name).0
    }

    fn rule_of(file: &Checked, name: &str) -> Self::Rule {
        let interruptions = file.artifact().policy.interruptions;
        (Rule::Fair(interruptions), split_trial(name).1)
    }

    fn traits((rule, _): &Self::Rule, _: &Cluster) -> (bool, Information) {
        let preempts = matches!(rule, Rule::Fair(m) if *m > 0.0);
        (preempts, Information::Means)
    }

    fn fits(policy: &NamedPolicy<Self>, cluster: &Cluster) -> Result<(), String> {
        let is_same = |file: &Checked| {
            let own = file.workload();
            own.servers().len() == cluster.servers().len() && own.names() == cluster.names()
        };
        let fits = policy.file.as_ref().is_none_or(is_same);
        fits.then_some(()).ok_or("the policy was created for a different set of classes or servers; use `synth` to create a policy for this workload".into())
    }
}

impl Kind for Compatibility {
    type SynthesisArgs = SynthesisArgs;
    type SimulationArgs = NoArgs;
    type ComparisonArgs = NoArgs;

    const EXAMPLES: &'static str = include_str!("examples.txt");

    fn about(cluster: &Cluster) -> String {
        report::about(cluster)
    }

    fn show(policy: &Checked) -> Report {
        report::show(policy)
    }

    fn at_load(cluster: &Cluster, load: f64) -> VerbResult<Cluster> {
        scaled_to(cluster, load)
    }

    fn synthesize(
        cluster: &Cluster,
        args: &SynthesisArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<SynthesisAnswer<Self>> {
        caller.notify(Notice::Interruptible);
        let doing = "computing the load and the exact mean values";
        caller.notify(Notice::Doing(doing));
        let options = Options {
            interruptions: args.interruptions,
            tolerance: args.tolerance,
            events: args.work,
            seed: args.seed,
            interrupt: caller.interrupt.clone(),
        };
        let listener = |what: &str, reached| caller.notify(Notice::Simulating(what, reached));
        Ok(match synthesis::synthesize(cluster, &options, listener)? {
            Outcome::Made(synthesized) => {
                let summary = report::summary(cluster, &synthesized);
                SynthesisAnswer::checked(synthesized.artifact, summary)?
            }
            Outcome::Overload(load) => SynthesisAnswer::Refused {
                why: report::overload(cluster, &load).into(),
                decided: true,
            },
            Outcome::Interrupted => SynthesisAnswer::Interrupted,
        })
    }

    fn simulate(
        name: &str,
        cluster: Option<Cluster>,
        _: &NoArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput> {
        let adapt = |cluster: Cluster, (_, trial): &Self::Rule| Ok(sized(&cluster, *trial));
        simulate_policy::<Self>(name, cluster, caller, adapt, |policy, cluster, caller| {
            let run =
                simulate(cluster, &policy.rule.0, settings, caller.simulating())?.marked(settings);
            let verdicts = policy.verdicts(cluster, |file| judge(file, cluster, &run));
            let report = report::simulation(cluster, &run, &verdicts);
            let is_unstable = run.health == Health::Unstable;
            VerbOutput::of_run(&policy.name, report, &run, &verdicts, is_unstable)
        })
    }

    fn compare(
        cluster: &Cluster,
        comparing: &Comparing<'_>,
        _: &NoArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput> {
        let run =
            |policy: &NamedPolicy<Self>, cluster: &Cluster, _, progress: &mut dyn FnMut(_)| {
                let (rule, trial) = &policy.rule;
                simulate(&sized(cluster, *trial), rule, comparing.settings, progress)
            };
        compare_over_loads(cluster, cluster, comparing, run, caller)
    }

    fn merge(cluster: &Cluster, whole: &Whole) -> VerbResult<VerbOutput> {
        merge_over_loads(cluster, whole)
    }
}

impl Queueing for Cluster {
    type Measures = Measures;
    type OfClass = ();

    fn origin(&self) -> (Option<String>, &str) {
        (self.record.source.clone(), &self.record.time_unit)
    }

    fn own_load(&self, _: Option<Duration>) -> VerbResult<f64> {
        Ok(analysis::load(self).load)
    }

    fn scaled(&self, factor: f64) -> Option<Self> {
        Cluster::scaled(self, factor)
    }

    fn exact(&self, load: f64) -> Option<ExactMeans> {
        let means = analysis::means(self).ok()?;
        let times = means.numbers.iter().zip(self.arrival_rates());
        let times = times.map(|(number, rate)| number / rate);
        let names = self.names().into_iter().map(String::from);
        Some(ExactMeans {
            name: "balanced fairness, exactly".into(),
            load,
            mean_response: means.response(self),
            types: names.zip(times).collect(),
        })
    }

    fn besides(&self) -> KindMeasurements<'_, Measures, ()> {
        report::besides(self)
    }
}

fn sized(cluster: &Cluster, trial: Trial) -> Cluster {
    cluster.with_sizes(trial.distribution(cluster.size()))
}

fn split_trial(name: &str) -> (&str, Trial) {
    let parts = name.rsplit_once('@');
    let parts = parts.filter(|_| !exists(Path::new(name)));
    let tried = parts.and_then(|(name, law)| Some((name, Trial::from_str(law, false).ok()?)));
    tried.unwrap_or((name, Trial::Own))
}
