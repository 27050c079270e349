//! Campaigns as a kind of workload: what is typed → verbs → reports.

use clap::Args;

use super::artifact::{Checked, Volunteer};
use super::policies::{self, RULES};
use super::report;
use super::simulator::{self, Run, judge, simulate};
use super::synthesis::{self, NoPolicy, Options};
use super::workload::Campaign;
use synth_simulation::Settings;
use synth_simulation::sweep::Comparing;
use synth_typed::count;
use synth_verb::report::WIDTH;
use synth_verb::{
    Answer, Caller, Kind, NamesFiles, NoArgs, Notice, Policy, Rules, VerbOutput, VerbResult,
    required_workload, simulate_policy,
};

/// What is typed beside the workload to make a policy.
#[derive(Args, Clone)]
pub struct SynthesisArgs {
    /// Events that may be simulated to choose the parameters, about
    #[arg(long, value_name = "EVENTS", default_value = "6e8", value_parser = count)]
    budget: u64,

    /// Campaigns that the claims are measured in, 2 at least [default: as many as the budget allows, up to 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    campaigns: Option<u32>,

    /// Seed of the simulations: the same seed gives the same policy
    #[arg(long, default_value = "1")]
    seed: u64,
}

impl NamesFiles for SynthesisArgs {}

impl Rules for Volunteer {
    type Content = Self;
    type Rule = simulator::Rule;

    const RULES: &'static str = RULES;

    fn rule(name: &str, campaign: Option<&Campaign>) -> Result<simulator::Rule, String> {
        policies::rule(name, campaign)
    }

    fn rule_of(file: &Checked, _: &str) -> simulator::Rule {
        simulator::Rule::Dispatch(file.artifact().policy.dispatch)
    }
}

impl Kind for Volunteer {
    type SynthesisArgs = SynthesisArgs;
    type SimulationArgs = NoArgs;
    type ComparisonArgs = NoArgs;

    const EXAMPLES: &'static str = include_str!("examples.txt");
    const FIELDS: &'static str = "hosts, applications or batches";

    fn about(campaign: &Campaign) -> String {
        report::about(campaign)
    }

    fn show(policy: &Checked, width: usize) -> String {
        report::show(policy, width)
    }

    fn synthesize(
        campaign: &Campaign,
        args: &SynthesisArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<Answer<Self>> {
        let options = Options {
            events: args.budget,
            campaigns: args.campaigns,
            seed: args.seed,
            interrupt: caller.interrupt.clone(),
        };
        caller.notify(Notice::Interruptible);
        let mut listener = |what: &str| caller.notify(Notice::Doing(what));
        Ok(
            match synthesis::synthesize(campaign, &options, &mut listener) {
                Ok(synthesized) => {
                    let summary = report::synthesized(campaign, &synthesized, caller.width);
                    Answer::checked(synthesized.artifact, summary)?
                }
                Err(NoPolicy::Impossible(shortage)) => Answer::Refused {
                    why: report::impossible(campaign, &shortage, caller.width),
                    decided: true,
                },
                Err(NoPolicy::TooLong(found)) => {
                    // Two that choose and two that decide nothing, with some room.
                    let least = 5.0 * found.events;
                    return Err(format!("{found}: give --budget {least:.1e} or more").into());
                }
                Err(NoPolicy::Interrupted) => Answer::Interrupted,
            },
        )
    }

    fn simulate(
        name: &str,
        campaign: Option<Campaign>,
        _: &NoArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput> {
        let as_it_is = |campaign, _: &simulator::Rule| Ok(campaign);
        simulate_policy(
            name,
            campaign,
            caller,
            as_it_is,
            |policy, campaign, caller| run(policy, campaign, settings, caller),
        )
    }

    fn compare(
        campaign: Option<&Campaign>,
        comparing: &Comparing<'_>,
        _: &NoArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput> {
        let outcomes = policies::compare(required_workload(campaign)?, comparing, caller)?;
        VerbOutput::outcomes(&outcomes, caller.width)
    }
}

/// Runs a policy on a campaign, and judges its claims if it is for that.
fn run(
    policy: &Policy<Volunteer>,
    campaign: &Campaign,
    settings: &Settings,
    caller: &mut Caller<'_>,
) -> VerbResult<VerbOutput> {
    let run: Run = policies::within_budget(simulate(
        campaign,
        policy.rule,
        settings,
        caller.simulating(),
    ))?;
    let judged = policy.judged_on(campaign).filter(|_| !run.interrupted);
    let verdicts = judged.map(|file| judge(file, campaign, &run));
    let verdicts = verdicts.unwrap_or_default();
    let table = report::simulation(campaign, &run, &verdicts, caller.width);
    let ran = report::of_run(campaign, &run);
    let mut output = VerbOutput::of_run(&policy.name, table, &ran, &verdicts, false)?;
    let shortage = campaign.shortage();
    output.notes = Vec::from_iter(shortage.map(|own| report::impossible(campaign, &own, WIDTH)));
    Ok(output)
}
