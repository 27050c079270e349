//! `synth judge` selects a queue order using a log, and evaluates it.

mod report;
mod results;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use itertools::{Itertools as _, chain};

use crate::judge::{
    ChosenRule, JudgeObjective, LogWindows, QueueRule, SelectionCriteria, WalkForward,
};
use crate::slurm::best_changes;
pub use results::Judged;
use results::JudgedSite;
use synth_slurm::configuration::SlurmSite;
use synth_slurm::rule::Facts;
use synth_slurm::{SiteArgs, SiteLog, is_live};
use synth_traces::replay::{Log, Speed};
use synth_typed::{fraction, part, positive, time};
use synth_verb::report::quoted;
use synth_verb::{Caller, Files, Notice, RunVerb, VerbOutput, VerbResult, document, files, refuse};

/// Test different queue orders using a log.
///
/// Each order is selected using the past and evaluated on the jobs that follow
#[derive(Args)]
#[command(after_long_help = ABOUT)]
pub struct Arguments {
    /// The log, which may be gzipped (`-`: standard input)
    #[arg(id = "trace", value_name = "LOG")]
    trace: PathBuf,

    /// The time after which a new rule is selected
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = time)]
    every: f64,

    /// The part of the log before the first selection
    ///
    /// The rest is used for the evaluation
    #[arg(long, value_name = "PART", default_value = "50%", value_parser = part)]
    past: f64,

    /// The metric to minimize
    #[arg(long, value_enum, default_value_t)]
    minimize: JudgeObjective,

    /// Limit the longest wait to this multiple of the current rule's
    ///
    /// The longest wait under the current rule in the past, multiplied by this number, is a
    /// guarantee for each selected rule, for example with 1.0 [default: 4 if jobs have limits and
    /// there is a rule that meets it]
    #[arg(long, value_name = "TIMES", value_parser = positive)]
    longest: Option<f64>,

    /// The current rule: easy, first-fit or strict, also as easy+sjf
    #[arg(long, value_name = "RULE", default_value = "easy", value_parser = QueueRule::parse)]
    now: QueueRule,

    /// Scale the arrival times to this load ρ, such as 0.9
    #[arg(long, value_name = "ρ", value_parser = fraction)]
    load: Option<f64>,

    /// Also write all results to this file as JSON (`-`: standard output)
    ///
    /// On the standard output, it replaces the tables
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write an HTML page with charts to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Also write the order selected on the whole log, for `synth analyze`
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Also print the tables of rules, windows, classes, estimates and lines
    #[arg(long, short)]
    verbose: bool,

    #[command(flatten)]
    site: SiteArgs,
}

impl Arguments {
    fn goal(&self, log: &Log) -> SelectionCriteria {
        let default = || SelectionCriteria::default_wait_bound(log);
        SelectionCriteria {
            objective: self.minimize,
            longest: self.longest.or_else(default),
            now: self.now,
        }
    }

    fn selected(&self, log: &Log, interrupt: &Arc<AtomicBool>) -> VerbResult<String> {
        let windows = LogWindows {
            past: 0.5,
            every: f64::INFINITY,
            speed: Speed::ONE,
        };
        let forward = WalkForward::new(log, windows, self.goal(log), interrupt)?;
        let choice = forward.best()?;
        if self.breaks(&choice) {
            let nearest = choice.point.name();
            return refuse(format!(
                "no order meets `--longest` for the whole log, and {nearest} comes closest; use a larger value for `--longest`"
            ));
        }
        Ok(choice.point.document()?)
    }

    /// Returns the log and the arguments for its site, as they are typed.
    fn typed(&self) -> String {
        let path = |path: &PathBuf| quoted(&path.display().to_string());
        let log = Some(&self.trace).filter(|log| !is_live(log)).map(path);
        let slurm = self.site.slurm.iter();
        let slurm = slurm.map(|own| format!("--slurm {}", path(own)));
        let reading = &self.site.reading;
        let named = [("partition", &reading.partition), ("user", &reading.user)];
        let named = named.into_iter().filter(|(_, names)| !names.is_empty());
        let named = named.map(|(name, names)| format!("--{name} {}", quoted(&names.join(","))));
        chain!(log, slurm, named).join(" ")
    }

    fn judged(
        &self,
        (log, name, site): (&Log, String, Option<(SlurmSite, Vec<Facts>)>),
        windows: LogWindows,
        interrupt: &Arc<AtomicBool>,
        listener: &mut dyn FnMut(&str),
    ) -> VerbResult<Judged> {
        let forward = WalkForward::new(log, windows, self.goal(log), interrupt)?;
        let site = match site {
            None => None,
            Some((site, facts)) => {
                listener("replaying the scheduler of the site");
                let of = (log, &site, facts);
                let results = best_changes(of, self.past, self.longest, interrupt)?;
                Some((site, results))
            }
        };
        let site = site.as_ref().map(|(site, results)| JudgedSite {
            site,
            results,
            typed: self.typed(),
        });
        Ok(Judged::of(&forward, name, site, listener)?)
    }

    fn breaks(&self, choice: &ChosenRule) -> bool {
        self.longest.is_some() && !choice.keeps
    }
}

const ABOUT: &str = "\
The evaluation walks forward over the log. To select the rule for a window, all candidates are replayed using the jobs \
before it. The rule then continues with the queue of the previous window. The candidates are backfilling rules with a different \
order of the queue, reservation for its first job, and estimate of the job sizes. The rules \"in hindsight\" \
are rules in common use, each of which is used for all windows. Whether one of them is better is not known in advance.";

impl RunVerb for Arguments {
    fn files(&self) -> Files<'_> {
        let written = [&self.output, &self.html, &self.policy];
        files(self.site.files(&self.trace), written.into_iter().flatten())
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        caller.notify(Notice::Interruptible);
        let interrupt = caller.interrupt.clone();
        let listener = &mut |what: &str| caller.notify(Notice::Doing(what));
        let SiteLog { log, name, site } = self.site.read(&self.trace, listener)?;
        if site.is_some() && self.load.is_some() {
            return refuse(
                "with a configuration of Slurm, the replay of the site is at the load of the log, so `--load` cannot be used",
            );
        }
        let speed = match self.load {
            None => Speed::ONE,
            Some(load) => Speed::near(load / log.load())
                .ok_or("it is not possible to scale the log to this load; use a value that is closer to the load of the log")?,
        };
        let windows = LogWindows {
            past: self.past,
            every: self.every,
            speed,
        };
        let policy = self.policy.as_ref().map(|file| -> VerbResult<_> {
            listener("selecting an order for the whole log");
            Ok((file.clone(), self.selected(&log, &interrupt)?))
        });
        let judged = match self.judged((&log, name, site), windows, &interrupt, listener) {
            Err(_) if interrupt.load(Ordering::Relaxed) => {
                return Ok(VerbOutput::interrupted_before("the last window"));
            }
            judged => judged?,
        };
        let mut windows = judged.windows.iter();
        let mut output = VerbOutput {
            report: report::report(&log, &judged, caller.command.clone()),
            documents: Vec::from_iter(policy.transpose()?),
            negative: windows.any(|window| self.breaks(&window.choice)),
            document: document("synth-judgement", &judged)?,
            ..VerbOutput::default()
        };
        output = output.written_to(self.html.as_ref(), self.output.as_ref())?;
        if !self.verbose {
            // The page contains all tables.
            output.report.sections.truncate(1);
        }
        Ok(output)
    }
}
