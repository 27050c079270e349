use std::time::Duration;

use clap::Args;

use super::analysis::relaxation;
use super::artifact::{Checked, cost};
use super::policy::Online;
use super::simulator::{Measures, judge, judge_course, simulate};
use super::synthesis::{self, Open, Options, best_plan};
use super::workload::{ALL_JOBS, Objective, Pool, Stream, Workload};
use super::{Malleable, report};
use synth_core::document::WorkloadDocument as _;
use synth_simulation::sweep::{Comparing, ExactMeans, Whole};
use synth_simulation::{Estimate, Health, Settings, median};
use synth_typed::{count, part};
use synth_verb::report::{
    KindMeasurements, Outcomes, PolicyValues, QuantityColumn, Report, Section, run_report,
};
use synth_verb::{
    Caller, Kind, NamedPolicy, NamesFiles, NoArgs, Notice, Queueing, SynthesisAnswer, VerbOutput,
    VerbResult, compare_over_loads, merge_over_loads, refuse, scaled_to, simulate_policy,
};

/// The arguments that are used to compute a policy.
#[derive(Args, Clone)]
pub struct SynthesisArgs {
    /// For jobs that arrive over time: how much small jobs are preferred (0: not at all, 1: as if
    /// no more jobs arrived); tuned if not given
    #[arg(long, value_name = "U", value_parser = knob, requires = "background")]
    urgency: Option<f64>,

    /// For jobs that arrive over time: the number of jobs that are assumed to remain after all
    /// others; tuned if not given
    #[arg(long, value_name = "B", value_parser = knob, requires = "urgency")]
    background: Option<f64>,

    /// For jobs that arrive over time: the maximum number of events that are used for tuning
    #[arg(long, value_name = "EVENTS", default_value = "4e7", value_parser = count)]
    work: u64,

    /// The seed of the simulations; if the seed is the same, the result is also the same.
    ///
    /// For random sizes, the value 1 uses the sizes of the workload, and 2 the next ones
    #[arg(long, default_value = "1")]
    seed: u64,
}

impl NamesFiles for SynthesisArgs {}

fn knob(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|n| (0.0..=100.0).contains(n));
    number.ok_or_else(|| format!("`{text}` is not a number from 0 to 100"))
}

/// The arguments that are used to compare policies.
#[derive(Args)]
pub struct ComparisonArgs {
    /// For jobs that are present at the start: compare the policies with the speedup k^p for each
    /// of these exponents, instead of the speedup of the workload
    #[arg(long, value_name = "P,P,…", value_delimiter = ',', value_parser = exponent)]
    exponents: Vec<f64>,

    /// The number of times that the sizes are drawn, starting with --seed; the medians are compared
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u64).range(1..=1000))]
    draws: u64,
}

impl NamesFiles for ComparisonArgs {}

fn exponent(text: &str) -> Result<f64, String> {
    if text.parse() == Ok(1.0) {
        return Ok(1.0);
    }
    part(text).map_err(|_| format!("`{text}` is not an exponent above 0 and at most 1"))
}

impl Kind for Malleable {
    type SynthesisArgs = SynthesisArgs;
    type SimulationArgs = NoArgs;
    type ComparisonArgs = ComparisonArgs;

    const EXAMPLES: &'static str = include_str!("examples.txt");

    fn about(workload: &Workload) -> String {
        report::about(workload)
    }

    fn show(policy: &Checked) -> Report {
        report::show(policy)
    }

    fn at_load(workload: &Workload, load: f64) -> VerbResult<Workload> {
        match workload {
            Workload::Stream(stream) => Ok(Workload::Stream(scaled_to(stream, load)?)),
            Workload::Pool(_) => refuse("jobs present at the start have no load to scale to"),
        }
    }

