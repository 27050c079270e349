mod verdict;

use itertools::{Itertools as _, chain};

use super::plot::{Chart, Curve, Figure, Point, Scale, short};
use super::run::{ending, schedules};
use super::{Cell, Column, Numbers, Report, Section, below, entry, file_name, list, number, span};
use crate::{cells, numbers};
use synth_simulation::sweep::{self, AtLoad, CellOutcome, Comparison};
use synth_simulation::{Ending, Estimate, Health, Ranked, Run, Stretch};

/// The parts of a comparison report that depend on the kind of workload and its measurements.
#[derive(Clone, Debug)]
pub struct KindMeasurements<'a, M, C> {
    /// A description of the workload, such as `3 job types on cpu and memory`.
    pub about: String,
    /// The names of the parts that are used by [`Shares`]: resources or servers.
    pub parts: Vec<&'a str>,
    /// The fractions that are measured for each part.
    pub shares: &'a [Shares<M, C>],
    /// The counts and their names.
    pub counts: &'a [Named<M, C, u64>],
    /// The frequencies per unit of time and their names.
    pub frequencies: &'a [Named<M, C, Option<Estimate>>],
    /// Returns the recorded schedule of a run, and removes it from the run.
    pub take_stretch: fn(&mut Run<M, C>) -> Option<Stretch>,
}

pub(super) type Named<M, C, T> = (&'static str, fn(&Run<M, C>) -> T);

/// A fraction that is measured for each part.
#[derive(Clone, Copy, Debug)]
pub struct Shares<M, C> {
    /// The name that is used by other programs, such as `utilization`.
    pub quantity: &'static str,
    /// The name that follows the name of a part in a report, such as `in use`.
    pub label: &'static str,
    /// Returns the fraction of each part. It is empty if there are none.
    pub of: fn(&Run<M, C>) -> &[f64],
}

impl<M, C> KindMeasurements<'_, M, C> {
    /// Creates the description of a workload that has no other measurements.
    pub fn new(about: String) -> Self {
        KindMeasurements {
            about,
            parts: Vec::new(),
            shares: &[],
            counts: &[],
            frequencies: &[],
            take_stretch: |_| None,
        }
    }
}

/// Returns the report. `recorded` contains the schedules that were recorded at the highest load.
pub fn comparison_report<M, C>(
    besides: &KindMeasurements<'_, M, C>,
    comparison: &Comparison<M, C>,
    recorded: &[(String, Stretch)],
) -> Report {
    let header = &comparison.header;
    let unit = &*header.workload.time_unit;
    let all = Compared {
        besides,
        comparison,
        unit,
    };
    let labels = comparison.names().map(|name| comparison.label(name));
    let source = header.workload.source.as_deref();
    let source = source.unwrap_or(file_name(&header.workload.file));
    let rankings = comparison.rankings.iter();
    let rankings = rankings.sorted_by(|a, b| a.load.total_cmp(&b.load));
    let at = rankings.max_by_key(|at| at.ranking.order.len());
    let sections = chain!(
        [all.main(), all.ratios(), all.over_loads()],
        at.map(|at| all.waits(at)),
        [all.trajectories()],
        all.schedules(recorded)
    );
    Report {
        title: format!("{} on “{source}”", list(&labels.collect_vec())),
        summary: at
            .map(|at| chain!([all.headline(at)], all.verdict(at)).join(" "))
            .into_iter()
            .collect(),
        warnings: all.warnings(),
        sections: sections.collect(),
        method: all.method(),
        command: header.command(),
        numbers: all.numbers(),
    }
}

const ONE_LOAD: &str = "The response time of all jobs, with 95 % confidence intervals. For times, shorter is better. Percentiles are accurate to 1.6 %. “Weighted by load” means that each type is weighted by the share of the server that it keeps busy, and not by its number of jobs.";

