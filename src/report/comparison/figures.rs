//! What the page draws of a comparison.

use super::{Besides, Shares};
use crate::report::plot::{self, Axis, Curve, Drawn, Panel, Point, Scale, short};
use crate::report::{Section, number};
use crate::simulation::sweep::Comparison;
use crate::simulation::{Estimate, Run};

/// All pictures of a comparison that there is data for.
pub fn sections<M, C>(
    besides: &Besides<'_, M, C>,
    comparison: &Comparison<M, C>,
) -> Drawn<Vec<Section>> {
    let mut loads = comparison.header.loads.clone();
    loads.sort_by(f64::total_cmp);
    let mut runs = comparison.names().flat_map(|name| {
        let loads = comparison.header.loads.iter();
        loads.filter_map(move |load| comparison.run(name, *load))
    });
    let classes = runs.next().map_or(&[][..], |run| &run.types);
    let figures = Figures {
        classes: classes.iter().map(|class| class.name.clone()).collect(),
        unit: &comparison.header.workload.time_unit,
        besides,
        comparison,
        loads,
    };
    Ok(vec![
        figures.means()?,
        figures.types()?,
        figures.tails()?,
        figures.parts()?,
        figures.trajectories()?,
    ])
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
    /// A curve for each policy.
    fn curves(&self, points: impl Fn(&str) -> Vec<Point>) -> Vec<Curve> {
        let names = self.comparison.names().enumerate();
        names.map(|(n, name)| Curve::new(n, points(name))).collect()
    }

    /// A quantity over the loads.
    fn over_loads(&self, quantity: impl Fn(&Run<M, C>) -> Option<Estimate>) -> Vec<Curve> {
        let of = |name: &str, load: f64| {
            let run = self.comparison.settled(name, load)?;
            Some(point(load, quantity(run)?))
        };
        let points = |name: &str| {
            let loads = self.loads.iter();
            loads.filter_map(|load| of(name, *load)).collect()
        };
        let mut curves = self.curves(points);
        for (curve, name) in curves.iter_mut().zip(self.comparison.names()) {
            let loads = self.loads.iter().copied();
            let unstable = loads.filter(|load| self.comparison.unstable(name, *load));
            curve.unstable = unstable.collect();
        }
        curves
    }

    /// The axis of loads, with a tick at each of them where there is room.
    fn axis_of_loads(&self) -> Axis {
        let axis = Axis::around("load ρ", Scale::Linear, self.loads.iter().copied());
        let width = axis.high() - axis.low();
        let is_crowded = |two: &[f64]| two[1] - two[0] < 0.09 * width;
        if self.loads.windows(2).any(is_crowded) {
            return axis;
        }
        let ticks = self.loads.iter().map(|load| (*load, short(*load)));
        axis.with_ticks(ticks.collect())
    }

    /// A panel over the loads; none without any point.
    fn panel(&self, title: String, y: &Axis, curves: &[Curve]) -> Drawn<Option<Panel>> {
        if curves.iter().all(|c| c.points.is_empty()) {
            return Ok(None);
        }
        let text = self.in_words(curves, |p| format!("{} at ρ = {}", number(p.value), p.at));
        let description = format!("{title}, over the load. {text}");
        let picture = plot::curves(&self.axis_of_loads(), y, curves)?;
        Ok(Some(Panel::new(title, description, picture)))
    }

    /// The points of each policy in words.
    fn in_words(&self, curves: &[Curve], point: impl Fn(&Point) -> String) -> String {
        let exact = self.comparison.exact.first();
        let exact = exact.map(|exact| exact.name.as_str());
        let names = self.comparison.names();
        let labels = names.map(|name| self.comparison.label(name)).chain(exact);
        let sentences = labels.zip(curves).map(|(label, curve)| {
            let points: Vec<String> = curve.points.iter().map(&point).collect();
            let unstable = match curve.unstable.as_slice() {
                [] => String::new(),
                loads => format!("; unstable at {loads:?}"),
            };
            format!("{label}: {}{unstable}.", points.join(", "))
        });
        sentences.collect::<Vec<_>>().join(" ")
    }

    /// Means that are known without a run, as one more curve.
    fn exact(&self, points: Vec<Point>) -> Option<Curve> {
        let next = self.comparison.header.policies.len();
        (!points.is_empty()).then(|| Curve::new(next, points))
    }

    fn means(&self) -> Drawn<Section> {
        let exact = self.loads.iter().filter_map(|load| {
            let exact = self.comparison.exact(*load)?;
            Some(point(*load, Estimate::exact(exact.mean_response)))
        });
        let mut curves = self.over_loads(|run| run.mean_response);
        curves.extend(self.exact(exact.collect()));
        let weighted = self.over_loads(|run| run.weighted_response);
        let title = format!("Mean response time [{}], log scale", self.unit);
        let second = format!("Weighted by load share [{}], log scale", self.unit);
        let panels = [
            self.panel(title, &log_axis("", &curves), &curves)?,
            self.panel(second, &log_axis("", &weighted), &weighted)?,
        ];
        Ok(Section {
            title: "Mean response time over the load".into(),
            text: "Bars are 95 % confidence intervals; a cross above marks a policy that is unstable at that load. Weighted by load share, a type counts by the share of the server that it keeps busy, not by its number of jobs.".into(),
            panels: panels.into_iter().flatten().collect(),
        })
    }

    fn tails(&self) -> Drawn<Section> {
        let of = |n: usize| self.over_loads(|run| run.percentiles.map(|p| Estimate::exact(p[n])));
        let all = [0, 1, 2].map(of);
        let y = log_axis("", &all.concat());
        let names = [
            "Median (P50)",
            "95th percentile (P95)",
            "99th percentile (P99)",
        ];
        let mut panels = Vec::new();
        for (name, curves) in names.iter().zip(&all) {
            panels.extend(self.panel(format!("{name} [{}]", self.unit), &y, curves)?);
        }
        Ok(Section {
            title: "Tails of the response time".into(),
            text: "Half of all jobs, 95 % and 99 % of them have a response time within these (known within 1.6 %), on one logarithmic scale.".into(),
            panels,
        })
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

    /// Means by type at one load, and Jain's index; no picture where there is one type only.
    fn types(&self) -> Drawn<Section> {
        let load = self.telling_load().filter(|_| self.classes.len() > 1);
        let mut section = Section {
            title: "Job types and fairness".into(),
            text: String::new(),
            panels: Vec::new(),
        };
        if let Some(load) = load {
            section.text = format!(
                "Types with 95 % confidence intervals at ρ = {load}, the highest load where most policies have means.{} Jain's index is 1 where all types have the same mean, and 1/K where one of K types has all of it.",
                self.without_means(load)
            );
            section.panels.push(self.types_at(load)?);
            section.panels.extend(self.fairness()?);
        }
        Ok(section)
    }

    /// The highest of the loads at which the most policies have means.
    fn telling_load(&self) -> Option<f64> {
        let settled = |load: f64| {
            let names = self.comparison.names();
            names
                .filter(|name| self.comparison.settled(name, load).is_some())
                .count()
        };
        let loads = self.loads.iter().copied();
        // Of several it is the last.
        loads
            .filter(|load| settled(*load) > 0)
            .max_by_key(|load| settled(*load))
    }

    fn types_at(&self, load: f64) -> Drawn<Panel> {
        let names = &self.classes;
        let mut curves = self.curves(|name| {
            let run = self.comparison.settled(name, load);
            let types = run.iter().flat_map(|run| run.types.iter().enumerate());
            let means = types.filter_map(|(row, own)| Some(point(row as f64, own.mean_response?)));
            means.collect()
        });
        if let Some(exact) = self.comparison.exact(load) {
            let rows = names.iter().enumerate();
            let points = rows.filter_map(|(row, name)| {
                let (_, mean) = exact.types.iter().find(|own| own.0 == *name)?;
                Some(point(row as f64, Estimate::exact(*mean)))
            });
            curves.extend(self.exact(points.collect()));
        }
        let title = format!(
            "Mean response time by type at ρ = {load} [{}], log scale",
            self.unit
        );
        let x = log_axis(&format!("mean response time [{}]", self.unit), &curves);
        let text = self.in_words(&curves, |p| {
            format!("{} {}", names[p.at as usize], number(p.value))
        });
        let picture = plot::rows(names, &x, &curves)?;
        Ok(Panel::new(
            title.clone(),
            format!("{title}. {text}"),
            picture,
        ))
    }

    fn fairness(&self) -> Drawn<Option<Panel>> {
        let curves = self.over_loads(|run| run.fairness.map(Estimate::exact));
        let values = curves.iter().flat_map(|c| &c.points).map(|p| p.value);
        let least = values.fold(0.9, f64::min);
        let y = Axis::new("", Scale::Linear, (10.0 * least).floor() / 10.0, 1.0);
        let title = "Fairness: Jain's index over the types' mean response times";
        self.panel(title.into(), &y, &curves)
    }

    /// The policies that have no means at a load.
    fn without_means(&self, load: f64) -> String {
        let names = self.comparison.names();
        let absent = names.filter(|name| self.comparison.settled(name, load).is_none());
        let labels: Vec<&str> = absent.map(|name| self.comparison.label(name)).collect();
        if labels.is_empty() {
            return String::new();
        }
        format!(" Without means there: {}.", labels.join(", "))
    }

    fn trajectories(&self) -> Drawn<Section> {
        let mut panels = Vec::new();
        for &load in &self.comparison.header.loads {
            let curves = self.curves(|name| {
                let run = self.comparison.run(name, load);
                run.map_or(Vec::new(), trajectory)
            });
            if curves.iter().any(|curve| !curve.points.is_empty()) {
                panels.push(self.trajectories_at(load, &curves)?);
            }
        }
        Ok(Section {
            title: "Number of jobs in the system over time".into(),
            text: "Mean over the replications from the empty system on, both axes logarithmic. A level line is a settled run; one that goes on climbing is unstable. Lines end where a run's precision was reached or its budget spent.".into(),
            panels,
        })
    }

    fn trajectories_at(&self, load: f64, curves: &[Curve]) -> Drawn<Panel> {
        let times = curves.iter().flat_map(|c| c.points.iter().map(|p| p.at));
        let x = Axis::around(&format!("time [{}]", self.unit), Scale::Log, times);
        let last: Vec<Curve> = curves
            .iter()
            .map(|curve| Curve {
                points: curve.points.last().copied().into_iter().collect(),
                ..curve.clone()
            })
            .collect();
        let text = self.in_words(&last, |p| format!("{} jobs at the end", number(p.value)));
        let title = format!("Jobs in the system at ρ = {load}");
        let picture = plot::lines(&x, &log_axis("", curves), curves)?;
        let description = format!("{title}, over time. {text}");
        Ok(Panel::new(title, description, picture))
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

/// The number in system in the middle of each interval, several of them taken together.
fn trajectory<M, C>(run: &Run<M, C>) -> Vec<Point> {
    let (numbers, length) = &run.path;
    let size = numbers.len().div_ceil(POINTS).max(1);
    let points = numbers.chunks(size).enumerate().map(|(n, few)| {
        let count = few.len() as f64;
        Point {
            at: (n * size) as f64 * length + count * length / 2.0,
            value: few.iter().sum::<f64>() / count,
            half_width: 0.0,
        }
    });
    points.filter(|point| point.value > 0.0).collect()
}