    fn synthesize(
        workload: &Workload,
        args: &SynthesisArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<SynthesisAnswer<Self>> {
        let parameters = args.urgency.zip(args.background);
        let stream = match workload {
            Workload::Stream(stream) => stream,
            Workload::Pool(_) if parameters.is_some() => {
                return refuse(
                    "--urgency and --background apply only to jobs that arrive, but here all jobs are present at the start: leave them out",
                );
            }
            Workload::Pool(pool) => {
                caller.notify(Notice::Doing("planning"));
                let pool = &redrawn(pool, args.seed);
                let (artifact, planned) = synthesis::plan(pool);
                let summary = report::plan(pool, &planned);
                caller.notify(Notice::Doing("checking"));
                return SynthesisAnswer::checked(artifact, summary);
            }
        };
        caller.notify(Notice::Interruptible);
        let options = Options {
            events: args.work,
            seed: args.seed,
            parameters: parameters.map(|(urgency, background)| Online {
                urgency,
                background,
            }),
            interrupt: caller.interrupt.clone(),
        };
        let listener = |what: &str, reached| caller.notify(Notice::Simulating(what, reached));
        Ok(match synthesis::online(stream, &options, listener)? {
            synthesis::Outcome::Made(synthesized) => {
                let summary = report::online(stream, &synthesized);
                SynthesisAnswer::checked(synthesized.artifact, summary)?
            }
            synthesis::Outcome::Overload(times) => SynthesisAnswer::Refused {
                why: report::overload(stream, times).into(),
                decided: true,
            },
            synthesis::Outcome::Interrupted => SynthesisAnswer::Interrupted,
        })
    }

    fn simulate(
        name: &str,
        workload: Option<Workload>,
        _: &NoArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput> {
        let as_is = |own, _: &_| Ok(own);
        simulate_policy::<Self>(name, workload, caller, as_is, |policy, workload, caller| {
            let name = &policy.name;
            let stream = match workload {
                Workload::Stream(stream) => stream,
                Workload::Pool(pool) => {
                    let is_own = policy.claims_for(workload).is_some();
                    let again = (!is_own).then(|| redrawn(pool, settings.seed));
                    let pool = again.as_ref().unwrap_or(pool);
                    let course = policy.rule.execute(name, pool, is_own)?;
                    let judge = |file: &_| judge_course(file, pool, &course);
                    let verdicts = policy.verdicts(workload, judge);
                    let report = report::course(pool, &course, &verdicts);
                    let ran = report::of_course(pool, &course);
                    return VerbOutput::of_run(name, report, &ran, &verdicts, false);
                }
            };
            let sharing = policy.rule.online(name)?;
            let run = simulate(stream, sharing, settings, caller.simulating())?.marked(settings);
            let verdicts = policy.verdicts(workload, |file| judge(file, stream, &run));
            let unit = &stream.record.time_unit;
            let report = run_report(unit, &run, Section::default(), &verdicts, |_| false);
            let is_unstable = run.health == Health::Unstable;
            VerbOutput::of_run(name, report, &run, &verdicts, is_unstable)
        })
    }

    fn compare(
        workload: &Workload,
        comparing: &Comparing<'_>,
        extras: &ComparisonArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput> {
        let stream = match workload {
            Workload::Pool(pool) => {
                let outcomes = compare_pool(pool, comparing, extras, caller)?;
                return VerbOutput::of_outcomes(&outcomes, caller.command.clone());
            }
            Workload::Stream(stream) => stream,
        };
        let draws = (extras.draws > 1).then_some("--draws");
        let exponents = (!extras.exponents.is_empty()).then_some("--exponents");
        if let Some(name) = draws.or(exponents) {
            return refuse(format!(
                "{name} applies only to jobs that are all present at the start, but here the jobs arrive over time: leave it out"
            ));
        }
        let run = |policy: &NamedPolicy<Self>, stream: &Stream, _, progress: &mut dyn FnMut(_)| {
            let sharing = policy.rule.online(&policy.name)?;
            simulate(stream, sharing, comparing.settings, progress)
        };
        compare_over_loads(workload, stream, comparing, run, caller)
    }

    fn merge(workload: &Workload, whole: &Whole) -> VerbResult<VerbOutput> {
        match workload {
            Workload::Stream(stream) => merge_over_loads(stream, whole),
            Workload::Pool(_) => refuse("jobs present at the start are not compared over loads"),
        }
    }
}

const LEAST: &str = "any policy, at least";

impl Queueing for Stream {
    type Measures = Measures;
    type OfClass = ();

    fn origin(&self) -> (Option<String>, &str) {
        (self.record.source.clone(), &self.record.time_unit)
    }

    fn own_load(&self, _: Option<Duration>) -> VerbResult<f64> {
        Ok(self.load())
    }

    fn scaled(&self, factor: f64) -> Option<Self> {
        Stream::scaled(self, factor)
    }

    fn exact(&self, load: f64) -> Option<ExactMeans> {
        let mean_response = relaxation(self);
        Some(ExactMeans {
            name: LEAST.into(),
            load,
            mean_response,
            types: vec![(ALL_JOBS.into(), mean_response)],
        })
    }

    fn besides(&self) -> KindMeasurements<'_, Measures, ()> {
        KindMeasurements::new(report::of_stream(self))
    }
}

fn redrawn(pool: &Pool, seed: u64) -> Pool {
    pool.redrawn(seed.wrapping_sub(1))
}

fn compare_pool(
    pool: &Pool,
    comparing: &Comparing<'_>,
    extras: &ComparisonArgs,
    caller: &mut Caller<'_>,
) -> VerbResult<Outcomes> {
    if let Some(name) = caller.over_loads(comparing) {
        return refuse(format!(
            "{name} applies only to jobs that arrive, but here all jobs are present at the start: leave it out, or use --exponents to compare speedups k^p"
        ));
    }
    let (draws, seed) = (extras.draws, comparing.settings.seed);
    if draws > 1 && pool.record.sizes.is_none() {
        return refuse(
            "--draws applies only to random sizes (`sizes:`), but here the sizes are given: leave it out",
        );
    }
    let draw = |n| redrawn(pool, seed.wrapping_add(n));
    let pools: Vec<Pool> = (0..draws).map(draw).collect();
    let (names, changes) = (comparing.policies, comparing.changes);
    let policies = NamedPolicy::<Malleable>::resolve_each(names, None, changes)?;
    caller.notify(Notice::Interruptible);
    let (exponents, quantity) = (&extras.exponents, pool.objective().quantity());
    let mut outcomes = Outcomes::new(comparing, pools[0].record.digest());
    let mut bounds = PolicyValues {
        policy: LEAST.into(),
        values: Vec::new(),
    };
    let mut open = None;
    let powers = exponents.iter().map(|p| Some(*p));
    let own = exponents.is_empty().then_some(None);
    for at in own.into_iter().chain(powers) {
        if comparing.settings.is_interrupted() {
            outcomes.interrupted = true;
            break;
        }
        let power = |pool: &Pool| at.map_or_else(|| pool.clone(), |p| pool.with_power(p));
        let pools: Vec<Pool> = pools.iter().map(power).collect();
        let leasts = pools.iter().map(|pool| {
            let planned = best_plan(pool);
            open = open.or(planned.open.filter(|_| !planned.is_best(pool)));
            planned.least
        });
        let least = median(leasts.collect()).unwrap_or(f64::NAN);
        for (outcome, policy) in outcomes.policies.iter_mut().zip(&policies) {
            let at = at.map_or(String::new(), |p| format!(" at p = {p}"));
            let label = format!("{}{at}", policy.name);
            caller.notify(Notice::Doing(&label));
            let costs = pools.iter().map(|pool| {
                let is_own = policy.claims_for(&Workload::Pool(pool.clone())).is_some();
                let course = policy.rule.execute(&policy.name, pool, is_own)?;
                Ok(cost(pool, quantity, &course.ends))
            });
            let values = match costs.collect::<Result<Vec<f64>, String>>() {
                Ok(costs) => {
                    let cost = median(costs).unwrap_or(f64::NAN);
                    [cost, cost / least].map(|value| Some(Estimate::exact(value)))
                }
                Err(why) => {
                    outcomes.failures.push(format!("{label}: {why}"));
                    [None; 2]
                }
            };
            outcome.values.extend(values);
        }
        bounds.values.extend([Some(Estimate::exact(least)), None]);
        outcomes.columns.extend(columns(pool, at));
    }
    outcomes.policies.push(bounds);
    outcomes.notes = vec![note(pool.objective(), open)];
    if pools.len() > 1 {
        let medians = format!("the medians of {} draws of the sizes", pools.len());
        outcomes.notes.push(medians);
    }
    Ok(outcomes)
}

fn columns(pool: &Pool, at: Option<f64>) -> [QuantityColumn; 2] {
    let mut cost = QuantityColumn::of(pool.objective().quantity(), &pool.record.time_unit);
    if let Some(p) = at {
        cost.label = format!("p = {p}");
    }
    let times = QuantityColumn {
        quantity: "times_the_least",
        at,
        unit: "1".into(),
        label: "times".into(),
    };
    [QuantityColumn { at, ..cost }, times]
}

fn note(objective: Objective, open: Option<Open>) -> String {
    let bound = match open {
        None if objective == Objective::Makespan => "which a plan attains",
        None => "which is the optimum",
        Some(Open::FavoursLarge) => "which may be below the optimum, as weights favour large jobs",
        Some(Open::SpeedupsDiffer) => "which may be below the optimum, as the speedups differ",
    };
    format!(
        "the costs are exact, and `times` is the cost divided by the lower bound for any policy, {bound}"
    )
}
