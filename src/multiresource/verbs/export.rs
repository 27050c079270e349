//! Policies as the files of other systems.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::document::is_standard_input;
use crate::kind::{Caller, Files, NamesFiles, OwnVerb, VerbOutput, VerbResult};
use crate::multiresource::artifact::Checked;
use crate::multiresource::bridge::{bridgeable, export_slurm, gangs};
use crate::typed::PolicyFile;

/// Which program.
#[derive(Subcommand)]
pub enum Export {
    /// What an administrator installs so that the policy decides when jobs of a Slurm partition start: job_submit.lua, lines
    /// for slurm.conf, the types of jobs, a systemd unit, and a page that says in which order, and how to go back
    Slurm(Slurm),
}

/// What is typed.
#[derive(Args)]
pub struct Slurm {
    #[command(flatten)]
    policy: PolicyFile,

    /// The partition
    #[arg(long, value_name = "NAME")]
    partition: String,

    /// The folder that the files go to; it is made where there is none
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,

    /// Write over files that are there
    #[arg(long)]
    force: bool,
}

impl NamesFiles for Export {
    fn files(&self) -> Files<'_> {
        let Export::Slurm(typed) = self;
        (typed.policy.typed().into_iter().collect(), Vec::new())
    }
}

impl OwnVerb for Export {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let Export::Slurm(typed) = self;
        let file = typed.policy.file()?;
        if is_standard_input(file) {
            return Err(
                "the service reads the policy from its file: save it, and give the file".into(),
            );
        }
        let policy = Checked::read_with(file, caller.changes)?;
        if let Err(why) = bridgeable(&policy) {
            return Ok(VerbOutput {
                table: why,
                negative: true,
                ..VerbOutput::default()
            });
        }
        // The page is read elsewhere.
        let named = std::path::absolute(file)?;
        let folder = &typed.output;
        let files = export_slurm(&policy, &named, &typed.partition)?.into_iter();
        let documents: Vec<(PathBuf, String)> = files
            .map(|(name, text)| (folder.join(name), text))
            .collect();
        let mut names = documents.iter().map(|(file, _)| file);
        if let Some(there) = names.find(|file| file.exists() && !typed.force) {
            return Err(format!(
                "{} is there already: choose another folder, or write over it with --force",
                there.display()
            )
            .into());
        }
        std::fs::create_dir_all(folder)
            .map_err(|e| format!("cannot make the folder {}: {e}", folder.display()))?;
        let names = documents
            .iter()
            .map(|(file, _)| format!("  {}\n", file.display()));
        let mut table = format!(
            "{}\n{}",
            gangs(&policy).replace("**", ""),
            names.collect::<String>()
        );
        table += &format!(
            "Read {} first: it says in which order, how to try it with --dry-run, and how to go back.",
            folder.join("README.md").display()
        );
        Ok(VerbOutput {
            table,
            documents,
            ..VerbOutput::default()
        })
    }
}
