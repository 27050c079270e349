use clap::Args;

use super::artifact::{Checked, Quantity, Volunteer};
use super::policy::Dispatch;
use super::report;
use super::simulator::{Rule, Run, TooLong, judge, simulate};
use super::synthesis::{self, NoPolicy, Options, against, default_rule, fixed_bound, literal};
use super::workload::Campaign;
use synth_core::artifact::{Content as _, Quantity as _};
use synth_simulation::Settings;
use synth_simulation::sweep::Comparing;
use synth_typed::count;
use synth_verb::report::{Outcomes, QuantityColumn, Report, estimate};
use synth_verb::{
    Caller, Kind, NamedPolicy, NamesFiles, NoArgs, Notice, Rules, SynthesisAnswer, VerbOutput,
    VerbResult, no_rule, refuse, simulate_policy, split_name,
};

/// The arguments that are used to compute a policy.
#[derive(Args, Clone)]
pub struct SynthesisArgs {
    /// The approximate number of events that can be used to search for the parameters
    #[arg(long, value_name = "EVENTS", default_value = "6e8", value_parser = count)]
    work: u64,

    /// The number of campaigns for the claims, at least 2 [default: depends on --work, at most 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    campaigns: Option<u32>,

    /// The seed of the simulations; if the seed is the same, the result is also the same
    #[arg(long, default_value = "1")]
    seed: u64,
}

impl NamesFiles for SynthesisArgs {}

impl Kind for Volunteer {
    type SynthesisArgs = SynthesisArgs;
    type SimulationArgs = NoArgs;
    type ComparisonArgs = NoArgs;

    const EXAMPLES: &'static str = include_str!("examples.txt");

    fn about(campaign: &Campaign) -> String {
        report::about(campaign)
    }

    fn show(policy: &Checked) -> Report {
        report::show(policy)
    }

