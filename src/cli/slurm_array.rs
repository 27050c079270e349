//! A comparison as an array of Slurm's: scripts that run a shard a task, merge, and submit both.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use synth::document::is_standard_input;
use synth::kind::{Caller, Kind, Word};
use synth::simulation::Settings;
use synth::simulation::sweep::{Comparing, Header, Shard, Share, deal, quoted};

use crate::cli::output::emit;
use crate::cli::progress::Listener;
use crate::cli::question::{Question, read_with_text};
use crate::cli::{Common, Outcome, interrupt, tell, width};

#[derive(Args)]
#[command(after_long_help = ABOUT)]
pub struct Arguments<K: Kind> {
    #[command(flatten)]
    question: Question<K>,

    /// Shards, a task each [default: as many as leave each 30 s at least]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    shards: Option<u32>,

    /// The folder that scripts, parts and results go to; all nodes must see it
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,

    /// Overwrite scripts that are there
    #[arg(long)]
    force: bool,
}

const ABOUT: &str = "\
Examples:
  synth export slurm-array --workload models/section7.yaml --policies first-fit,fcfs --output sweep
  sh sweep/submit.sh
      the array, and behind it the job that merges: sweep/comparison.json, .csv and .html

Each policy runs for a moment, on one core, for the estimate. Names of files stay relative to where this
is typed; the program is the one that writes the scripts, unless the variable SYNTH names another.";

/// Slurm starts the tasks of an array about a second apart: shorter ones wait more than they work.
const LEAST_SECONDS: f64 = 30.0;

/// Most tasks of an array, where Slurm is not told otherwise (`MaxArraySize` less 1).
const MOST_TASKS: usize = 1000;

