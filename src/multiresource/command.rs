use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::artifact::{Artifact, Checked, Family, Multiresource};
use super::bound::{BoundDocument, CertificateError};
use super::bridge;
use super::report;
use super::simulator::{
    Contender, Measures, TypeMeasures, as_analysed, judge, recorded, thresholds_to_record,
};
use super::verbs::replay::{self, start_latency};
use super::verbs::resolve::{same_servers, solve_load};
use super::verbs::size::Sizes;
use super::verbs::synthesize::{SynthesisArgs, synthesize};
use super::verbs::{drive, export, fit, limit, made, optimum};
use super::workload::Fleet;
use crate::kind::{
    Caller, Files, Kind, NamedPolicy, NamesFiles, Notice, Queueing, Rules, SynthesisAnswer, Verb,
    VerbOutput, VerbResult, compare_over_loads, files, merge_over_loads, refuse, scaled_to,
    simulate_policy,
};
use crate::number::Decimal;
use crate::report::{KindMeasurements, Report, Section};
use crate::simulation::sweep::{Comparing, Information, Whole};
use crate::simulation::{Ending, Health, Progress, Settings};
use crate::typed::load;
use synth_advice::verbs::{advise, forecast, judge as judging};
use synth_slurm::rule::SlurmRule;

/// The options of `synth simulate` for multiresource jobs.
#[derive(Args)]
pub struct SimulationArgs {
    /// The time for which a job holds its capacity before it runs, in the time unit of the policy
    /// [default: that of the workload]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = start_latency)]
    start_latency: Option<Decimal>,

    /// Scale the arrival rates so that the load is equal to this value
    #[arg(long, value_name = "ρ", value_parser = load)]
    load: Option<f64>,

    /// Run the jobs in this file once, instead of generating random jobs.
    ///
    /// The file is a table with the columns type, arrival and size, in the time unit of the
    /// policy, as it is written by `synth bridge --replay … --jobs` (`-`: standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "load")]
    jobs: Option<PathBuf>,
}

impl NamesFiles for SimulationArgs {
    fn files(&self) -> Files<'_> {
        files(&self.jobs, [] as [&Path; 0])
    }
}

/// A kind of workload that consists of multiresource jobs.
#[derive(Clone, Copy)]
pub struct MultiresourceKind;

impl Rules for MultiresourceKind {
    type Content = Multiresource;
    type Rule = Contender;

    fn rules() -> Section {
        report::rules()
    }

    fn rule(name: &str, workload: Option<&Fleet>) -> Result<Contender, String> {
        if let Some(rule) = SlurmRule::named(name) {
            return Ok(Contender::External(Arc::new(rule?)));
        }
        match workload {
            Some(fleet) => Contender::named(name, fleet),
            None => Contender::parse(name),
        }
    }

    fn rule_of(file: &Checked, _: &str) -> Contender {
        file.artifact().policy.clone().into()
    }

    fn traits(rule: &Contender, workload: &Fleet) -> (bool, Information) {
        (rule.preempts(), rule.information_about(workload))
    }

    fn is_analyzed_otherwise(file: &Artifact) -> bool {
        as_analysed(file, &file.policy) != file.policy
    }

    fn fits(policy: &NamedPolicy<Self>, fleet: &Fleet) -> Result<(), String> {
        if let Some(file) = &policy.file {
            same_servers(file.workload(), fleet)?;
        }
        let rule = policy.rule.build_policy(fleet).map(drop);
        rule.map_err(|why| why.to_string())
    }
}

impl Kind for MultiresourceKind {
    type SynthesisArgs = SynthesisArgs;
    type SimulationArgs = SimulationArgs;
    type ComparisonArgs = ComparisonArgs;

