//! What the page draws of a comparison.

use super::{Besides, Shares};
use crate::report::number;
use crate::report::plot::{self, Axis, Curve, Look, Panel, Point, Scale, short};
use crate::simulation::sweep::Comparison;
use crate::simulation::{ClassResult, Estimate, Run};

type Drawn<T> = Result<T, Box<dyn std::error::Error>>;

/// Pictures about one question.
pub struct Section {
    pub title: String,
    /// What is seen, in words.
    pub text: String,
    pub panels: Vec<Panel>,
}

/// All pictures of a comparison that there is data for.
pub fn sections<M, C>(
    besides: &Besides<'_, M, C>,
    comparison: &Comparison<M, C>,
) -> Drawn<Vec<Section>> {
    let figures = Figures {
        besides,
        comparison,
    };
    let sections = [
        figures.means()?,
        figures.types()?,
        figures.tails()?,
        figures.parts()?,
        figures.courses()?,
    ];
    let mut kept: Vec<Section> = sections
        .into_iter()
        .filter(|s| !s.panels.is_empty())
        .collect();
    let panels = kept.iter_mut().flat_map(|s| &mut s.panels);
    panels
        .enumerate()
        .for_each(|(n, panel)| panel.id = format!("figure-{}", n + 1));
    Ok(kept)
}

/// The highest of the loads at which the most policies have means.
pub fn telling_load<M, C>(comparison: &Comparison<M, C>) -> Option<f64> {
    let settled = |load: f64| {
        comparison
            .names()
            .filter(|n| comparison.settled(n, load).is_some())
            .count()
    };
    let loads = comparison
        .header
        .loads
        .iter()
        .copied()
        .filter(|&load| settled(load) > 0);
    loads.max_by(|a, b| settled(*a).cmp(&settled(*b)).then(a.total_cmp(b)))
}

struct Figures<'a, M, C> {
    besides: &'a Besides<'a, M, C>,
    comparison: &'a Comparison<M, C>,
}