const MEANS: &str = "Over all jobs, with 95 % confidence intervals. * No policy is significantly faster at that load.";

const RATIOS: &str = "All policies see the same arrivals and sizes; all intervals at a load hold simultaneously at 95 %.";

struct Compared<'a, M, C> {
    besides: &'a KindMeasurements<'a, M, C>,
    comparison: &'a Comparison<M, C>,
    unit: &'a str,
}

impl<M, C> Compared<'_, M, C> {
    fn place(&self, load: f64) -> String {
        self.comparison.header.place(load)
    }

    fn by_load(&self, title: &str, unit: &str, cell: impl Fn(&str, &AtLoad) -> Cell) -> Section {
        let rankings = &self.comparison.rankings;
        let mut section = Section::new(title, ["policy"]);
        let places = rankings.iter().map(|at| self.place(at.load));
        let columns = places.map(|place| Column::of(&place, unit));
        section.columns.extend(columns);
        for name in self.comparison.names() {
            let cells = rankings.iter().map(|at| cell(name, at));
            let name = self.comparison.titled(name);
            section.rows.push(cells![name; cells]);
        }
        section
    }

    fn main(&self) -> Section {
        let title = "E[T], the mean response time";
        let mut section = self.by_load(title, self.unit, |name, at| {
            let is_best = |own: &Ranked| own.policy == name && own.places[0] == 1;
            let cell = self.comparison.cell(name, at.load);
            let run = match cell.map(|cell| &cell.outcome) {
                None => return "not run".into(),
                Some(CellOutcome::Failure(_)) => return "failed".into(),
                Some(CellOutcome::Run(run)) => run,
            };
            match run.health {
                Health::Unsettled => "not converged".into(),
                Health::Unstable => "unstable".into(),
                Health::Settled if at.ranking.order.iter().any(is_best) => {
                    Cell::Best(Box::new(run.mean_response.into()))
                }
                Health::Settled => run.mean_response.into(),
            }
        });
        if let Some(first) = self.comparison.exact.first() {
            let loads = self.comparison.rankings.iter().map(|at| at.load);
            let exact = loads.map(|load| self.comparison.exact(load));
            let exact = exact.map(|own| Cell::from(own.map(|own| own.mean_response)));
            section.rows.push(cells![&first.name; exact]);
        }
        section.note(MEANS)
    }

    fn ratios(&self) -> Section {
        let title = "E[T] relative to the fastest policy";
        let section = self.by_load(title, "1", |name, at| {
            let Some(fastest) = at.ranking.order.first() else {
                return Cell::None;
            };
            let Some(pair) = at.ranking.pair(&fastest.policy, name) else {
                return Some(1.0).filter(|_| fastest.policy == name).into();
            };
            let half_width = pair.simultaneous_half_width;
            match pair.apart && half_width >= pair.ratio.mean - 1.0 {
                true => format!("≥ {}", below(pair.least)).into(),
                false => (pair.ratio.mean, half_width).into(),
            }
        });
        section.note(RATIOS)
    }

    fn warnings(&self) -> Vec<String> {
        let (cells, all) = (&self.comparison.cells, self.comparison.header.cells());
        let (begun, all) = (cells.len(), all.count());
        let cut = format!(
            "INTERRUPTED: {begun} of {all} cells were started; the last one is incomplete."
        );
        let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
        for cell in cells {
            let why = match &cell.outcome {
                CellOutcome::Failure(why) => why.clone(),
                CellOutcome::Run(run) if run.health == Health::Unsettled => {
                    let why = run.unsettled.as_ref().map(|why| format!(", {why}"));
                    let why = why.unwrap_or_default();
                    format!("not converged{why} (use a larger value for --events)")
                }
                CellOutcome::Run(_) => continue,
            };
            let why = format!("{}: {why}", self.comparison.label(&cell.policy));
            entry(&mut reasons, why).push(self.place(cell.load));
        }
        let reasons = reasons.into_iter();
        let reasons = reasons.map(|(why, places)| format!("At {}, {why}.", list(&places)));
        let cut = self.comparison.interrupted.then_some(cut);
        chain!(cut, reasons).collect()
    }

    fn over_loads(&self) -> Section {
        type Of<'a, M, C> = &'a dyn Fn(&Run<M, C>) -> Option<Estimate>;
        let percentile = |run: &Run<M, C>, n: usize| Some(Estimate::exact(run.percentiles?[n]));
        let times: [(&str, Of<'_, M, C>); 5] = [
            ("Mean response time", &|run| run.mean_response),
            ("Weighted by load", &|run| run.weighted_response),
            ("Median", &|run| percentile(run, 0)),
            ("95th percentile", &|run| percentile(run, 1)),
            ("99th percentile", &|run| percentile(run, 2)),
        ];
        let mut figures = Vec::new();
        for (name, of) in times {
            let title = format!("{name} [{}]", self.unit);
            figures.push(self.figure(&title, Scale::Log, of));
        }
        for shares in self.besides.shares {
            for (n, part) in self.besides.parts.iter().enumerate() {
                let title = format!("{part} {} [%]", shares.label);
                let of = |run: &Run<M, C>| Some(Estimate::exact(100.0 * (shares.of)(run).get(n)?));
                figures.push(self.figure(&title, Scale::Linear, &of));
            }
        }
        let note = "The response time of all jobs, with 95 % confidence intervals, on a logarithmic scale. If a policy is unstable at a load, it is marked by a cross at the top. Percentiles are accurate to 1.6 %. “Weighted by load” means that each type is weighted by the share of the server that it keeps busy, and not by its number of jobs.";
        match self.comparison.header.loads.len() {
            1 => Section::of_figures("Response times and resources", ONE_LOAD, figures),
            _ => Section::of_figures("Over the load", note, figures),
        }
    }

    fn figure(
        &self,
        title: &str,
        scale: Scale,
        of: &dyn Fn(&Run<M, C>) -> Option<Estimate>,
    ) -> Option<Figure> {
        let mut loads = self.comparison.header.loads.clone();
        loads.sort_by(f64::total_cmp);
        if let [load] = loads[..] {
            let run = |name| self.comparison.converged(name, load).and_then(of);
            let values = self.comparison.names().map(|name| (name, run(name)));
            return self.bars(title, values);
        }
        let curve = |(n, name): (usize, &str)| {
            let run = |load: f64| self.comparison.converged(name, load);
            let point = |load: &f64| Some(Point::new(*load, of(run(*load)?)?));
            let points = loads.iter().filter_map(point).collect();
            let mut curve = Curve::new(n, self.comparison.titled(name), points);
            let is_unstable = |load: &&f64| self.comparison.unstable(name, **load);
            curve.unstable.extend(loads.iter().filter(is_unstable));
            curve
        };
        let curves = self.comparison.names().enumerate().map(curve);
        let scales = [Scale::Linear, scale];
        Chart::around(title, ["load ρ", ""], scales, curves.collect()).figure()
    }

    fn trajectories(&self) -> Section {
        let figure = |load: &f64| {
            let title = format!("Jobs in the system at {}", self.place(*load));
            let curve = |(n, name): (usize, &str)| {
                let run = self.comparison.run(name, *load);
                let points = run.map_or(Vec::new(), trajectory);
                Curve::line(n, self.comparison.titled(name), points)
            };
            let curves = self.comparison.names().enumerate().map(curve);
            let across = format!("time [{}]", self.unit);
            Chart::around(&title, [&across, ""], [Scale::Log; 2], curves.collect()).figure()
        };
        let figures = self.comparison.header.loads.iter().map(figure);
        let note = "This is the mean over the replications, each of which starts with an empty system. Both axes are logarithmic. The line of a run that has converged is flat, and the line of an unstable run keeps rising. A line ends where the run reached its precision or used all of its events or time.";
        Section::of_figures("Jobs in the system over time", note, figures)
    }

    fn schedules(&self, recorded: &[(String, Stretch)]) -> Option<Section> {
        let (_, first) = recorded.first()?;
        let loads = self.comparison.header.loads.iter().copied();
        let text = format!(
            "This shows {} at {} of a short run that starts with an empty system and uses the same jobs for each policy. The length of the interval is two mean run times of the largest jobs, but at least 50 and at most 600 mean interarrival times. It ends at the arrival, of the first 12 000, at which the backlog of work is the largest.",
            span((first.to - first.from, 0.0), self.unit),
            self.place(loads.fold(0.0, f64::max))
        );
        let own = recorded.iter();
        let own = own.map(|(name, own)| (self.comparison.titled(name), own));
        Some(schedules(&own.collect_vec(), self.unit, &text))
    }

    fn method(&self) -> Vec<(&'static str, String)> {
        let header = &self.comparison.header;
        let (of, own) = (&header.workload, &header.settings);
        let runs = || self.comparison.cells.iter().filter_map(sweep::Cell::run);
        let endings = runs().map(|run| ending(run.ending)).counts();
        let endings = endings.into_iter().sorted();
        let endings = endings.map(|(how, count)| format!("{count} {how}"));
        let millions = runs().map(|run| run.events as f64).sum::<f64>() / 1e6;
        let warm_up = runs().map(|run| run.warm_up).fold(0.0, f64::max);
        let mut digests = format!("workload: {}", of.digest);
        for policy in &header.policies {
            if let Some(digest) = &policy.digest {
                digests += &format!("; {}: {digest}", self.comparison.label(&policy.name));
            }
        }
        let precision = short(100.0 * own.precision);
        let time = own.time_seconds.map_or(String::new(), |time| {
            format!(", or after {time} s (results then depend on the machine)")
        });
        let workload = format!(
            "{}: {}. Its load is ρ = {}. For each load, all arrival rates are multiplied by the same factor. A load of 1 is the maximum that any policy can sustain.",
            of.file,
            self.besides.about,
            short(of.load)
        );
        let simulation = format!(
            "{} independent replications from seed {}. A run ends if it has reached a relative precision of {precision} %, which is checked after a million events and each time this number has doubled, or after {} events{time}. Runs: {}; {} million events in total.",
            own.replications,
            own.seed,
            own.events,
            endings.format(", "),
            number(millions)
        );
        let warm_up = format!(
            "The first tenth of each run, but at least 3 mean residual sizes of the longest jobs, is not used. The longest warm-up of a replication was {} {}.",
            number(warm_up),
            self.unit
        );
        vec![
            ("Workload", workload),
            ("Digests", digests),
            ("Simulation", simulation),
            ("Warm-up", warm_up),
            ("Intervals", INTERVALS.into()),
            ("Stability", STABILITY.into()),
        ]
    }

    /// `stable` is 1 with means and 0 if unstable. `ratio_to_fastest` has simultaneous intervals.
    fn numbers(&self) -> Numbers {
        let (mut numbers, time) = (Numbers::new(&["load", "policy", "type"]), self.unit);
        let flag = |is: bool| f64::from(u8::from(is));
        for cell in &self.comparison.cells {
            let Some(run) = cell.run() else { continue };
            let load = cell.load.to_string();
            let key = &[&*load, &cell.policy, "all"];
            let is_settled = run.health == Health::Settled;
            numbers!(numbers, key => {
                "stable [1]" => (run.health != Health::Unsettled).then(|| flag(is_settled)),
                "interrupted [1]" => flag(run.ending == Ending::Interrupted),
                "events [1]" => run.events,
                format!("simulated_time [{time}]") => run.simulated_time,
                format!("warm_up [{time}]") => run.warm_up,
                format!("mean_response [{time}]") => run.mean_response,
                format!("mean_waiting [{time}]") => run.mean_waiting,
                format!("weighted_response [{time}]") => run.weighted_response,
                "mean_number [jobs]" => run.mean_number,
                "fairness_jain [1]" => run.fairness,
                "ratio_to_fastest [1]" => self.to_fastest(cell),
            });
            numbers.percentiles(key, "response", time, run.percentiles);
            numbers.percentiles(key, "waiting", time, run.waiting_percentiles);
            for (quantity, of) in self.besides.counts {
                numbers.add(key, Column::of(quantity, "1"), of(run));
            }
            for (quantity, of) in self.besides.frequencies.iter().filter(|_| is_settled) {
                numbers.add(key, Column::of(quantity, &format!("1/{time}")), of(run));
            }
            for shares in self.besides.shares.iter().filter(|_| is_settled) {
                for (part, share) in self.besides.parts.iter().zip((shares.of)(run)) {
                    let quantity = format!("{}.{part}", shares.quantity);
                    numbers.add(key, Column::of(&quantity, "1"), *share);
                }
            }
            for own in &run.types {
                let key = &[&*load, &cell.policy, &own.name];
                numbers!(numbers, key => {
                    format!("mean_response [{time}]") => own.mean_response,
                    format!("mean_waiting [{time}]") => own.mean_waiting,
                    "slowdown [1]" => own.slowdown,
                    "mean_number [jobs]" => own.mean_number,
                    "mean_in_service [jobs]" => own.mean_in_service,
                    "completions [jobs]" => Some(own.completions).filter(|_| is_settled),
                    "left [jobs]" => own.left,
                });
                numbers.percentiles(key, "response", time, own.percentiles);
                numbers.percentiles(key, "waiting", time, own.waiting_percentiles);
            }
        }
        numbers
    }

    /// Returns the ratio of the mean response times of this cell and of the fastest policy at this
    /// load, and the half-width. It is `None` for the fastest policy.
    fn to_fastest(&self, cell: &sweep::Cell<M, C>) -> Option<(f64, f64)> {
        let mut rankings = self.comparison.rankings.iter();
        let at = rankings.find(|at| at.load.to_bits() == cell.load.to_bits())?;
        let fastest = &at.ranking.order.first()?.policy;
        let pair = at.ranking.pair(&cell.policy, fastest)?;
        Some((pair.ratio.mean, pair.simultaneous_half_width))
    }
}