    const EXAMPLES: &'static str = include_str!("examples.txt");
    const VERBS: &'static [Verb] = &[
        Verb::of::<made::Analyze>("analyze"),
        Verb::of::<made::Size>("size"),
        Verb::of::<replay::Arguments>("replay"),
        Verb::of::<optimum::Arguments>("optimum"),
        Verb::of::<limit::Arguments>("limit"),
        Verb::of::<fit::Arguments>("fit"),
        Verb::of::<judging::Arguments>("judge"),
        Verb::of::<advise::Advise>("advise"),
        Verb::of::<forecast::Arguments>("forecast"),
        Verb::of::<drive::Arguments>("drive"),
        Verb::of::<bridge::Arguments>("bridge"),
        Verb::of::<export::Export>("export"),
    ];

    fn about(workload: &Fleet) -> String {
        report::about(workload)
    }

    fn show(policy: &Checked) -> Report {
        report::show(policy)
    }

    fn synthesize(
        workload: &Fleet,
        args: &SynthesisArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<SynthesisAnswer<Multiresource>> {
        notify_latency(workload, caller);
        synthesize(workload, args, caller)
    }

    fn at_load(workload: &Fleet, load: f64) -> VerbResult<Fleet> {
        Ok(scaled_to(&OverLoads(workload.clone()), load)?.0)
    }

    fn prove(text: &str) -> VerbResult<Option<Result<String, String>>> {
        let document = match serde_json::from_str::<BoundDocument>(text) {
            Ok(document) => document,
            Err(why) if text.contains("\"synth-bound\"") => {
                return refuse(format!(
                    "the file does not contain a valid lower bound: {why}"
                ));
            }
            Err(_) => return Ok(None),
        };
        use CertificateError::{Version, Workload};
        match document.check() {
            Ok(fleet) => Ok(Some(Ok(report::proved(&document, &fleet)))),
            Err(why @ (Version(_) | Workload(_))) => Err(why.into()),
            Err(why) => Ok(Some(Err(why.to_string()))),
        }
    }

    fn simulate(
        name: &str,
        workload: Option<Fleet>,
        args: &SimulationArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput> {
        if let Some(file) = &args.jobs {
            let workload = (workload.as_ref(), args.start_latency);
            return replay::run_recorded(file, name, workload, settings, caller);
        }
        let adapt = |workload, _: &Contender| {
            let workload = match args.load {
                Some(load) => scaled_to(&OverLoads(workload), load)?.0,
                None => workload,
            };
            match args.start_latency {
                Some(latency) => Ok(workload.with_start_latency(latency)?),
                None => Ok(workload),
            }
        };
        simulate_policy::<Self>(name, workload, caller, adapt, |policy, fleet, caller| {
            run(policy, fleet, settings, caller)
        })
    }

    fn compare(
        workload: &Fleet,
        comparing: &Comparing<'_>,
        extras: &ComparisonArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput> {
        if let Some(sizes) = &extras.set {
            return over_sizes(workload, sizes, comparing, caller);
        }
        notify_latency(workload, caller);
        let run = |policy: &NamedPolicy<Self>,
                   OverLoads(fleet): &OverLoads,
                   is_highest: bool,
                   progress: &mut dyn FnMut(Progress)| {
            let run = policy.rule.simulate_on(fleet, comparing.settings, progress);
            let mut run = run.map_err(|why| why.to_string())?;
            if is_highest {
                run.own.stretch = recorded(&policy.rule, fleet, comparing.settings.seed);
            }
            Ok(run)
        };
        let over_loads = OverLoads(workload.clone());
        compare_over_loads(workload, &over_loads, comparing, run, caller)
    }

    fn merge(workload: &Fleet, whole: &Whole) -> VerbResult<VerbOutput> {
        merge_over_loads(&OverLoads(workload.clone()), whole)
    }
}

/// The arguments that are used to compare policies.
#[derive(Args, Default)]
pub struct ComparisonArgs {
    /// Compare clusters of these sizes, such as node=12,13,14
    ///
    /// The name is that of a server shape, or of a resource if there is only one server. The
    /// arrival rates are not changed. The results are tables, and cannot be written as JSON or CSV
    #[arg(long, value_name = "NAME=N,N,…", conflicts_with_all = ["loads", "resume", "shard", "output", "csv"])]
    set: Option<String>,
}

impl NamesFiles for ComparisonArgs {}

/// Compares the policies on clusters of several sizes, with the arrival rates of the workload.
fn over_sizes(
    workload: &Fleet,
    sizes: &str,
    comparing: &Comparing<'_>,
    caller: &mut Caller<'_>,
) -> VerbResult<VerbOutput> {
    let mut merged = VerbOutput::default();
    let report = &mut merged.report;
    for (size, fleet) in Sizes::listed(sizes, workload)? {
        let load = OverLoads(fleet.clone()).own_load(comparing.settings.time)?;
        if load >= 1.0 {
            let why = format!("With {size}, no policy is stable: the load is {load:.4}.");
            report.warnings.push(why);
            merged.negative = true;
            continue;
        }
        let comparing = Comparing {
            loads: &[load],
            ..*comparing
        };
        let own =
            MultiresourceKind::compare(&fleet, &comparing, &ComparisonArgs::default(), caller)?;
        let said = own.report.summary.iter();
        let said = said.map(|own| format!("With {size}: {own}"));
        report.summary.extend(said);
        report.warnings.extend(own.report.warnings);
        // The sections are the means, the ratios, the response times and the waits.
        let mut sections = own.report.sections.into_iter();
        if let (Some(mut means), Some(mut waits)) = (sections.next(), sections.nth(2)) {
            waits.title = format!("Mean wait by type with {size}");
            waits.figures.clear();
            means.columns[1].name.clone_from(&size);
            match report.sections.first_mut() {
                None => report.sections.push(means),
                Some(first) => {
                    first.columns.extend(means.columns.drain(1..));
                    let rows = first.rows.iter_mut().zip(means.rows);
                    rows.for_each(|(row, own)| row.extend(own.into_iter().skip(1)));
                }
            }
            report.sections.push(waits);
        }
        report.title = own.report.title;
        report.method = own.report.method;
        merged.notes.extend(own.notes);
        merged.negative |= own.negative;
        if own.interrupted {
            merged.interrupted = true;
            break;
        }
    }
    report.command.clone_from(&caller.command);
    Ok(merged)
}

/// Claims that are not valid under the conditions of this run are checked in a separate run.
fn run(
    policy: &NamedPolicy<MultiresourceKind>,
    fleet: &Fleet,
    settings: &Settings,
    caller: &mut Caller<'_>,
) -> VerbResult<VerbOutput> {
    let workload = fleet.envelope();
    if let Some(file) = &policy.file {
        same_servers(file.workload(), fleet).or_else(refuse)?;
    }
    let mut simulate = |rule: &Contender, settings: &Settings, what: &str| {
        let listener = |reached| caller.notify(Notice::Simulating(what, reached));
        let run = rule.simulate_on(fleet, settings, listener);
        run.map(|run| run.marked(settings))
    };
    let artifact = policy.claims_for(fleet);
    let analysed = artifact.map(|own| (own, as_analysed(own, &own.policy)));
    let is_same = |(own, rule): &(&Artifact, Family)| own.policy == *rule;
    let once = analysed.as_ref().is_some_and(is_same);
    let watching = Settings {
        watch: artifact.map_or(Vec::new(), |own| thresholds_to_record(own, workload)),
        ..settings.clone()
    };
    let first = if once { &watching } else { settings };
    let run = simulate(&policy.rule, first, "simulating")?;
    let knows = policy.rule.information_about(fleet).describe();
    let mut notes = Vec::from_iter(knows.map(|knows| format!("The rule {knows}.")));
    notes.extend(report::start_latency(workload));
    let mut verdicts = Vec::new();
    if let Some((artifact, rule)) = analysed {
        if once {
            verdicts = judge(artifact, workload, &run);
        } else if run.ending == Ending::Interrupted {
            notes.push("The run was interrupted before the claims could be checked.".into());
        } else {
            let run = simulate(&rule.into(), &watching, "simulating as analysed")?;
            notes.extend(report::as_analysed(&run));
            verdicts = judge(artifact, workload, &run);
        }
    }
    let report = report::simulation(workload, &run, &verdicts);
    let is_unstable = run.health == Health::Unstable;
    let output = VerbOutput::of_run(&policy.name, report, &run, &verdicts, is_unstable)?;
    Ok(VerbOutput { notes, ..output })
}

struct OverLoads(Fleet);

impl Queueing for OverLoads {
    type Measures = Measures;
    type OfClass = TypeMeasures;

    fn origin(&self) -> (Option<String>, &str) {
        let envelope = self.0.envelope();
        (envelope.source().map(Into::into), envelope.time_unit())
    }

    fn own_load(&self, time: Option<Duration>) -> VerbResult<f64> {
        solve_load(time, &self.0)
    }

    fn scaled(&self, factor: f64) -> Option<Self> {
        self.0.scaled(factor).ok().map(OverLoads)
    }

    fn besides(&self) -> KindMeasurements<'_, Measures, TypeMeasures> {
        report::besides(self.0.envelope())
    }
}

fn notify_latency(workload: &Fleet, caller: &mut Caller<'_>) {
    if let Some(note) = report::start_latency(workload.envelope()) {
        caller.notify(Notice::Known(&note));
    }
}