impl<M, C> Figures<'_, M, C> {
    fn unit(&self) -> &str {
        &self.comparison.header.workload.time_unit
    }

    /// A quantity over the loads: a curve for each policy.
    fn over_loads(&self, quantity: impl Fn(&Run<M, C>) -> Option<Estimate>) -> Vec<Curve> {
        let mut loads = self.comparison.header.loads.clone();
        loads.sort_by(f64::total_cmp);
        let curve = |(n, name): (usize, &str)| Curve {
            look: Look::new(n),
            points: loads
                .iter()
                .filter_map(|&load| {
                    Some(point(load, quantity(self.comparison.settled(name, load)?)?))
                })
                .collect(),
            unstable: loads
                .iter()
                .copied()
                .filter(|&l| self.comparison.unstable(name, l))
                .collect(),
        };
        self.comparison.names().enumerate().map(curve).collect()
    }

    /// Names of the classes of jobs; none where nothing ran.
    fn classes(&self) -> Vec<String> {
        let names = self.comparison.names();
        let loads = &self.comparison.header.loads;
        let mut runs = names.flat_map(|n| loads.iter().filter_map(|l| self.comparison.run(n, *l)));
        let first = runs.next().map_or(&[][..], |run| &run.types);
        first.iter().map(|class| class.name.clone()).collect()
    }

    /// The axis of loads, with a tick at each of them where there is room.
    fn loads(&self) -> Axis {
        let mut loads = self.comparison.header.loads.clone();
        loads.sort_by(f64::total_cmp);
        let axis = Axis::around("load ρ", Scale::Linear, loads.iter().copied());
        let width = axis.high() - axis.low();
        let crowded = loads.windows(2).any(|two| two[1] - two[0] < 0.09 * width);
        match crowded {
            true => axis,
            false => axis.with_ticks(loads.iter().map(|&load| (load, short(load))).collect()),
        }
    }

    /// A panel over the loads; none without any point.
    fn panel(&self, title: String, y: &Axis, curves: &[Curve]) -> Drawn<Option<Panel>> {
        if curves.iter().all(|c| c.points.is_empty()) {
            return Ok(None);
        }
        let told = self.told(curves, |p| format!("{} at ρ = {}", number(p.value), p.at));
        Ok(Some(Panel {
            description: format!("{title}, over the load. {told}"),
            picture: plot::curves(&self.loads(), y, curves)?,
            id: String::new(),
            title,
        }))
    }

    /// The points of each policy in words.
    fn told(&self, curves: &[Curve], point: impl Fn(&Point) -> String) -> String {
        let exact = self
            .comparison
            .exact
            .first()
            .map(|exact| exact.name.as_str());
        let labels = self
            .comparison
            .names()
            .map(|name| self.comparison.label(name));
        let told = labels.chain(exact).zip(curves).map(|(label, curve)| {
            let points: Vec<String> = curve.points.iter().map(&point).collect();
            let unstable = match curve.unstable.as_slice() {
                [] => String::new(),
                loads => format!("; unstable at {loads:?}"),
            };
            format!("{label}: {}{unstable}.", points.join(", "))
        });
        told.collect::<Vec<_>>().join(" ")
    }

    /// Exact means over the loads, as one more curve.
    fn exact(&self) -> Option<Curve> {
        let mut exact: Vec<_> = self.comparison.exact.iter().collect();
        exact.sort_by(|a, b| a.load.total_cmp(&b.load));
        let points = exact
            .iter()
            .map(|e| point(e.load, Estimate::exact(e.mean_response)));
        (!exact.is_empty()).then(|| Curve {
            look: Look::new(self.comparison.header.policies.len()),
            points: points.collect(),
            unstable: Vec::new(),
        })
    }

    /// The same by type at one load, in the order of the rows.
    fn exact_at(&self, load: f64, names: &[String]) -> Option<Curve> {
        let exact = self.comparison.exact(load)?;
        let value = |name: &String| exact.types.iter().find(|own| own.0 == *name);
        let points = names.iter().enumerate().filter_map(|(row, name)| {
            let mean = value(name)?.1;
            Some(point(row as f64, Estimate::exact(mean)))
        });
        Some(Curve {
            look: Look::new(self.comparison.header.policies.len()),
            points: points.collect(),
            unstable: Vec::new(),
        })
    }

    fn means(&self) -> Drawn<Section> {
        let mut curves = self.over_loads(|run| run.mean_response);
        curves.extend(self.exact());
        let weighted = self.over_loads(|run| run.weighted_response);
        let title = format!("Mean response time [{}], log scale", self.unit());
        let second = format!("Weighted by load share [{}], log scale", self.unit());
        let panels = [
            self.panel(title, &log_axis(&curves), &curves)?,
            self.panel(second, &log_axis(&weighted), &weighted)?,
        ];
        Ok(Section {
            title: "Mean response time over the load".into(),
            text: "Bars are 95 % confidence intervals; a cross above marks a policy that is unstable at that load. Weighted by load share, a type counts by the share of the server that it keeps busy, not by its number of jobs.".into(),
            panels: panels.into_iter().flatten().collect(),
        })
    }

    fn tails(&self) -> Drawn<Section> {
        let names = [
            "Median (P50)",
            "95th percentile (P95)",
            "99th percentile (P99)",
        ];
        let of = |n: usize| self.over_loads(|run| run.percentiles.map(|p| Estimate::exact(p[n])));
        let all: Vec<Vec<Curve>> = (0..3).map(of).collect();
        let together: Vec<Curve> = all.iter().flatten().cloned().collect();
        let y = log_axis(&together);
        let mut panels = Vec::new();
        for (name, curves) in names.iter().zip(&all) {
            let title = format!("{name} [{}]", self.unit());
            panels.extend(self.panel(title, &y, curves)?);
        }
        Ok(Section {
            title: "Tails of the response time".into(),
            text: "Half of all jobs, 95 % and 99 % of them have a response time within these (known within 1.6 %), on one logarithmic scale.".into(),
            panels,
        })
    }

    /// Jain's index; nothing where there is one type only.
    fn fairness(&self) -> Drawn<Option<Panel>> {
        if self.classes().len() < 2 {
            return Ok(None);
        }
        let curves = self.over_loads(|run| run.fairness.map(Estimate::exact));
        let values = curves.iter().flat_map(|c| &c.points).map(|p| p.value);
        let least = values.fold(0.9, f64::min);
        let y = Axis::new("", Scale::Linear, (10.0 * least).floor() / 10.0, 1.0);
        let title = "Fairness: Jain's index over the types' mean response times";
        self.panel(title.into(), &y, &curves)
    }

    fn parts(&self) -> Drawn<Section> {
        let y = Axis::new("", Scale::Linear, 0.0, 100.0);
        let mut panels = Vec::new();
        for Shares { words, of, .. } in self.besides.shares {
            for (j, part) in self.besides.parts.iter().enumerate() {
                let share = |run: &Run<M, C>| of(run).get(j).map(|v| Estimate::exact(100.0 * v));
                let curves = self.over_loads(share);
                panels.extend(self.panel(format!("{part} {words} [%]"), &y, &curves)?);
            }
        }
        let (title, text) = self.besides.section;
        Ok(Section {
            title: title.into(),
            text: text.into(),
            panels,
        })
    }

    /// Means by type at one load.
    fn types(&self) -> Drawn<Section> {
        let load = telling_load(self.comparison);
        let several = load.filter(|_| self.classes().len() > 1);
        let panel = several.map_or(Ok(None), |load| self.types_at(load))?;
        let absent = load.map_or(String::new(), |load| self.absent(load));
        let load = load.unwrap_or_default();
        Ok(Section {
            title: "Job types and fairness".into(),
            text: format!(
                "Types with 95 % confidence intervals at ρ = {load}, the highest load where most policies have means.{absent} Jain's index is 1 where all types have the same mean, and 1/K where one of K types has all of it."
            ),
            panels: panel.into_iter().chain(self.fairness()?).collect(),
        })
    }

    fn types_at(&self, load: f64) -> Drawn<Option<Panel>> {
        let mean = |(row, t): (usize, &ClassResult<C>)| Some(point(row as f64, t.mean_response?));
        let curve = |(n, name): (usize, &str)| Curve {
            look: Look::new(n),
            points: self
                .comparison
                .settled(name, load)
                .map_or(Vec::new(), |run| {
                    run.types.iter().enumerate().filter_map(mean).collect()
                }),
            unstable: Vec::new(),
        };
        let mut curves: Vec<Curve> = self.comparison.names().enumerate().map(curve).collect();
        let names = self.classes();
        curves.extend(self.exact_at(load, &names));
        let title = format!(
            "Mean response time by type at ρ = {load} [{}], log scale",
            self.unit()
        );
        let x = log_axis(&curves).titled(format!("mean response time [{}]", self.unit()));
        let told = self.told(&curves, |p| {
            format!("{} {}", names[p.at as usize], number(p.value))
        });
        let picture = plot::rows(&names, &x, &curves)?;
        let description = format!("{title}. {told}");
        Ok(Some(Panel {
            id: String::new(),
            title,
            description,
            picture,
        }))
    }

    /// Who has no means at a load.
    fn absent(&self, load: f64) -> String {
        let absent = self
            .comparison
            .names()
            .filter(|n| self.comparison.settled(n, load).is_none());
        let labels: Vec<&str> = absent.map(|name| self.comparison.label(name)).collect();
        match labels.is_empty() {
            true => String::new(),
            false => format!(" Without means there: {}.", labels.join(", ")),
        }
    }

    fn courses(&self) -> Drawn<Section> {
        let mut panels = Vec::new();
        for &load in &self.comparison.header.loads {
            let of = |name| self.comparison.run(name, load).map_or(Vec::new(), course);
            let curve = |(n, name)| Curve {
                look: Look::new(n),
                points: of(name),
                unstable: Vec::new(),
            };
            let curves: Vec<Curve> = self.comparison.names().enumerate().map(curve).collect();
            panels.extend(self.course_panel(load, &curves)?);
        }
        Ok(Section {
            title: "Number of jobs in the system over time".into(),
            text: "Mean over the replications from the empty system on, both axes logarithmic. A level course is a settled one; one that goes on climbing is unstable. Lines end where a run's precision was reached or its budget spent.".into(),
            panels,
        })
    }

    fn course_panel(&self, load: f64, curves: &[Curve]) -> Drawn<Option<Panel>> {
        if curves.iter().all(|c| c.points.is_empty()) {
            return Ok(None);
        }
        let times = curves.iter().flat_map(|c| c.points.iter().map(|p| p.at));
        let x = Axis::around(&format!("time [{}]", self.unit()), Scale::Log, times);
        let last: Vec<Curve> = curves
            .iter()
            .map(|c| Curve {
                points: c.points.last().copied().into_iter().collect(),
                ..c.clone()
            })
            .collect();
        let told = self.told(&last, |p| format!("{} jobs at the end", number(p.value)));
        let title = format!("Jobs in the system at ρ = {load}");
        Ok(Some(Panel {
            description: format!("{title}, over time. {told}"),
            picture: plot::courses(&x, &log_axis(curves), curves)?,
            id: String::new(),
            title,
        }))
    }
}

