//! Policies as the files of other systems.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::program::Program;
use crate::document::{is_standard_input, text_of};
use crate::kind::{Caller, Files, NamesFiles, Run, VerbOutput, VerbResult, folder_for_results};
use crate::multiresource::artifact::Checked;
use crate::multiresource::bridge::{bridgeable, export_kueue, export_slurm, gangs};
use crate::multiresource::live::only_starts;
use crate::typed::PolicyFile;
use synth_slurm::order::{self, Order};

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
    Slurm(Slurm),
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
pub struct Slurm {
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
        let mut written = Vec::new();
        let read = match &self.to {
            To::Slurm(typed) => typed.policy.typed(),
            To::Kueue(typed) => typed.policy.typed(),
            To::SlurmPriority(typed) => typed.policy.exists().then_some(&*typed.policy),
            To::Lp(typed) => {
                written.push(&*typed.output);
                typed.workload.typed()
            }
        };
        (read.into_iter().collect(), written)
    }
}

impl Run for Export {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        match &self.to {
            To::Slurm(typed) => typed.run(caller),
            To::Kueue(typed) => typed.run(caller),
            To::SlurmPriority(typed) => typed.run(caller),
            To::Lp(typed) => typed.run(caller),
        }
    }
}

impl Slurm {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let file = self.policy.file()?;
        if is_standard_input(file) {
            return Err(
                "the service reads the policy from its file: save it, and give the file".into(),
            );
        }
        let policy = Checked::read_with(file, caller.changes)?;
        if let Err(why) = bridgeable(&policy) {
            return Ok(refusal(why));
        }
        // The page is read elsewhere.
        let named = std::path::absolute(file)?;
        let files = export_slurm(&policy, &named, &self.partition)?;
        let written = self.to.filled(
            "slurm",
            files,
            "how to try it with --dry-run, and how to go back",
        )?;
        // What becomes of jobs of several nodes comes first.
        let gangs = gangs(&policy).replace("**", "");
        let table = format!("{gangs}\n{}", written.table);
        Ok(VerbOutput { table, ..written })
    }
}

impl Kueue {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let file = self.policy.file()?;
        if is_standard_input(file) {
            return Err("the policy is copied from its file: save it, and give the file".into());
        }
        let policy = Checked::read_with(file, caller.changes)?;
        if let Err(why) = only_starts(&policy, "which a gate cannot do") {
            return Ok(refusal(why));
        }
        let written = text_of(file)?;
        let files = export_kueue(&policy, &written, &self.namespace)?;
        self.to.filled(
            "kueue",
            files,
            "how to look before anything changes, and how to go back",
        )
    }
}

impl SlurmPriority {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let order = if self.policy.exists() || is_standard_input(&self.policy) {
            Order::of_policy(&Checked::read_with(&self.policy, caller.changes)?)
        } else {
            let name = self.policy.to_string_lossy();
            Order::named(&name).ok_or_else(|| {
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
        self.to.filled(
            "slurm",
            files,
            "how to look before anything changes, and how to go back",
        )
    }
}

fn refusal(why: String) -> VerbOutput {
    VerbOutput {
        table: why,
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
        let documents = files.into_iter();
        let documents: Vec<(PathBuf, String)> = documents
            .map(|(name, text)| (folder.join(name), text))
            .collect();
        let mut names = documents.iter().map(|(file, _)| file);
        if let Some(there) = names.find(|file| file.exists() && !self.force) {
            return Err(format!(
                "{} is there already: choose another folder, or write over it with --force",
                there.display()
            )
            .into());
        }
        for folder in documents.iter().filter_map(|(file, _)| file.parent()) {
            folder_for_results(folder)?;
        }
        let names = documents
            .iter()
            .map(|(file, _)| format!("  {}\n", file.display()));
        let mut table = names.collect::<String>();
        table += &format!(
            "Read {} first: it says in which order, {says}.",
            folder.join("README.md").display()
        );
        Ok(VerbOutput {
            table,
            documents,
            ..VerbOutput::default()
        })
    }
}
