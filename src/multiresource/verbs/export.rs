//! Policies as the files of other systems.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::program::Program;
use crate::document::{is_standard_input, text_of};
use crate::kind::{
    Caller, Files, NamesFiles, RunVerb, VerbOutput, VerbResult, files, folder_for_results, refuse,
};
use crate::multiresource::artifact::Checked;
use crate::multiresource::bridge::{bridgeable, export_kueue, export_slurm, gangs};
use crate::multiresource::live::only_starts;
use crate::report::Section;
use crate::typed::PolicyFile;
use synth_slurm::order::{self, SlurmOrder};

/// Write files for other programs
#[derive(Args)]
pub struct Export {
    /// Which program
    #[command(subcommand)]
    to: To,
}

#[derive(Subcommand)]
enum To {
    /// What an administrator installs so that the policy decides when jobs of a Slurm partition start: job_submit.lua, lines
    /// for slurm.conf, the types of jobs, a systemd unit, and a page that says in which order, and how to go back
    Slurm(SlurmExport),
    /// What an administrator installs so that Slurm itself follows an order of jobs by limit, CPUs and wait, with nothing held
    /// and no process beside it: job_submit.lua, lines for slurm.conf, scripts that look and go back, and a page that says how
    SlurmPriority(SlurmPriority),
    /// What an administrator of a Kubernetes cluster installs so that the policy decides when jobs of Kueue start: queues that
    /// fit, a gate for Jobs, rights, the controller synth-kueue, and a page that says in which order, and how to go back
    Kueue(Kueue),
    /// The program whose optimum is the load, in the LP format: for any solver, to check the proof
    Lp(Program),
}

/// What is typed.
#[derive(Args)]
pub struct SlurmExport {
    #[command(flatten)]
    policy: PolicyFile,

    /// The partition (for slurm-priority also several with commas, which share nodes)
    #[arg(long, value_name = "NAME")]
    partition: String,

    #[command(flatten)]
    to: Folder,
}

/// What is typed.
#[derive(Args)]
pub struct Kueue {
    #[command(flatten)]
    policy: PolicyFile,

    /// The namespace of the jobs
    #[arg(long, value_name = "NAME", default_value = "default")]
    namespace: String,

    #[command(flatten)]
    to: Folder,
}

/// What is typed.
#[derive(Args)]
pub struct SlurmPriority {
    /// The order: a policy file of backfilling by limits, or a name: saf (smallest limit ×
    /// CPUs first), sjf (shortest limit first), widest (most CPUs first), wfp3
    #[arg(value_name = "POLICY")]
    policy: PathBuf,

    /// The partition (for slurm-priority also several with commas, which share nodes)
    #[arg(long, value_name = "NAME")]
    partition: String,

    #[command(flatten)]
    to: Folder,
}

/// Where it goes.
#[derive(Args)]
struct Folder {
    /// The folder that the files go to; it is created where there is none [default: slurm or kueue]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Write over files that are there
    #[arg(long)]
    force: bool,
}

impl NamesFiles for Export {
    fn files(&self) -> Files<'_> {
        let (read, written) = match &self.to {
            To::Slurm(typed) => (typed.policy.typed(), None),
            To::Kueue(typed) => (typed.policy.typed(), None),
            To::SlurmPriority(typed) => (Some(&*typed.policy).filter(|own| own.exists()), None),
            To::Lp(typed) => (typed.workload.typed(), Some(&*typed.output)),
        };
        files(read, written)
    }
}

impl RunVerb for Export {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        match &self.to {
            To::Slurm(typed) => typed.run(caller),
            To::Kueue(typed) => typed.run(caller),
            To::SlurmPriority(typed) => typed.run(caller),
            To::Lp(typed) => typed.run(caller),
        }
    }
}

impl SlurmExport {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let file = saved(
            &self.policy,
            "the service reads the policy from its file: save it, and give the file",
        )?;
        let policy = Checked::read_with(file, caller.changes)?;
        if let Err(why) = bridgeable(&policy) {
            return Ok(refusal(why));
        }
        // The page is read elsewhere.
        let named = std::path::absolute(file)?;
        let files = export_slurm(&policy, &named, &self.partition)?;
        let says = "how to try it with --dry-run, and how to go back";
        let mut written = self.to.filled("slurm", files, says)?;
        // What becomes of jobs of several nodes comes first.
        let gangs = gangs(&policy).replace("**", "");
        written
            .report
            .summary
            .insert(0, gangs.trim_end().to_owned());
        Ok(written)
    }
}

impl Kueue {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let file = saved(
            &self.policy,
            "the policy is copied from its file: save it, and give the file",
        )?;
        let policy = Checked::read_with(file, caller.changes)?;
        if let Err(why) = only_starts(&policy, "which a gate cannot do") {
            return Ok(refusal(why));
        }
        let files = export_kueue(&policy, &text_of(file)?, &self.namespace)?;
        self.to.filled("kueue", files, LOOK_AND_GO_BACK)
    }
}

impl SlurmPriority {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let order = if self.policy.exists() || is_standard_input(&self.policy) {
            SlurmOrder::of_policy(&Checked::read_with(&self.policy, caller.changes)?)
        } else {
            let name = self.policy.to_string_lossy();
            SlurmOrder::named(&name).ok_or_else(|| {
                format!(
                    "`{name}` is no file and no order: give a policy file, or saf (smallest limit × CPUs first), sjf (shortest limit first), widest (most CPUs first) or wfp3"
                )
            })?
        };
        let order = match order {
            Ok(order) => order,
            Err(why) => return Ok(refusal(why)),
        };
        let files = order::export(&order, &self.partition)?;
        self.to.filled("slurm", files, LOOK_AND_GO_BACK)
    }
}

/// What the page says of an installation that is looked at first.
const LOOK_AND_GO_BACK: &str = "how to look before anything changes, and how to go back";

/// Returns the file of a policy.
///
/// # Errors
/// For these reasons, when it is standard input.
fn saved<'a>(policy: &'a PolicyFile, why: &str) -> VerbResult<&'a Path> {
    match policy.file()? {
        file if is_standard_input(file) => refuse(why),
        file => Ok(file),
    }
}

fn refusal(why: String) -> VerbOutput {
    VerbOutput {
        report: why.into(),
        negative: true,
        ..VerbOutput::default()
    }
}

impl Folder {
    /// Returns the files as documents in the folder, which is there then. Nothing is overwritten unless that is requested.
    fn filled(
        &self,
        default: &str,
        files: Vec<(String, String)>,
        says: &str,
    ) -> VerbResult<VerbOutput> {
        let folder: &Path = self.output.as_deref().unwrap_or(Path::new(default));
        let mut output = VerbOutput::default();
        for (name, text) in files {
            output.documents.push((folder.join(name), text));
        }
        let names = || output.documents.iter().map(|(file, _)| file);
        if let Some(there) = names().find(|file| file.exists() && !self.force) {
            return refuse(format!(
                "{} is there already: choose another folder, or write over it with --force",
                there.display()
            ));
        }
        for folder in names().filter_map(|file| file.parent()) {
            folder_for_results(folder)?;
        }
        let listed = names().map(|file| format!("  {}", file.display()));
        let readme = folder.join("README.md");
        let first = format!(
            "Read {} first: it says in which order, {says}.",
            readme.display()
        );
        let section = Section {
            lines: listed.collect(),
            notes: vec![first],
            ..Section::default()
        };
        output.report.sections.push(section);
        Ok(output)
    }
}