fn point(at: f64, estimate: Estimate) -> Point {
    Point {
        at,
        value: estimate.mean,
        half_width: estimate.half_width,
    }
}

/// A logarithmic axis for the values of curves. An interval widens it by a factor of 3 at most.
fn log_axis(curves: &[Curve]) -> Axis {
    let points = curves.iter().flat_map(|c| &c.points);
    let ends = points.flat_map(|p| {
        let low = (p.value - p.half_width).max(p.value / 3.0);
        [low, (p.value + p.half_width).min(3.0 * p.value)]
    });
    Axis::around("", Scale::Log, ends)
}

/// Points drawn of a course, at most.
const POINTS: usize = 128;

/// The number in system in the middle of each interval, several of them taken together.
fn course<M, C>(run: &Run<M, C>) -> Vec<Point> {
    let (numbers, length) = &run.path;
    let size = numbers.len().div_ceil(POINTS).max(1);
    let together = numbers.chunks(size).enumerate();
    let mean = |few: &[f64]| few.iter().sum::<f64>() / few.len() as f64;
    let time = |n: usize, few: &[f64]| (n * size) as f64 * length + few.len() as f64 * length / 2.0;
    together
        .map(|(n, few)| Point {
            at: time(n, few),
            value: mean(few),
            half_width: 0.0,
        })
        .filter(|p| p.value > 0.0)
        .collect()
}
