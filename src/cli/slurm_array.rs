//! A comparison as an array of Slurm's: scripts that run a shard a task, merge, and submit both.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use synth::document::is_standard_input;
use synth::kind::Kind;
use synth::simulation::sweep::{Comparing, quoted};

use super::output::emit;
use super::question::{Question, read_workload};
use super::{Common, Outcome};

#[derive(Args)]
#[command(after_long_help = ABOUT)]
pub struct Arguments<K: Kind> {
    #[command(flatten)]
    question: Question<K>,

    /// Shards, a task each; Slurm takes 1000 of an array unless its MaxArraySize says otherwise
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    shards: u32,

    /// The folder that scripts, parts and results go to; all nodes must see it
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,

    /// Overwrite scripts that are there
    #[arg(long)]
    force: bool,
}

const ABOUT: &str = "\
Examples:
  synth export slurm-array --workload models/section7.yaml --policies first-fit,fcfs --shards 6 --output sweep
  sh sweep/submit.sh
      the array, and behind it the job that merges: sweep/comparison.json, .csv and .html

A cell, a policy at a load, takes about as long as `synth compare` with that policy and load alone. Names of files
stay relative to where this is typed; the program is the one that writes the scripts, unless the variable SYNTH
names another.";

pub fn run<K: Kind>(arguments: &Arguments<K>, common: &Common) -> Outcome {
    let question = &arguments.question;
    question.check()?;
    let Some(file) = question.workload().filter(|_| !question.is_replay()) else {
        return Err("a replay goes through its trace once and has no shards: leave --trace out, and give --workload FILE".into());
    };
    if question.files().into_iter().any(is_standard_input) {
        return Err("each task reads the files again, and standard input is read once: save it, and give the file".into());
    }
    let scripts = ["shard.sbatch", "merge.sbatch", "submit.sh"];
    let there = scripts.map(|name| arguments.output.join(name));
    if let Some(there) = there.iter().find(|path| path.exists() && !arguments.force) {
        let why = "is there already: give --force to overwrite it, or choose another --output";
        return Err(format!("{} {why}", there.display()).into());
    }
    // Its faults are told here, and not by each task.
    read_workload::<K>(file, common)?;
    let (file, settings) = (question.file(), question.settings(Arc::default()));
    let asked = Comparing {
        file: &file,
        policies: &question.policies,
        changes: common.changes(),
        loads: &question.loads,
        settings: &settings,
        journal: None,
        share: None,
    };
    let mut command = vec![asked.arguments()];
    command.extend(K::besides_cells(&question.extras));
    command.extend(common.accept_changes.then(|| "--accept-changes".into()));
    let cannot = |e| format!("cannot make the folder {}: {e}", arguments.output.display());
    std::fs::create_dir_all(&arguments.output).map_err(cannot)?;
    let folder = arguments.output.canonicalize().map_err(cannot)?;
    let array = Array {
        command: command.join(" "),
        cells: question.policies.len() * asked.loads().len(),
        shards: arguments.shards,
        folder: &folder,
        from: std::env::current_dir()?,
        program: std::env::current_exe()?,
    };
    let texts = [array.shard(), array.merge(), array.submit()];
    for (path, text) in there.iter().zip(&texts) {
        emit(Some(path), text)?;
    }
    emit(None, &array.told(&arguments.output))?;
    Ok(ExitCode::SUCCESS)
}

/// The scripts.
struct Array<'a> {
    /// What a shard runs, without its number.
    command: String,
    cells: usize,
    shards: u32,
    folder: &'a Path,
    from: PathBuf,
    program: PathBuf,
}

impl Array<'_> {
    fn shard(&self) -> String {
        let (shards, folder) = (self.shards, shell(self.folder));
        format!(
            "#!/bin/bash
#SBATCH --job-name=synth-compare
#SBATCH --array=1-{shards}
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=log-%a.txt
# Task i runs shard i of {shards}.
# A shard that was cut short, by its node or by its time, goes on where it was: sbatch --array={shards} shard.sbatch
set -eu
cd {}
synth=${{SYNTH:-{}}}
export RAYON_NUM_THREADS=${{SLURM_CPUS_PER_TASK:-1}}
i=$SLURM_ARRAY_TASK_ID
exec \"$synth\" {} --shard \"$i/{shards}\" --resume --output {folder}/\"part-$i.jsonl\"
",
            shell(&self.from),
            shell(&self.program),
            self.command,
        )
    }

    fn merge(&self) -> String {
        let folder = shell(self.folder);
        format!(
            "#!/bin/bash
#SBATCH --job-name=synth-merge
#SBATCH --output=log-merge.txt
# Says which shards are missing, if any; else gives what one machine would have given.
set -eu
synth=${{SYNTH:-{}}}
cd {folder}
exec \"$synth\" merge part-*.jsonl --output comparison.json --csv comparison.csv --html comparison.html
",
            shell(&self.program),
        )
    }

    /// What to type now; the folder as it was named.
    fn told(&self, folder: &Path) -> String {
        let (cells, shards, at) = (self.cells, self.shards, shell(folder));
        format!(
            "{cells} cells in {shards} shards.

All of it:         sh {at}/submit.sh
One shard again:   cd {at} && sbatch --array={shards} shard.sbatch, and once it is done: sbatch merge.sbatch
Results:           {at}/comparison.json, .csv and .html
"
        )
    }

    fn submit(&self) -> String {
        format!(
            "#!/bin/sh
# Submits the array, and the job that merges once all of its tasks are done.
set -eu
cd {}
array=$(sbatch --parsable \"$@\" shard.sbatch)
array=${{array%%;*}}
merge=$(sbatch --parsable --dependency=\"afterok:$array\" --kill-on-invalid-dep=yes \"$@\" merge.sbatch)
echo \"array $array, then merge ${{merge%%;*}}\"
",
            shell(self.folder)
        )
    }
}

fn shell(path: &Path) -> String {
    quoted(&path.display().to_string())
}
