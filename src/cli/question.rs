//! What is compared, as it is typed; and the workload that a verb is about.

use std::collections::HashSet;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use synth::document::{Parsed, called, text_of};
use synth::kind::Kind;
use synth::kinds;
use synth::simulation::Settings;
use synth::typed::{Budget, WorkloadFile, below_one, fraction};

use super::terminal::tell_always;
use super::{Common, peek};

/// Policies on a workload, at loads.
#[derive(Args)]
pub struct Question<K: Kind> {
    #[command(flatten)]
    workload: WorkloadFile<false>,

    /// Policies to compare, by name (`synth rules` lists them) or policy file
    #[arg(long, value_delimiter = ',', required = true, value_name = "P,P,…")]
    pub policies: Vec<String>,

    /// Loads ρ to compare at, as fractions of what any policy can serve [default: 0.5,0.7,0.9]
    #[arg(long, value_delimiter = ',', value_parser = fraction, allow_negative_numbers = true, value_name = "ρ,ρ,…")]
    pub loads: Vec<f64>,

    #[command(flatten)]
    budget: Budget,

    #[command(flatten)]
    pub extras: K::Extras,
}

/// Events per cell, by default.
const EVENTS: u64 = 20_000_000;

impl<K: Kind> Question<K> {
    /// Finds mistakes before anything runs.
    pub fn check(&self) -> Result<(), Box<dyn Error>> {
        let mut seen = HashSet::new();
        if let Some(twice) = self.policies.iter().find(|name| !seen.insert(*name)) {
            return Err(format!("the policy {twice} is twice in --policies: give it once").into());
        }
        let mut seen = HashSet::new();
        if let Some(twice) = self.loads.iter().find(|load| !seen.insert(load.to_bits())) {
            return Err(format!("the load {twice} is twice in --loads: give it once").into());
        }
        if self.workload().is_none() && !self.is_replay() {
            return Err(
                "policies are compared on a workload: give --workload FILE, or FILE alone".into(),
            );
        }
        let mut loads = self.loads.iter().filter(|_| !self.is_replay());
        loads.try_for_each(|load| below_one(*load).map(drop))?;
        if self.budget.replications() < 2 {
            return Err("a comparison needs at least 2 replications to separate differences from chance: leave --replications out for 8".into());
        }
        Ok(())
    }

    /// The workload, where one was typed; its arrival rates are scaled to each load.
    pub fn workload(&self) -> Option<&Path> {
        self.workload.typed()
    }

    /// Whether policies are compared on a trace.
    pub fn is_replay(&self) -> bool {
        K::trace(&self.extras).is_some()
    }

    /// The workload's file, as it was named.
    pub fn file(&self) -> String {
        let file = self.workload();
        file.map_or(String::new(), |file| file.display().to_string())
    }

    /// When a cell ends, and what ends all.
    pub fn settings(&self, interrupt: Arc<AtomicBool>) -> Settings {
        Settings {
            interrupt,
            common_sizes: true,
            ..self.budget.settings(EVENTS)
        }
    }

    /// Files that are read.
    pub fn files(&self) -> Vec<&Path> {
        let policies = self.policies.iter().map(Path::new);
        policies.chain(self.workload()).collect()
    }
}

/// Reads a workload; warnings go to standard error.
pub fn read_workload<K: Kind>(
    file: &Path,
    common: &Common,
) -> Result<K::Described, Box<dyn Error>> {
    of_this_kind::<K>(file)?;
    Ok(warned(K::read(file)?, common))
}

/// The same with its text.
pub fn read_with_text<K: Kind>(
    file: &Path,
    common: &Common,
) -> Result<(K::Described, String), Box<dyn Error>> {
    of_this_kind::<K>(file)?;
    let name = called(file);
    let text = text_of(file).map_err(|e| format!("cannot read {name}: {e}"))?;
    Ok((warned(K::parse(&text, &name)?, common), text))
}

fn of_this_kind<K: Kind>(file: &Path) -> Result<(), Box<dyn Error>> {
    let Some(kind) = peek::named_in(file).filter(|kind| kind != K::WORKLOAD) else {
        return Ok(());
    };
    let file = called(file);
    Err(match kinds::named(&kind) {
        // It is misspelt: said with all other faults of the document.
        Some(near) if near == K::WORKLOAD => return Ok(()),
        Some(_) => format!(
            "{file} is a workload of the kind `{kind}`, and here one of the kind `{}` is wanted: a policy goes with workloads of its own kind",
            K::WORKLOAD
        ),
        None => format!(
            "{file}: unknown kind of workload `{kind}`; the kinds are {}",
            kinds::WORKLOADS.join(", ")
        ),
    }
    .into())
}

fn warned<W>(parsed: Parsed<W>, common: &Common) -> W {
    if !common.quiet {
        for warning in &parsed.warnings {
            tell_always(warning);
        }
    }
    parsed.workload
}