/// Each policy runs for the estimate until it has had so many events, or so long.
const PILOT: (u64, Duration) = (4_000_000, Duration::from_secs(1));

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
    // A task has one core: several shards side by side use cores better than one shard that spreads.
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global()?;
    let (workload, document) = read_with_text::<K>(file, common)?;
    let Some((header, rate)) = pilot::<K>(question, &workload, document, common)? else {
        tell(common, "Interrupted: nothing is written.");
        return Ok(interrupt::code());
    };
    let estimate = Estimate::new(&header, rate);
    let shards = arguments.shards.map(|shards| shards as usize);
    let shards = shards.unwrap_or_else(|| estimate.shards(&header));
    let cannot = |e| format!("cannot make the folder {}: {e}", arguments.output.display());
    std::fs::create_dir_all(&arguments.output).map_err(cannot)?;
    let folder = arguments.output.canonicalize().map_err(cannot)?;
    let array = Array {
        command: command::<K>(&header, question, common),
        estimate: estimate.told(&header, shards),
        shards,
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

/// Runs each policy for a moment at the highest load: what is compared, and events per second; none
/// where it was interrupted.
fn pilot<K: Kind>(
    question: &Question<K>,
    workload: &K::Described,
    document: String,
    common: &Common,
) -> Result<Option<(Header, f64)>, Box<dyn Error>> {
    let interrupt = interrupt::Later::new();
    let settings = question.settings(interrupt.flag());
    let short = Settings {
        events: PILOT.0,
        time: Some(PILOT.1),
        precision: f64::MIN_POSITIVE,
        ..settings.clone()
    };
    let share = Share {
        shard: Shard::new(1, 1).ok_or("there is one shard")?,
        kind: K::NAME.into(),
        extras: Vec::new(),
        document,
    };
    let file = question.file();
    let asked = |loads, settings, share| Comparing {
        file: &file,
        policies: &question.policies,
        changes: common.changes(),
        loads,
        settings,
        journal: None,
        share,
    };
    let whole = asked(&question.loads, &settings, None);
    let highest = whole.loads().iter().copied().reduce(f64::max);
    let highest: Vec<f64> = highest.into_iter().collect();
    let mut listener = Listener::new(common, &interrupt, Some(&short));
    let mut started = None;
    let mut caller = Caller {
        width: width(),
        changes: common.changes(),
        interrupt: interrupt.flag(),
        hears: &mut |word| {
            if matches!(word, Word::Comparing(_)) {
                started.get_or_insert_with(Instant::now);
            }
            listener.hear(word);
        },
        output: &mut std::io::sink(),
    };
    let asked = asked(&highest, &short, Some(&share));
    let compared = K::compare(Some(workload), &asked, &question.extras, &mut caller)?;
    if compared.is_interrupted() {
        return Ok(None);
    }
    let seconds = started.map_or(0.0, |started| started.elapsed().as_secs_f64());
    let text = compared.document()?;
    let ran: serde_json::Value = serde_json::from_str(&text)?;
    let cells = ran["cells"].as_array().into_iter().flatten();
    let events: u64 = cells.filter_map(|c| c["run"]["events"].as_u64()).sum();
    let header = Header {
        settings: (&settings).into(),
        loads: whole.loads().to_vec(),
        ..serde_json::from_str(&text)?
    };
    Ok(Some((header, events as f64 / seconds.max(1e-3))))
}

/// What a shard runs, without its number.
fn command<K: Kind>(header: &Header, question: &Question<K>, common: &Common) -> String {
    let mut extras = K::besides_cells(&question.extras);
    extras.extend(common.accept_changes.then(|| "--accept-changes".into()));
    let typed = header.command();
    let typed = typed.strip_prefix("synth ").unwrap_or(&typed);
    [vec![typed.to_owned()], extras].concat().join(" ")
}

/// What all cells are taken to need.
struct Estimate {
    events: u64,
    /// Events per second and core.
    rate: f64,
}

impl Estimate {
    fn new(header: &Header, rate: f64) -> Self {
        let events = header.cells().map(|(_, load)| header.work(load)).sum();
        Estimate { events, rate }
    }

    /// Seconds that the shard with the least work and that with the most need.
    fn seconds(&self, header: &Header, shards: usize) -> [f64; 2] {
        let mut work = vec![0; shards];
        for ((_, load), shard) in header.cells().zip(deal(header, shards)) {
            work[shard - 1] += header.work(load);
        }
        let ends = [work.iter().min(), work.iter().max()];
        ends.map(|events| events.map_or(0.0, |&events: &u64| events as f64 / self.rate))
    }

    /// The most shards that have enough to do.
    fn shards(&self, header: &Header) -> usize {
        let most = (self.events as f64 / self.rate / LEAST_SECONDS) as usize;
        let most = most.min(header.cells().count()).min(MOST_TASKS);
        let enough = |shards: &usize| self.seconds(header, *shards)[0] >= LEAST_SECONDS;
        (2..=most).rev().find(enough).unwrap_or(1)
    }

    fn told(&self, header: &Header, shards: usize) -> String {
        let cells = header.cells().count();
        let [least, most] = self.seconds(header, shards);
        let mut told = format!(
            "{cells} cells take about {} million events; at {} million a second and core, as measured here, that is {} s of one core. ",
            about(self.events as f64 / 1e6),
            about(self.rate / 1e6),
            about(self.events as f64 / self.rate),
        );
        told += &match shards {
            1 => "One shard: one machine is enough.".to_owned(),
            _ => format!(
                "{shards} shards: {} to {} s each.",
                about(least),
                about(most)
            ),
        };
        if shards > cells {
            let idle = shards - cells;
            told += &format!(" There are {cells} cells only: {idle} of them have none.");
        } else if shards > 1 && least < LEAST_SECONDS {
            told += " Slurm starts the tasks of an array about a second apart: fewer shards may be done as soon.";
        }
        if shards > MOST_TASKS {
            told += &format!(
                " Slurm takes arrays up to task {MOST_TASKS} unless its MaxArraySize says otherwise."
            );
        }
        told
    }
}

/// The scripts.
struct Array<'a> {
    command: String,
    estimate: String,
    shards: usize,
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
# Task i runs shard i of {shards}. {}
# A shard that was cut short, by its node or by its time, goes on where it was: sbatch --array={shards} shard.sbatch
set -eu
cd {}
synth=${{SYNTH:-{}}}
export RAYON_NUM_THREADS=${{SLURM_CPUS_PER_TASK:-1}}
i=$SLURM_ARRAY_TASK_ID
exec \"$synth\" {} --shard \"$i/{shards}\" --resume --output {folder}/\"part-$i.jsonl\"
",
            self.estimate,
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
        let (estimate, shards, at) = (&self.estimate, self.shards, shell(folder));
        format!(
            "{estimate}

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

/// A number that is not known well.
fn about(value: f64) -> String {
    match value < 10.0 {
        true => format!("{value:.1}"),
        false => format!("{value:.0}"),
    }
}

fn shell(path: &Path) -> String {
    quoted(&path.display().to_string())
}
