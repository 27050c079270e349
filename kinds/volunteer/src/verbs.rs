//! Campaigns as a kind of workload: what is typed → verbs → reports.

use clap::Args;

use super::artifact::{Checked, Volunteer};
use super::policies;
use super::report;
use super::simulator::{Rule, judge, simulate};
use super::synthesis::{self, NoPolicy, Options};
use super::workload::Campaign;
use synth_simulation::Settings;
use synth_simulation::sweep::Comparing;
use synth_typed::count;
use synth_verb::report::WIDTH;
use synth_verb::{
    Answer, Caller, Kind, NamesFiles, NoArgs, Notice, VerbOutput, VerbResult, refuse,
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
        match synthesis::synthesize(campaign, &options, &mut listener) {
            Ok(synthesized) => {
                let summary = report::synthesized(campaign, &synthesized, caller.width);
                Answer::checked(synthesized.artifact, summary)
            }
            Err(NoPolicy::Impossible(shortage)) => Ok(Answer::Refused {
                why: report::impossible(campaign, &shortage, caller.width),
                decided: true,
            }),
            Err(NoPolicy::TooLong(found)) => {
                // Two campaigns that choose and two that decide nothing, with some room.
                let least = 5.0 * found.events;
                refuse(format!("{found}: give --budget {least:.1e} or more"))
            }
            Err(NoPolicy::Interrupted) => Ok(Answer::Interrupted),
        }
    }

    fn simulate(
        name: &str,
        campaign: Option<Campaign>,
        _: &NoArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput> {
        let as_it_is = |campaign, _: &Rule| Ok(campaign);
        simulate_policy::<Self>(
            name,
            campaign,
            caller,
            as_it_is,
            |policy, campaign, caller| {
                let run = simulate(campaign, policy.rule, settings, caller.simulating());
                let run = policies::within_budget(run)?;
                let judged = policy.judged_on(campaign).filter(|_| !run.interrupted);
                let verdicts = judged.map_or(Vec::new(), |file| judge(file, campaign, &run));
                let table = report::simulation(campaign, &run, &verdicts, caller.width);
                let ran = report::of_run(campaign, &run);
                let mut output = VerbOutput::of_run(&policy.name, table, &ran, &verdicts, false)?;
                let shortage = campaign.shortage();
                let words = shortage.map(|own| report::impossible(campaign, &own, WIDTH));
                output.notes.extend(words);
                Ok(output)
            },
        )
    }

    fn compare(
        campaign: Option<&Campaign>,
        comparing: &Comparing<'_>,
        _: &NoArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<VerbOutput> {
        policies::compare(required_workload(campaign)?, comparing, caller)
    }
}
