mod report;
mod results;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;

use super::SEED;
use crate::judge::{ChosenRule, Forward, Goal, JudgeObjective, LogWindows, RulePoint};
pub use results::Judged;
use results::Judging;
use synth_traces::replay::{Log, Speed};
use synth_traces::trace::{self, Source};
use synth_typed::{fraction, part, positive, time};
use synth_verb::{
    Caller, Files, NamesFiles, Notice, RunVerb, VerbOutput, VerbResult, document, files, refuse,
};

/// Backtest queue orders on a log: selected on the past, evaluated on the jobs that follow
#[derive(Args)]
#[command(after_help = ABOUT)]
pub struct Arguments {
    /// The log, plain or gzip-compressed (`-`: standard input)
    #[arg(id = "trace", value_name = "LOG")]
    trace: PathBuf,

    /// Select a new rule after each period of this length
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = time)]
    every: f64,

    /// Fraction of the log before the first selection; the rest is evaluated
    #[arg(long, value_name = "PART", default_value = "50%", value_parser = part)]
    past: f64,

    /// The metric to minimize
    #[arg(long, value_enum, requires = "trace", default_value_t)]
    minimize: JudgeObjective,

    /// Guarantee: no job waits longer than this many times the longest wait of the current rule on
    /// the past, such as 1.0 [default: 4 if jobs have limits and some rule keeps it]
    #[arg(long, value_name = "TIMES", requires = "trace", value_parser = positive)]
    longest: Option<f64>,

    /// The current rule: easy, first-fit or strict, optionally with an order as in easy+sjf
    #[arg(long, value_name = "RULE", requires = "trace", default_value = "easy", value_parser = RulePoint::parse)]
    now: RulePoint,

    /// Scale the arrival times to this load
    #[arg(long, value_name = "ρ", value_parser = fraction)]
    load: Option<f64>,

    /// Also write all results as JSON to this file (`-`: standard output, in place of the tables)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write an HTML page with charts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Also select an order on the whole log and write it as a policy for `synth analyze`
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    #[command(flatten)]
    reading: trace::ReadArgs,
}

impl Arguments {
    fn goal(&self, log: &Log) -> Goal {
        Goal {
            objective: self.minimize,
            longest: self.longest.or_else(|| Goal::usual_promise(log)),
            now: self.now,
        }
    }

    fn selected(&self, log: &Log, interrupt: &Arc<AtomicBool>) -> VerbResult<String> {
        let windows = LogWindows {
            past: 0.5,
            every: f64::INFINITY,
            speed: Speed::ONE,
        };
        let forward = Forward::new(log, windows, self.goal(log), interrupt)?;
        let choice = forward.best()?;
        if self.breaks(&choice) {
            let nearest = choice.point.name();
            return refuse(format!(
                "no order keeps --longest on the whole log; {nearest} comes closest: allow a longer wait"
            ));
        }
        Ok(choice.point.document()?)
    }

    fn breaks(&self, choice: &ChosenRule) -> bool {
        self.longest.is_some() && !choice.keeps
    }
}

const ABOUT: &str = "\
The evaluation walks forward over the log: the rule of each window is selected by replaying candidates on the jobs \
before it, and takes over the queue of its predecessor. Candidates are backfilling rules that differ in \
the order of the queue, in the reservation for its head, and in the estimate of job sizes. Rules \"in hindsight\" \
are rules in common use, each on all windows: that one of them would have been better is known only afterwards.";

impl NamesFiles for Arguments {
    fn files(&self) -> Files<'_> {
        let written = [&self.output, &self.html, &self.policy];
        files([&self.trace], written.into_iter().flatten())
    }
}

impl RunVerb for Arguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        caller.notify(Notice::Interruptible);
        let interrupt = caller.interrupt.clone();
        let listener = &mut |what: &str| caller.notify(Notice::Doing(what));
        let (source, reading) = (Source::named(&self.trace), self.reading.options()?);
        let (log, file) = Log::of_source(&source, &reading, listener)?;
        let speed = match self.load {
            None => Speed::ONE,
            Some(load) => Speed::near(load / log.load())
                .ok_or("the log cannot be scaled to this load: choose one closer to its own")?,
        };
        let judging = Judging {
            log: &log,
            file,
            goal: self.goal(&log),
            windows: LogWindows {
                past: self.past,
                every: self.every,
                speed,
            },
            seed: SEED,
            interrupt: &interrupt,
        };
        let policy = self.policy.as_ref().map(|file| -> VerbResult<_> {
            listener("selecting an order on the whole log");
            Ok((file.clone(), self.selected(&log, &interrupt)?))
        });
        let judged = match judging.run(listener) {
            Err(_) if interrupt.load(Ordering::Relaxed) => {
                return Ok(VerbOutput::interrupted_before("the last window"));
            }
            judged => judged?,
        };
        let mut windows = judged.windows.iter();
        let output = VerbOutput {
            report: report::report(&log, &judged, caller.command.clone()),
            documents: Vec::from_iter(policy.transpose()?),
            negative: windows.any(|window| self.breaks(&window.choice)),
            document: document("synth-judgement", &judged)?,
            ..VerbOutput::default()
        };
        output.written_to(self.html.as_ref(), self.output.as_ref())
    }
}
