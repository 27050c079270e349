use std::path::{Path, PathBuf};

use crate::artifact::read_text;
use crate::document::display_name;
use crate::kind::{FileOf, Kind, NamesFiles as _, RunVerb, SynthesisAnswer, VerbResult};
use crate::report::{Report, valid_report};
use crate::typed::{Budget, PolicyFile, WorkloadFile, load};
use clap::Args;

use super::interrupt::{self, SignalFlag};
use super::output::{check_destinations, conclude, emit_all, is_stdout};
use super::progress::with_caller;
use super::terminal::{Common, NEGATIVE, Outcome, SUCCESS};
use super::workload::read_workload;

#[derive(Args)]
pub(super) struct SynthesizeArguments<K: Kind> {
    #[command(flatten)]
    workload: WorkloadFile<false>,

    #[command(flatten)]
    args: K::SynthesisArgs,

    /// Scale all arrival rates to this load ρ, such as 0.8
    #[arg(long, value_name = "ρ", allow_negative_numbers = true, value_parser = load)]
    load: Option<f64>,

    /// The file for the policy (`-`: standard output)
    ///
    /// By default, the policy is written to the standard output unless this is a terminal
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn synthesize<K: Kind>(arguments: &SynthesizeArguments<K>, common: &Common) -> Outcome {
    let (mut read, mut written) = arguments.args.files();
    written.push(arguments.output.as_deref().unwrap_or(Path::new("-")));
    read.extend(arguments.workload.typed());
    check_destinations(&read, &written)?;
    let interrupt = SignalFlag::new(&common.host);
    let answer = with_caller(common, &interrupt, |caller| {
        let workload = read_workload::<K>(arguments.workload.file()?, common)?;
        let workload = match arguments.load {
            Some(load) => K::at_load(&workload, load)?,
            None => workload,
        };
        K::synthesize(&workload, &arguments.args, caller)
    });
    let file = arguments.output.as_deref();
    // The summary is a result, unless the standard output is used for documents.
    let answered = |text: &Report, is_used: bool| -> VerbResult<()> {
        let text = text.text(common.host.width());
        match is_used {
            true => common.host.tell(&text),
            false => common.host.say(&format!("{text}\n"))?,
        }
        Ok(())
    };
    let is_shown = file.is_some() || !common.host.stdout_is_terminal();
    match answer? {
        SynthesisAnswer::Policy {
            artifact,
            summary,
            mut documents,
        } => {
            let policy = artifact.to_json()?;
            if is_shown {
                documents.insert(0, (file.unwrap_or(Path::new("-")).into(), policy));
            }
            let written = emit_all(&documents, common);
            if !common.quiet {
                answered(&summary, documents.iter().any(|(file, _)| is_stdout(file)))?;
            }
            written?;
            if !is_shown {
                common.tell(NOT_WRITTEN);
            }
            let code = interrupt.code_or(SUCCESS);
            if common.quiet && code != SUCCESS {
                let note = "Interrupted: the policy is the best one found so far.";
                common.host.tell(note);
            }
            Ok(code)
        }
        // A negative answer is a result, so it is also printed if --quiet is set.
        SynthesisAnswer::Refused { why, decided } => {
            answered(&why, is_shown && file.is_none_or(is_stdout))?;
            Ok(if decided { NEGATIVE } else { 2 })
        }
        SynthesisAnswer::Interrupted => {
            common.tell("Interrupted before a policy was selected. No file has been written.");
            Ok(interrupt::code())
        }
    }
}

const NOT_WRITTEN: &str = "The policy has not been written to a file. Use `--output FILE` to write it, or `-o -` to print it.";

#[derive(Args)]
pub(super) struct CheckArguments {
    #[command(flatten)]
    policy: PolicyFile,

    /// Also check that the policy was created for this workload
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
}

pub(super) fn check<K: Kind>(arguments: &CheckArguments, common: &Common) -> Outcome {
    let policy = &*arguments.policy.policy;
    let workload = arguments.workload.as_deref();
    check_destinations(&[&[policy], workload.as_slice()].concat(), &[])?;
    // The text is only read once, because the data from a pipe cannot be read again.
    let (name, text) = read_text(policy)?;
    match K::prove(&text)? {
        None => {}
        Some(Ok(proved)) => {
            return common.printed(&format!("{proved}\n"));
        }
        Some(Err(why)) => {
            common.printed(&format!("{name} is refused: {why}\n"))?;
            return Ok(NEGATIVE);
        }
    }
    let checked = FileOf::<K>::parse_with(&text, &name, common.changes())?;
    if let Some(file) = workload {
        let workload = read_workload::<K>(file, common)?;
        let findings = checked.artifact().differences_from(&workload);
        if !findings.is_empty() {
            let file = display_name(file);
            let findings = findings.iter().map(|own| format!("  {own}\n"));
            let findings: String = findings.collect();
            common.printed(&format!("{name} was not made for {file}:\n{findings}"))?;
            return Ok(NEGATIVE);
        }
    }
    let report = valid_report(&checked, &K::about(checked.workload()));
    common.printed(&format!("{}\n", report.text(common.host.width())))
}

pub(super) fn show<K: Kind>(policy: &PolicyFile, common: &Common) -> Outcome {
    let checked = FileOf::<K>::read_with(&policy.policy, common.changes())?;
    let report = K::show(&checked);
    common.printed(&format!("{}\n", report.text(common.host.width())))
}

#[derive(Args)]
pub(super) struct SimulateArguments<K: Kind> {
    /// A policy file (`-`: standard input), or a rule with `--workload`
    #[arg(value_name = "POLICY")]
    policy: PathBuf,

    /// Use this workload instead of the one in the policy file
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,

    #[command(flatten)]
    ways: K::SimulationArgs,

    #[command(flatten)]
    budget: Budget,

    /// Also write all results to this file as JSON (`-`: standard output)
    ///
    /// On the standard output, it replaces the table
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EVENTS: u64 = 200_000_000;

pub(super) fn simulate<K: Kind>(arguments: &SimulateArguments<K>, common: &Common) -> Outcome {
    let (mut read, mut written) = arguments.ways.files();
    read.extend(arguments.workload.as_deref());
    let policy = &*arguments.policy;
    read.push(policy);
    written.extend(arguments.output.as_deref());
    check_destinations(&read, &written)?;
    let interrupt = SignalFlag::new(&common.host);
    interrupt.listen();
    let settings = arguments.budget.settings(EVENTS, interrupt.flag());
    let workload = arguments.workload.as_deref();
    let workload = workload.map(|file| read_workload::<K>(file, common));
    let workload = workload.transpose()?;
    let policy = policy
        .to_str()
        .ok_or("the name of the policy is not valid UTF-8")?;
    let mut output = with_caller(common, &interrupt, |caller| {
        K::simulate(policy, workload, &arguments.ways, &settings, caller)
    })?;
    if let Some(file) = &arguments.output {
        let document = std::mem::take(&mut output.document);
        output.documents.push((file.clone(), document));
    }
    conclude(output, &interrupt, common)
}

pub(super) fn own(verb: &dyn RunVerb, common: &Common) -> Outcome {
    let (read, written) = verb.files();
    check_destinations(&read, &written)?;
    let interrupt = SignalFlag::new(&common.host);
    let output = with_caller(common, &interrupt, |caller| verb.run(caller))?;
    conclude(output, &interrupt, common)
}
