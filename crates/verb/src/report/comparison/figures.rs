//! What the page draws of a comparison.

use super::{Besides, Shares};
use crate::report::plot::{self, Axis, Curve, Panel, Point, Scale, short};
use crate::report::{Answer, Section, number, span};
use synth_simulation::sweep::{Cell, Comparison};
use synth_simulation::{ClassResult, Estimate, Run, Stretch};

/// Draws all pictures of a comparison that there is data for.
pub fn sections<M, C>(
    besides: &Besides<'_, M, C>,
    comparison: &Comparison<M, C>,
    found: Option<(f64, Answer<'_>, Option<String>)>,
    recorded: &[(String, Stretch)],
) -> Vec<Section> {
    let mut loads = comparison.header.loads.clone();
    loads.sort_by(f64::total_cmp);
    // All runs are of the same classes.
    let run = comparison.cells.iter().find_map(Cell::run);
    let classes = run.map_or(&[][..], |run| &run.types);
    let figures = Figures {
        classes: classes.iter().map(|class| class.name.clone()).collect(),
        unit: &comparison.header.workload.time_unit,
        besides,
        comparison,
        loads,
    };
    let answer = found.as_ref().map(|(_, own, _)| own);
    let of_answer = [
        answer.map(|own| own.waits("From arrival to the (last) start.", &[])),
        answer.map(|own| own.front(FRONT)),
        schedules(comparison, recorded),
    ];
    let of_loads = [
        figures.means(),
        figures.types(found.map(|own| own.0)),
        figures.tails(),
        figures.parts(),
        figures.trajectories(),
    ];
    of_answer.into_iter().flatten().chain(of_loads).collect()
}

/// The names of the times that a policy trades for each other.
const FRONT: [&str; 2] = [
    "mean wait of all",
    "95th percentile of the wait of the type that waits longest",
];

/// What ran when, in the same stretch of time under each policy.
fn schedules<M, C>(
    comparison: &Comparison<M, C>,
    recorded: &[(String, Stretch)],
) -> Option<Section> {
    let (_, first) = recorded.first()?;
    let header = &comparison.header;
    let unit = &header.workload.time_unit;
    let highest = header.place(header.loads.iter().copied().fold(0.0, f64::max));
    let text = format!(
        "{} at {highest} of a short run from the empty system on, with the same seed and so the same jobs for each policy: the stretch, two mean runs of the largest jobs long (but what 50 arrivals take on average at least, and 600 at most), before whose end the most work came among 12 000 arrivals.",
        span((first.to - first.from, 0.0), unit)
    );
    let own = recorded.iter();
    let own: Vec<_> = own
        .map(|(name, own)| (comparison.titled(name), own))
        .collect();
    Some(Section::schedules(&own, unit, &text))
}

struct Figures<'a, M, C> {
    besides: &'a Besides<'a, M, C>,
    comparison: &'a Comparison<M, C>,
    unit: &'a str,
    /// Ascending.
    loads: Vec<f64>,
    /// Names of the classes of jobs; none where nothing ran.
    classes: Vec<String>,
}

