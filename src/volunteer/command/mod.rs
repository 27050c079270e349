//! Campaigns as a kind of workload: what is typed → verbs → what is told.

mod ask;

use clap::{Args, Subcommand};

use crate::artifact::Finding;
use crate::document::{DocumentError, Parsed};
use crate::kind::{
    Answer, Caller, Compared, Files, Kind, NamesFiles, NoArgs, Notice, OwnVerb, VerbOutput,
    VerbResult, checked, required_workload, run_document, same_workload,
};
use crate::report::rules_table;
use crate::simulation::Settings;
use crate::simulation::sweep::Comparing;
use crate::typed::count;
use crate::volunteer::artifact::{Checked, Volunteer};
use crate::volunteer::report;
use crate::volunteer::synthesis::{self, Options, Outcome};
use crate::volunteer::verbs;
use crate::volunteer::workload::Campaign;

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

/// Verbs of their own.
#[derive(Subcommand)]
pub enum Verb {
    /// Answer a request of a host: which jobs it gets, with which deadlines, and why not the others
    Dispatch(ask::Arguments),
}

impl NamesFiles for Verb {
    fn files(&self) -> Files<'_> {
        let Verb::Dispatch(arguments) = self;
        arguments.files()
    }
}

impl OwnVerb for Verb {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let Verb::Dispatch(arguments) = self;
        ask::run(arguments, caller)
    }
}

impl Kind for Volunteer {
    type SynthesisArgs = SynthesisArgs;
    type SimulationArgs = NoArgs;
    type ComparisonArgs = NoArgs;
    type Verb = Verb;

    const EXAMPLES: &'static str = EXAMPLES;

    fn parse(text: &str, name: &str) -> Result<Parsed<Campaign>, DocumentError> {
        Campaign::parse(text, name)
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
        let outcome = synthesis::synthesize(campaign, &options, &mut listener);
        Ok(match outcome {
            Outcome::Made(made) => Answer::Policy {
                summary: report::made(campaign, &made, caller.width),
                documents: Vec::new(),
                artifact: checked(made.artifact)?,
            },
            Outcome::Impossible(shortage) => Answer::Refused {
                why: report::impossible(campaign, &shortage, caller.width),
                decided: true,
            },
            Outcome::TooLong(found) => {
                // Two that choose and two that decide nothing, with some room.
                let least = 5.0 * found.events;
                return Err(format!("{found}: give --budget {least:.1e} or more").into());
            }
            Outcome::Interrupted => Answer::Interrupted,
        })
    }

    fn against(policy: &Checked, campaign: &Campaign) -> VerbResult<Vec<Finding>> {
        let (own, other) = (policy.workload().digest(), campaign.digest());
        Ok(same_workload(
            &own,
            &other,
            "hosts, applications or batches",
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
        campaign: Option<Campaign>,
        _: &NoArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<(VerbOutput, String)> {
        let changes = caller.changes;
        let listener = |reached| caller.notify(Notice::Simulating("simulating", reached));
        let simulated = verbs::simulate(policy, campaign, changes, settings, listener)?;
        let (campaign, run) = (&simulated.campaign, &simulated.run);
        let verdicts = &simulated.verdicts;
        let answered = VerbOutput {
            table: report::simulation(campaign, run, verdicts, caller.width),
            notes: report::notes(&simulated),
            negative: simulated.is_refuted(),
            documents: Vec::new(),
        };
        let document = run_document(policy, &report::of_run(campaign, run), verdicts)?;
        Ok((answered, document))
    }

    fn compare(
        campaign: Option<&Campaign>,
        asked: &Comparing<'_>,
        _: &NoArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<Compared> {
        let campaign = required_workload(campaign)?;
        caller.notify(Notice::Interruptible);
        let listener = |what: &str| caller.notify(Notice::Doing(what));
        let outcomes = verbs::compare(campaign, asked, listener)?;
        Compared::outcomes(&outcomes, caller.width)
    }

    fn rules(width: usize) -> String {
        rules_table(&verbs::RULES, width)
    }
}

const EXAMPLES: &str = "  synth --workload models/campaign_small.yaml --output p.json
      which hosts get which jobs, with which deadlines: percentiles and quantile tuned on simulated campaigns
  synth show p.json
      what a policy file says, in words
  synth check p.json
      derive again what can be, and say what was judged for sense and what is taken on trust
  synth simulate p.json --seed 2
      run it in other campaigns, and try to refute its claims
  synth compare --workload models/campaign_small.yaml --policies p.json,literal,boinc-2025,fixed
      beside the proposal to the letter, BOINC's rule of 2025 and one deadline for all
  synth dispatch p.json --request request.json
      answer a request of a host, with a reason for every job
";
