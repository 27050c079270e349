//! Policies as the files of other systems.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::kind::{Answered, Caller, Given};
use crate::multiresource::artifact::Checked;
use crate::multiresource::bridge::{bridgeable, export_slurm};

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
    /// The policy
    #[arg(value_name = "POLICY")]
    policy: PathBuf,

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

impl Export {
    /// Files that are read.
    pub fn files(&self) -> Vec<&Path> {
        let Export::Slurm(typed) = self;
        vec![&typed.policy]
    }

    /// Makes the files.
    pub fn run(&self, caller: &Caller<'_>) -> Given<Answered> {
        let Export::Slurm(typed) = self;
        typed.run(caller)
    }
}

impl Slurm {
    fn run(&self, caller: &Caller<'_>) -> Given<Answered> {
        let policy = Checked::read_with(&self.policy, caller.changes)?;
        if let Err(why) = bridgeable(&policy) {
            return Ok(Answered {
                table: why,
                negative: true,
                ..Answered::default()
            });
        }
        // The page is read elsewhere.
        let named = std::path::absolute(&self.policy)?;
        let files = export_slurm(&policy, &named, &self.partition)?;
        let folder = self.output.display();
        let documents: Vec<(PathBuf, String)> = files
            .into_iter()
            .map(|(name, text)| (self.output.join(name), text))
            .collect();
        let there = documents
            .iter()
            .map(|(file, _)| file)
            .find(|file| file.exists());
        if let Some(file) = there.filter(|_| !self.force) {
            return Err(format!(
                "{} is there already: choose another folder, or write over it with --force",
                file.display()
            )
            .into());
        }
        std::fs::create_dir_all(&self.output)
            .map_err(|e| format!("cannot make the folder {folder}: {e}"))?;
        let names: Vec<String> = documents
            .iter()
            .map(|(file, _)| format!("  {}", file.display()))
            .collect();
        Ok(Answered {
            table: format!(
                "{}\nRead {} first: it says in which order, how to try it with --dry-run, and how to go back.",
                names.join("\n"),
                self.output.join("README.md").display()
            ),
            documents,
            ..Answered::default()
        })
    }
}