const INTERVALS: &str = "All intervals have 95 % confidence and are computed from the batch means of independent replications. For queues, they are multiplied by 1/(1 − d), where d is the relative half-width, because the variance is underestimated if a run contains only a few long queues. Ratios are estimated from pairs of replications on the same arrivals and sizes (Student's t); all statements about a load hold simultaneously at 95 % (Bonferroni over all pairs of policies at this load).";

const STABILITY: &str = "A policy is reported as unstable if the number of jobs in the system, or of jobs of one type, increases significantly from each quarter of the run to the next. It is reported as not converged if the run was too short to decide: 32 jobs of each type must be completed and stay for at most a twentieth of a replication, the numbers of jobs must not change too slowly (their means over sixteenths of a replication have a correlation of at most 0.6) and must reach a steady level (MSER-5, White 1997), and 10 mean residual sizes of the longest jobs must remain after the warm-up. Neither has means.";

const POINTS: usize = 128;

fn trajectory<M, C>(run: &Run<M, C>) -> Vec<Point> {
    let (numbers, length) = &run.path;
    let size = numbers.len().div_ceil(POINTS).max(1);
    let points = numbers.chunks(size).enumerate().map(|(n, few)| {
        let count = few.len() as f64;
        let at = (n * size) as f64 * length + count * length / 2.0;
        Point::exact(at, few.iter().sum::<f64>() / count)
    });
    points.filter(|point| point.value > 0.0).collect()
}
