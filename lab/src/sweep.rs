//! This module computes the mean response time for many switching rates.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use clap::Args;
use itertools::Itertools as _;

use synth::document::{display_name, text_of};
use synth::kind::{Caller, Files, Notice, RunVerb, VerbOutput, VerbResult, files, refuse, table};
use synth::multiresource::artifact::{Family, MsrConfig, Preemption, Route};
use synth::multiresource::policy::parse_custom_policy;
use synth::multiresource::synthesis::{SweepPoint, SynthesisOptions, sweep_switching_rates};
use synth::multiresource::workload::Workload;
use synth::report::plot::{Chart, Curve, Point, Scale};
use synth::report::{Csv, Report};
use synth::typed::{WorkloadFile, positive, seconds, time};

/// Compute the cost as a function of the switching rate for each route, as CSV and as a chart
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    workload: WorkloadFile,

    /// A policy with your own schedules, a YAML file as for `synth analyze`
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Whether a running job can be preempted if the schedule changes
    #[arg(long, value_enum, default_value_t = Preemption::None)]
    preemption: Preemption,

    /// The setup rate γ [1/time unit] of `--preemption setup`
    #[arg(long, value_name = "γ", value_parser = positive, allow_negative_numbers = true)]
    setup_rate: Option<f64>,

    /// Only use the given route
    #[arg(long)]
    route: Option<Route>,

    /// The effort for the exact analysis, as in a synthesis
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    effort: f64,

    /// The number of switching rates for each route, in a log scale around the best rate, which is
    /// added
    #[arg(long, value_name = "N", default_value = "40", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    points: u64,

    /// The time limit, in seconds or with a unit such as 10min.
    ///
    /// If it is reached, the results so far are reported
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<f64>,

    /// The file that the table is written to as CSV [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write an HTML page with the curves to the given file (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl RunVerb for Arguments {
    fn files(&self) -> Files<'_> {
        let read = self
            .workload
            .typed()
            .into_iter()
            .chain(self.policy.as_deref());
        files(read, self.output.iter().chain(&self.html))
    }

    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let workload = caller.known(Workload::read(self.workload.file()?)?);
        let options = SynthesisOptions {
            setup_rate: self.setup_rate,
            route: self.route,
            effort: self.effort,
            end: self.time.map(|limit| Instant::now() + seconds(limit)),
            ..SynthesisOptions::new(self.preemption)
        };
        caller.notify(Notice::Doing("solving the program"));
        let (points, interrupt) = (self.points as usize, Arc::clone(&caller.interrupt));
        let begun = || {
            caller.notify(Notice::Interruptible);
            caller.notify(Notice::Doing("evaluating switching rates"));
        };
        let own = self.policy.as_deref();
        let own = own
            .map(|file| read_schedules(file, &workload))
            .transpose()?;
        let swept = sweep_switching_rates(&workload, &options, own, points, &interrupt, begun)?;
        let cut = match options.end {
            _ if interrupt.load(Ordering::Relaxed) => Some("Interrupted"),
            Some(end) if Instant::now() >= end => Some("Time limit reached"),
            _ => None,
        };
        let count = swept.len();
        let note = |why| format!("{why}. Only {count} switching rates have been computed.");
        let mut answered = VerbOutput::default();
        answered.notes.extend(cut.map(note));
        if swept.is_empty() {
            return match cut {
                Some(_) => Ok(answered),
                None => refuse(
                    "there is a single schedule for all types, so the policy does not switch and there is no result",
                ),
            };
        }
        let csv = sweep_csv(&workload, &swept)?;
        if let Some(file) = &self.html {
            let page = sweep_page(&workload, &swept, caller.command.clone())?;
            answered.documents.push((file.clone(), page));
        }
        match &self.output {
            Some(file) => answered.documents.push((file.clone(), csv)),
            None => answered.report = VerbOutput::of_table(csv).report,
        }
        Ok(answered)
    }
}

fn read_schedules(file: &Path, workload: &Workload) -> VerbResult<MsrConfig> {
    let (name, text) = (display_name(file), text_of(file)?);
    match parse_custom_policy(&text, &name, &workload.clone().into())? {
        Family::Msr(own) => Ok(own),
        _ => refuse(format!(
            "{name} has no schedules; use a policy with the key `msr`"
        )),
    }
}

fn sweep_csv(workload: &Workload, swept: &[SweepPoint]) -> VerbResult<String> {
    let unit = workload.time_unit();
    let mut table = Csv::titled([
        "route".to_owned(),
        format!("switching_rate [1/{unit}]"),
        format!("mean_response [{unit}]"),
        format!("weighted_response [{unit}]"),
        format!("lower_bound [{unit}]"),
        format!("approximation [{unit}]"),
        format!("upper_bound [{unit}]"),
    ])?;
    let exact = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    for point in swept {
        table.row([
            &point.route.to_string(),
            &point.switching_rate.to_string(),
            &exact(point.mean_response),
            &exact(point.weighted_response),
            &point.lower.to_string(),
            &point.approximation.to_string(),
            &point.upper.to_string(),
        ])?;
    }
    table.text()
}

fn value(point: &SweepPoint) -> f64 {
    point.mean_response.unwrap_or(point.approximation)
}

/// A value is not shown if it is larger than the minimum by this factor.
const DRAWN: f64 = 300.0;

/// If there is no exact value for one of the points, the legend says that the curve is approximate.
fn sweep_page(workload: &Workload, swept: &[SweepPoint], command: String) -> VerbResult<String> {
    let unit = workload.time_unit();
    let each = swept.iter();
    let by_route = each.into_group_map_by(|point| point.route.to_string());
    let routes = by_route.into_iter().sorted_by(|a, b| a.0.cmp(&b.0));
    let routes = routes.map(|(route, points)| {
        let is_exact = points.iter().all(|point| point.mean_response.is_some());
        let how = if is_exact { "" } else { " (approximation)" };
        (format!("{route}{how}"), points)
    });
    let routes = routes.collect_vec();
    let least = swept.iter().map(value).fold(f64::INFINITY, f64::min);
    let curves = routes.iter().enumerate().map(|(n, (label, points))| {
        let points = points.iter();
        let points = points.map(|point| Point::exact(point.switching_rate, value(point)));
        let shown = points.filter(|p| p.value <= DRAWN * least);
        Curve::line(n, label, shown.collect())
    });
    let title = format!("Mean response time [{unit}]");
    let across = format!("α [1/{unit}]");
    let chart = Chart::around(&title, [&across, ""], [Scale::Log; 2], curves.collect());
    let best = routes.iter().filter_map(|(route, points)| {
        let best = points.iter().min_by(|a, b| value(a).total_cmp(&value(b)));
        Some((route, best?))
    });
    let mut section = table!("Best switching rate of each route", best, (route, best) => {
        "route" => route,
        format!("E[T] [{unit}]") => value(best),
        format!("at α [1/{unit}]") => best.switching_rate,
    });
    section.figures.extend(chart.figure());
    let report = Report {
        title: "The mean response time for each switching rate".into(),
        sections: vec![section],
        command,
        ..Report::default()
    };
    report.page()
}