    fn synthesize(
        campaign: &Campaign,
        args: &SynthesisArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<SynthesisAnswer<Self>> {
        let options = Options {
            events: args.work,
            campaigns: args.campaigns,
            seed: args.seed,
            interrupt: caller.interrupt.clone(),
        };
        caller.notify(Notice::Interruptible);
        let mut listener = |what: &str| caller.notify(Notice::Doing(what));
        match synthesis::synthesize(campaign, &options, &mut listener) {
            Ok(synthesized) => {
                let summary = report::synthesized(campaign, &synthesized);
                SynthesisAnswer::checked(synthesized.artifact, summary)
            }
            Err(NoPolicy::Impossible(shortage)) => Ok(SynthesisAnswer::Refused {
                why: report::impossible(campaign, &shortage).into(),
                decided: true,
            }),
            Err(NoPolicy::TooLong(found)) => {
                // We need two campaigns to select the rule, two that are held out, and some slack.
                let least = 5.0 * found.events;
                refuse(format!("{found}: use at least --work {least:.1e}"))
            }
            Err(NoPolicy::Interrupted) => Ok(SynthesisAnswer::Interrupted),
        }
    }

    fn simulate(
        name: &str,
        campaign: Option<Campaign>,
        _: &NoArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput> {
        let as_is = |own, _: &_| Ok(own);
        simulate_policy::<Self>(name, campaign, caller, as_is, |policy, campaign, caller| {
            let run = simulate(campaign, policy.rule, settings, caller.simulating());
            let run = within_budget(run)?;
            let judged = policy.claims_for(campaign).filter(|_| !run.interrupted);
            let verdicts = judged.map_or(Vec::new(), |file| judge(file, campaign, &run));
            let report = report::simulation(campaign, &run, &verdicts);
            let ran = report::of_run(campaign, &run);
            let mut output = VerbOutput::of_run(&policy.name, report, &ran, &verdicts, false)?;
            let shortage = campaign.shortage();
            let words = shortage.map(|own| report::impossible(campaign, &own));
            output.notes.extend(words);
            Ok(output)
        })
    }

    fn compare(
        campaign: &Campaign,
        comparing: &Comparing<'_>,
        _: &NoArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput> {
        caller.notify(Notice::Interruptible);
        if let Some(name) = caller.over_loads(comparing) {
            return refuse(format!(
                "{name} applies only to jobs that queue, but volunteer hosts always have work: leave it out"
            ));
        }
        if comparing.journal.is_some_and(|(_, resume)| resume) {
            return refuse(
                "it is not possible to resume a comparison of campaigns: leave --resume out",
            );
        }
        let (names, changes) = (comparing.policies, comparing.changes);
        let policies = NamedPolicy::<Volunteer>::resolve_each(names, Some(campaign), changes)?;
        let (settings, time) = (comparing.settings, &campaign.record.time_unit);
        let mut outcomes = Outcomes::new(comparing, Volunteer::digest(campaign));
        let column = |own: &Quantity| QuantityColumn::of(*own, time);
        outcomes.columns = Quantity::ALL.iter().map(column).collect();
        let mut first: Option<Run> = None;
        for (outcome, policy) in outcomes.policies.iter_mut().zip(policies) {
            caller.notify(Notice::Doing(&outcome.policy));
            let run = within_budget(simulate(campaign, policy.rule, settings, |_| ()))?;
            if run.interrupted {
                break;
            }
            let values = Quantity::ALL.iter().map(|own| run.estimate(*own));
            outcome.values = values.collect();
            if let Some(first) = &first
                && let Some(ratio) = against(&run, first, Quantity::MedianMakespan)
            {
                let is_sure = (ratio.mean - 1.0).abs() > ratio.half_width;
                let sure = if is_sure { "" } else { "not " };
                let than = if ratio.mean > 1.0 {
                    "longer"
                } else {
                    "shorter"
                };
                let (policy, first) = (&outcome.policy, &comparing.policies[0]);
                let times = estimate(Some(ratio));
                outcomes.notes.push(format!(
                    "{policy}: {times} times the median makespan of {first}, {sure}significantly {than}."
                ));
            }
            first.get_or_insert(run);
        }
        outcomes.interrupted = settings.is_interrupted();
        outcomes.notes.push(format!(
            "The values are means over {} campaigns, starting with seed {}, with 95 % confidence intervals. The hosts and jobs are the same for all policies. If a batch was not completed in one of the campaigns, the value is –.",
            settings.replications, settings.seed
        ));
        VerbOutput::of_outcomes(&outcomes, caller.command.clone())
    }
}

impl Rules for Volunteer {
    type Content = Self;
    type Rule = Rule;

    const RULES: &'static str = include_str!("rules.txt").trim_ascii_end();

    fn rule(name: &str, campaign: Option<&Campaign>) -> Result<Rule, String> {
        let (rule, parameter) = split_name(name);
        let why = || format!("{name} is a rule: name the workload with --workload FILE");
        let campaign = || campaign.ok_or_else(why);
        let dispatch = |of: fn(&Campaign) -> Dispatch| {
            let own = of(campaign()?);
            let own = parameter.map_or(Ok(own), |text| with_parameters(own, text));
            own.map(Rule::Dispatch)
        };
        let bound = || match parameter {
            None => campaign().map(fixed_bound),
            Some(text) => {
                let time = text.parse().ok();
                let time = time.filter(|time| *time > 0.0 && *time <= 1e60);
                time.ok_or_else(|| format!("`{text}` is not a time > 0, as in fixed:168"))
            }
        };
        match rule {
            "percentile" => dispatch(default_rule),
            "literal" => dispatch(literal),
            "boinc-2025" => bound().map(Rule::Tail),
            "fixed" => bound().map(Rule::Fixed),
            _ => Err(no_rule(name, Self::RULES)),
        }
    }

    fn rule_of(file: &Checked, _: &str) -> Rule {
        Rule::Dispatch(file.artifact().policy.dispatch)
    }
}

fn with_parameters(rule: Dispatch, text: &str) -> Result<Dispatch, String> {
    let numbers: Option<Vec<f64>> = text.split(':').map(|own| own.parse().ok()).collect();
    let is_percentile = |p: f64| (0.0..=100.0).contains(&p);
    match numbers.as_deref() {
        Some(&[first, tight, q])
            if is_percentile(first) && is_percentile(tight) && q > 0.0 && q < 1.0 =>
        {
            Ok(Dispatch {
                first_percentile: first,
                tight_percentile: tight,
                quantile: Some(q),
                ..rule
            })
        }
        _ => Err(format!(
            "`{text}` is not two percentiles from 0 to 100 and a fraction between 0 and 1, as in percentile:75:95:.3"
        )),
    }
}

fn within_budget(run: Result<Run, TooLong>) -> VerbResult<Run> {
    run.or_else(|found| refuse(format!("{found}: increase --events or --time")))
}
