//! Campaigns as a kind of workload: what is typed → verbs → reports.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::artifact::{Checked, Volunteer};
use super::policy::{Request, decide};
use super::report;
use super::simulator::{judge, simulate};
use super::synthesis::{NoPolicy, Options, synthesize};
use super::verbs::{self, resolve_policy, within_budget};
use super::workload::Campaign;
use crate::artifact::Finding;
use crate::document::{DocumentError, Parsed, called, fault_of_json, text_of};
use crate::kind::{
    Answer, Caller, Compared, Files, Kind, NamesFiles, NoArgs, Notice, OwnVerb, VerbOutput,
    VerbResult, checked, json, other_workload, required_workload, run_document, same_workload,
};
use crate::report::{WIDTH, rules_table};
use crate::simulation::sweep::Comparing;
use crate::simulation::{Settings, Verdict};
use crate::typed::{PolicyFile, count};

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
    Dispatch(DispatchArgs),
}

/// What is typed to answer a request.
#[derive(Args)]
pub struct DispatchArgs {
    #[command(flatten)]
    policy: PolicyFile,

    /// The request, a JSON file: what the host has and wants, and the jobs that there are
    #[arg(long, value_name = "FILE")]
    request: PathBuf,

    /// Where the answers go, as JSON (`-`: to standard output)
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

impl NamesFiles for Verb {
    fn files(&self) -> Files<'_> {
        let Verb::Dispatch(args) = self;
        let read = args.policy.typed().into_iter().chain([&*args.request]);
        (read.collect(), vec![&args.output])
    }
}

impl OwnVerb for Verb {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let Verb::Dispatch(args) = self;
        let policy = Checked::read_with(args.policy.file()?, caller.changes)?;
        let file = called(&args.request);
        let text = text_of(&args.request).map_err(|why| format!("cannot read {file}: {why}"))?;
        let request: Request = serde_json::from_str(&text)
            .map_err(|error| format!("{file}: {}", fault_of_json(&error)))?;
        request.check().map_err(|why| format!("{file}: {why}"))?;
        let answers = decide(&policy.artifact().policy.dispatch, &request);
        Ok(VerbOutput {
            documents: vec![(args.output.clone(), json(&answers)?)],
            ..VerbOutput::default()
        })
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
        Ok(match synthesize(campaign, &options, &mut listener) {
            Ok(synthesized) => Answer::Policy {
                summary: report::synthesized(campaign, &synthesized, caller.width),
                documents: Vec::new(),
                artifact: checked(synthesized.artifact)?,
            },
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
        })
    }

    fn against(policy: &Checked, campaign: &Campaign) -> VerbResult<Vec<Finding>> {
        let (own, other) = (policy.workload().digest(), campaign.digest());
        let what = "hosts, applications or batches";
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
        campaign: Option<Campaign>,
        _: &NoArgs,
        settings: &Settings,
        caller: &mut Caller<'_>,
    ) -> VerbResult<(VerbOutput, String)> {
        let (rule, file) = resolve_policy(name, campaign.as_ref(), caller.changes)?;
        let own = file.as_ref().map(|file| file.workload());
        let Some(campaign) = campaign.as_ref().or(own) else {
            return Err("a rule is run on a workload: give --workload FILE".into());
        };
        let is_other = own.is_some_and(|own| own.digest() != campaign.digest());
        let listener = |reached| caller.notify(Notice::Simulating("simulating", reached));
        let run = within_budget(simulate(campaign, rule, settings, listener))?;
        let judged = file.as_ref().filter(|_| !is_other && !run.interrupted);
        let verdicts = judged.map(|file| judge(file.artifact(), campaign, &run));
        let verdicts = verdicts.unwrap_or_default();
        let shortage = campaign.shortage();
        let mut notes = other_workload(is_other);
        notes.extend(shortage.map(|found| report::impossible(campaign, &found, WIDTH)));
        let answered = VerbOutput {
            table: report::simulation(campaign, &run, &verdicts, caller.width),
            notes,
            negative: verdicts.iter().any(|j| j.verdict == Verdict::Refuted),
            documents: Vec::new(),
        };
        let document = run_document(name, &report::of_run(campaign, &run), &verdicts)?;
        Ok((answered, document))
    }

    fn compare(
        campaign: Option<&Campaign>,
        query: &Comparing<'_>,
        _: &NoArgs,
        caller: &mut Caller<'_>,
    ) -> VerbResult<Compared> {
        let campaign = required_workload(campaign)?;
        caller.notify(Notice::Interruptible);
        let listener = |what: &str| caller.notify(Notice::Doing(what));
        let outcomes = verbs::compare(campaign, query, listener)?;
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