impl<M, C> Figures<'_, M, C> {
    fn place(&self, load: f64) -> String {
        self.comparison.header.place(load)
    }

    /// Returns a curve for each policy.
    fn curves(&self, points: impl Fn(&str) -> Vec<Point>) -> Vec<Curve> {
        let names = self.comparison.names().enumerate();
        names.map(|(n, name)| Curve::new(n, points(name))).collect()
    }

    /// Draws a quantity over the loads.
    fn over_loads(&self, quantity: impl Fn(&Run<M, C>) -> Option<Estimate>) -> Vec<Curve> {
        let curve = |(n, name): (usize, &str)| {
            let points = self.loads.iter().filter_map(|load| {
                let run = self.comparison.settled(name, *load)?;
                Some(Point::new(*load, quantity(run)?))
            });
            let mut unstable = self.loads.clone();
            unstable.retain(|load| self.comparison.unstable(name, *load));
            Curve {
                unstable,
                ..Curve::new(n, points.collect())
            }
        };
        self.comparison.names().enumerate().map(curve).collect()
    }

    /// Returns the axis of loads, with a tick at each of them where there is room.
    fn axis_of_loads(&self) -> Axis {
        let axis = Axis::around("load ρ", Scale::Linear, self.loads.iter().copied());
        let width = axis.high - axis.low;
        let is_crowded = |two: &[f64]| two[1] - two[0] < 0.09 * width;
        if self.loads.windows(2).any(is_crowded) {
            return axis;
        }
        let ticks = self.loads.iter().map(|load| (*load, short(*load)));
        axis.with_ticks(ticks.collect())
    }

    /// Returns a panel over the loads; none without any point.
    fn panel(&self, title: String, y: &Axis, curves: &[Curve]) -> Option<Panel> {
        if curves.iter().all(|c| c.points.is_empty()) {
            return None;
        }
        let text = self.in_words(curves, |p| {
            format!("{} at {}", number(p.value), self.place(p.at))
        });
        let description = format!("{title}, over the load. {text}");
        let picture = plot::curves(&self.axis_of_loads(), y, curves);
        Some(Panel::new(title, description, picture))
    }

    /// Returns the points of each policy in words.
    fn in_words(&self, curves: &[Curve], point: impl Fn(&Point) -> String) -> String {
        let exact = self.comparison.exact.first().map(|exact| &*exact.name);
        let names = self.comparison.names();
        let labels = names.map(|name| self.comparison.label(name)).chain(exact);
        let sentences = labels.zip(curves).map(|(label, curve)| {
            let points: Vec<String> = curve.points.iter().map(&point).collect();
            let unstable = match curve.unstable.as_slice() {
                [] => String::new(),
                loads => {
                    let places = loads.iter().map(|load| self.place(*load));
                    format!("; unstable at {}", places.collect::<Vec<_>>().join(", "))
                }
            };
            format!("{label}: {}{unstable}.", points.join(", "))
        });
        sentences.collect::<Vec<_>>().join(" ")
    }

    /// Adds means that are known without a run as one more curve.
    fn add_exact(&self, curves: &mut Vec<Curve>, points: Vec<Point>) {
        if !points.is_empty() {
            curves.push(Curve::new(self.comparison.header.policies.len(), points));
        }
    }

    fn means(&self) -> Section {
        let exact = self.loads.iter().filter_map(|load| {
            let exact = self.comparison.exact(*load)?;
            Some(Point::exact(*load, exact.mean_response))
        });
        let mut curves = self.over_loads(|run| run.mean_response);
        self.add_exact(&mut curves, exact.collect());
        let weighted = self.over_loads(|run| run.weighted_response);
        let title = format!("Mean response time [{}], log scale", self.unit);
        let second = format!("Weighted by load share [{}], log scale", self.unit);
        Section::new(
            "Mean response time over the load",
            "Bars are 95 % confidence intervals; a cross above marks a policy that is unstable at that load. Weighted by load share, a type counts by the share of the server that it keeps busy, not by its number of jobs.",
            [
                self.panel(title, &log_axis("", &curves), &curves),
                self.panel(second, &log_axis("", &weighted), &weighted),
            ],
        )
    }

    fn tails(&self) -> Section {
        let of = |n: usize| self.over_loads(|run| run.percentiles.map(|p| Estimate::exact(p[n])));
        let all = [0, 1, 2].map(of);
        let y = log_axis("", &all.concat());
        let names = [
            "Median (P50)",
            "95th percentile (P95)",
            "99th percentile (P99)",
        ];
        let named = names.iter().zip(&all);
        let panels =
            named.map(|(name, own)| self.panel(format!("{name} [{}]", self.unit), &y, own));
        Section::new(
            "Tails of the response time",
            "Half of all jobs, 95 % and 99 % of them have a response time within these (known within 1.6 %), on one logarithmic scale.",
            panels,
        )
    }

    fn parts(&self) -> Section {
        let y = Axis::new("", Scale::Linear, 0.0, 100.0);
        let mut panels = Vec::new();
        for Shares { words, of, .. } in self.besides.shares {
            for (j, part) in self.besides.parts.iter().enumerate() {
                let share = |run: &Run<M, C>| of(run).get(j).map(|v| Estimate::exact(100.0 * v));
                let curves = self.over_loads(share);
                panels.push(self.panel(format!("{part} {words} [%]"), &y, &curves));
            }
        }
        let (title, text) = self.besides.section;
        Section::new(title, text, panels)
    }

    /// Means by type at this load, and Jain's index; no picture where there is one type only.
    fn types(&self, load: Option<f64>) -> Section {
        let title = "Job types and fairness";
        let Some(load) = load.filter(|_| self.classes.len() > 1) else {
            return Section::new(title, "", [None; 0]);
        };
        let names = self.comparison.names();
        let names = names.filter(|name| self.comparison.settled(name, load).is_none());
        let labels: Vec<&str> = names.map(|name| self.comparison.label(name)).collect();
        let without = match labels.as_slice() {
            [] => String::new(),
            some => format!(" Without means there: {}.", some.join(", ")),
        };
        let place = self.place(load);
        let text = format!(
            "Types with 95 % confidence intervals at {place}, the highest load where most policies have means.{without} Jain's index is 1 where all types have the same mean, and 1/K where one of K types has all of it."
        );
        let panels = [Some(self.types_at(load)), self.fairness()];
        Section::new(title, text, panels)
    }

    fn types_at(&self, load: f64) -> Panel {
        let (names, unit) = (&self.classes, self.unit);
        let mut curves = self.curves(|name| {
            let run = self.comparison.settled(name, load);
            let types = run.iter().flat_map(|run| run.types.iter().enumerate());
            let point = |(row, own): (usize, &ClassResult<C>)| {
                Some(Point::new(row as f64, own.mean_response?))
            };
            types.filter_map(point).collect()
        });
        if let Some(exact) = self.comparison.exact(load) {
            let points = names.iter().enumerate().filter_map(|(row, name)| {
                let (_, mean) = exact.types.iter().find(|own| own.0 == *name)?;
                Some(Point::exact(row as f64, *mean))
            });
            self.add_exact(&mut curves, points.collect());
        }
        let title = format!(
            "Mean response time by type at {} [{unit}], log scale",
            self.place(load)
        );
        let x = log_axis(&format!("mean response time [{unit}]"), &curves);
        let shown = |p: &Point| format!("{} {}", names[p.at as usize], number(p.value));
        let text = format!("{title}. {}", self.in_words(&curves, shown));
        Panel::new(title, text, plot::rows(names, &x, &curves))
    }

    fn fairness(&self) -> Option<Panel> {
        let curves = self.over_loads(|run| run.fairness.map(Estimate::exact));
        let values = curves.iter().flat_map(|c| &c.points).map(|p| p.value);
        let least = values.fold(0.9, f64::min);
        let y = Axis::new("", Scale::Linear, (10.0 * least).floor() / 10.0, 1.0);
        let title = "Fairness: Jain's index over the types' mean response times";
        self.panel(title.into(), &y, &curves)
    }

    fn trajectories(&self) -> Section {
        let loads = self.comparison.header.loads.iter();
        let panels = loads.map(|load| self.trajectories_at(*load));
        Section::new(
            "Number of jobs in the system over time",
            "Mean over the replications from the empty system on, both axes logarithmic. A level line is a settled run; one that goes on climbing is unstable. Lines end where a run's precision was reached or its budget spent.",
            panels,
        )
    }

    fn trajectories_at(&self, load: f64) -> Option<Panel> {
        let run = |name: &str| self.comparison.run(name, load);
        let curves = self.curves(|name| run(name).map_or(Vec::new(), trajectory));
        if curves.iter().all(|curve| curve.points.is_empty()) {
            return None;
        }
        let times = curves.iter().flat_map(|c| c.points.iter().map(|p| p.at));
        let x = Axis::around(&format!("time [{}]", self.unit), Scale::Log, times);
        let last = self.curves(|name| {
            let points = run(name).map_or(Vec::new(), trajectory);
            points.last().copied().into_iter().collect()
        });
        let text = self.in_words(&last, |p| format!("{} jobs at the end", number(p.value)));
        let title = format!("Jobs in the system at {}", self.place(load));
        let picture = plot::lines(&x, &log_axis("", &curves), &curves);
        let description = format!("{title}, over time. {text}");
        Some(Panel::new(title, description, picture))
    }
}

/// Returns a logarithmic axis for the values of curves. An interval widens it by a factor of 3 at most.
fn log_axis(title: &str, curves: &[Curve]) -> Axis {
    let points = curves.iter().flat_map(|c| &c.points);
    let ends = points.flat_map(|p| {
        let low = (p.value - p.half_width).max(p.value / 3.0);
        [low, (p.value + p.half_width).min(3.0 * p.value)]
    });
    Axis::around(title, Scale::Log, ends)
}

/// Points drawn of a trajectory, at most.
const POINTS: usize = 128;

/// Returns the number in system in the middle of each interval, several of them taken together.
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
