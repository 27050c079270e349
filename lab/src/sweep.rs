//! The cost over the switching rate, as CSV and as a page.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use clap::Args;
use itertools::Itertools as _;

use synth::kind::{
    Caller, Files, NamesFiles, Notice, RunVerb, VerbOutput, VerbResult, files, refuse,
};
use synth::multiresource::artifact::{Preemption, Route};
use synth::multiresource::synthesis::{self, SweepPoint, SynthesisOptions};
use synth::multiresource::workload::Workload;
use synth::report::plot::{Axis, Curve, Drawn, Panel, Point, Scale, lines};
use synth::report::{Csv, Page, Section, Shown, number};
use synth::typed::{WorkloadFile, positive, seconds, time};

/// Evaluate the cost over the switching rate, for each route: CSV, and a picture
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    workload: WorkloadFile,

    /// What may happen to a running job when the schedule changes
    #[arg(long, value_enum, default_value_t = Preemption::None)]
    preemption: Preemption,

    /// γ, the rate of setups [1/time unit]; needed with `--preemption setup`
    #[arg(long, value_name = "γ", value_parser = positive, allow_negative_numbers = true)]
    setup_rate: Option<f64>,

    /// One route only
    #[arg(long)]
    route: Option<Route>,

    /// How much work may go into exact analysis, as for a synthesis
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    effort: f64,

    /// Switching rates for each route, on a logarithmic scale around the best, which is added
    #[arg(long, value_name = "N", default_value = "40", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    points: u64,

    /// Seconds, or such as 10min, that all of it may take: the rates that were evaluated by then are told
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<f64>,

    /// Where the table goes, as CSV; standard output if not given
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Also write a page with the curves (`-`: to standard output)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl NamesFiles for Arguments {
    fn files(&self) -> Files<'_> {
        files(self.workload.typed(), self.output.iter().chain(&self.html))
    }
}

impl RunVerb for Arguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let parsed = Workload::read(self.workload.file()?)?;
        for warning in &parsed.warnings {
            caller.notify(Notice::Known(warning));
        }
        let workload = parsed.workload;
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
        let swept = synthesis::sweep(&workload, &options, points, &interrupt, begun)?;
        let cut = match options.end {
            _ if interrupt.load(Ordering::Relaxed) => Some("Interrupted"),
            Some(end) if Instant::now() >= end => Some("The time is over"),
            _ => None,
        };
        let note = cut.map(|why| format!("{why}: {} switching rates were evaluated.", swept.len()));
        let mut answered = VerbOutput::default();
        answered.notes.extend(note);
        if swept.is_empty() {
            return match cut {
                Some(_) => Ok(answered),
                None => refuse(
                    "there is nothing to sweep: one schedule serves all types, and is never left",
                ),
            };
        }
        let csv = sweep_csv(&workload, &swept)?;
        if let Some(file) = &self.html {
            let page = sweep_page(&workload, &swept)?;
            answered.documents.push((file.clone(), page));
        }
        match &self.output {
            Some(file) => answered.documents.push((file.clone(), csv)),
            None => answered.table = csv,
        }
        Ok(answered)
    }
}

/// Writes one line a point; empty where there is no exact value.
///
/// # Errors
/// When the text cannot be put together.
fn sweep_csv(workload: &Workload, swept: &[SweepPoint]) -> Drawn<String> {
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

/// Times above this many times the least are not drawn.
const DRAWN: f64 = 300.0;

/// Mean response time over the switching rate, a curve for each route: exact, or the
/// approximation (which the legend says) where a point has no exact value.
///
/// # Errors
/// When the page cannot be rendered.
fn sweep_page(workload: &Workload, swept: &[SweepPoint]) -> Drawn<String> {
    let unit = workload.time_unit();
    let by_route = swept.iter().chunk_by(|point| point.route);
    let routes = by_route.into_iter().map(|(route, points)| {
        let points: Vec<&SweepPoint> = points.collect();
        let is_exact = points.iter().all(|point| point.mean_response.is_some());
        let how = if is_exact { "" } else { " (approximation)" };
        (format!("{route}{how}"), points)
    });
    let routes: Vec<(String, Vec<&SweepPoint>)> = routes.collect();
    let least = swept.iter().map(value).fold(f64::INFINITY, f64::min);
    let curve = |(n, (_, points)): (usize, &(String, Vec<&SweepPoint>))| {
        let points = points.iter();
        let points = points.map(|point| Point::exact(point.switching_rate, value(point)));
        Curve::new(n, points.filter(|p| p.value <= DRAWN * least).collect())
    };
    let curves: Vec<Curve> = routes.iter().enumerate().map(curve).collect();
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let x = Axis::around(&format!("α [1/{unit}]"), Scale::Log, points().map(|p| p.at));
    let y = Axis::around("", Scale::Log, points().map(|p| p.value));
    let title = format!("Mean response time [{unit}], log scale");
    let description = format!("{title}, over the switching rate");
    let row = |(route, points): &(String, Vec<&SweepPoint>)| {
        let best = points.iter().min_by(|a, b| value(a).total_cmp(&value(b)));
        let cells = best.map_or([f64::NAN; 2], |best| [value(best), best.switching_rate]);
        let cells = cells.map(|cell| Shown::plain(number(cell)));
        (route.clone(), cells.into())
    };
    let page = Page {
        what: "The best switching rate of each route".into(),
        caption: "A route in each row",
        columns: vec![format!("E[T] [{unit}]"), format!("at α [1/{unit}]")],
        rows: routes.iter().map(row).collect(),
        sections: vec![Section::new(
            "How does it change with the switching rate?",
            "A line for each route between the schedules.",
            vec![Panel::new(title, description, lines(&x, &y, &curves))],
        )],
        ..Page::new(
            "Mean response time over the switching rate".into(),
            routes.iter().map(|(route, _)| route.clone()),
        )
    };
    page.text()
}
