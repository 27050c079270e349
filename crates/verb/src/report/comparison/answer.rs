//! The answer of a comparison for people who do not queue: at one load, in sentences, with two pictures and a table.

use super::words::lead_over_loads;
use itertools::{Itertools as _, chain};

use crate::report::plot::{Drawn, Panel, bars, front};
use crate::report::{Grid, Section, Shown, brief, fitting, span};
use synth_simulation::sweep::{AtLoad, Comparison};
use synth_simulation::{Estimate, Run};

/// What is known at the load that is looked at: the highest of those where the most policies have means.
pub struct Answer<'a, M, C> {
    comparison: &'a Comparison<M, C>,
    at: &'a AtLoad,
    /// Policies with a mean there, in the order that was typed; each with its run and its place in that order.
    settled: Vec<(usize, &'a str, &'a Run<M, C>)>,
}

impl<'a, M, C> Answer<'a, M, C> {
    /// Returns it; none where no policy has a mean.
    pub fn of(comparison: &'a Comparison<M, C>) -> Option<Self> {
        let settled = |load: f64| {
            let names = comparison.names().enumerate();
            let own =
                names.filter_map(|(n, name)| Some((n, name, comparison.settled(name, load)?)));
            own.collect::<Vec<_>>()
        };
        let mut loads: Vec<&AtLoad> = comparison.rankings.iter().collect();
        loads.sort_by(|a, b| a.load.total_cmp(&b.load));
        let at = loads.into_iter().max_by_key(|at| settled(at.load).len())?;
        let settled = settled(at.load);
        (!settled.is_empty()).then_some(Answer {
            comparison,
            at,
            settled,
        })
    }

    /// Returns the load.
    pub fn load(&self) -> f64 {
        self.at.load
    }

    /// Returns the load, or the rate, in words.
    pub fn place(&self) -> String {
        self.comparison.header.place(self.at.load)
    }

    fn unit(&self) -> &str {
        &self.comparison.header.workload.time_unit
    }

    fn run(&self, name: &str) -> Option<&'a Run<M, C>> {
        self.comparison.settled(name, self.at.load)
    }

    /// Returns the policy with the least mean, and the one that it is held against: the first that was typed, else the next.
    fn two(&self) -> Option<[&str; 2]> {
        let order = &self.at.ranking.order;
        let best = order.first()?.policy.as_str();
        let mut names = self.settled.iter().map(|own| own.1);
        let first = names.find(|name| *name != best);
        let typed_first = self.comparison.names().next() == Some(best);
        let next = order.get(1).map(|own| own.policy.as_str());
        Some([best, if typed_first { next? } else { first? }])
    }

    /// Says who wins, by how much and how surely.
    pub fn headline(&self) -> String {
        let all = lead_over_loads(self.comparison);
        let Some([best, other]) = self.two() else {
            return all;
        };
        let pair = self.at.ranking.pair(other, best);
        let mean = |name| {
            let mean = self.run(name).and_then(|run| run.mean_response);
            mean.map_or("–".into(), |own| span((own.mean, 0.0), self.unit()))
        };
        let [shortest, longer] = [best, other].map(mean);
        let [best, other] = [best, other].map(|name| self.comparison.titled(name));
        let header = &self.comparison.header;
        let place = match &header.rates[..] {
            [] => format!(
                "a load of {} (1 is the most that any policy can carry)",
                brief(self.at.load)
            ),
            _ => header.place(self.at.load),
        };
        let Some(pair) = pair else {
            return format!(
                "At {place} jobs take {shortest} from arrival to end with {best}, and {longer} with {other}; nothing can be said of how surely. {all}"
            );
        };
        let less = 100.0 * (1.0 - 1.0 / pair.ratio.mean);
        let surely = if pair.apart {
            "and chance alone would not do that (95 %)"
        } else {
            "which may be chance (they cannot be told apart at 95 %)"
        };
        format!(
            "At {place} jobs take {shortest} from arrival to end on average with {best}, and {longer} with {other}: {less:.0} % less, {surely}. {all}"
        )
    }

    /// Returns the class of jobs that loses most with the best policy beside the other, with both means; none where all gain.
    fn worst_off(&self) -> Option<(usize, [f64; 2])> {
        let [best, other] = self.two()?.map(|name| self.run(name));
        let pairs = best?.types.iter().zip(&other?.types).enumerate();
        let means = pairs
            .filter_map(|(n, (a, b))| Some((n, [a.mean_response?.mean, b.mean_response?.mean])));
        means.max_by(|(_, [a, b]), (_, [c, d])| (a / b).total_cmp(&(c / d)))
    }

    /// Says who pays for it.
    pub fn who_pays(&self) -> Option<(String, String)> {
        let [best, other] = self.two()?.map(|name| self.comparison.label(name));
        let (n, [a, b]) = self.worst_off()?;
        let class = &self.settled[0].2.types[n].name;
        let [long, short] = [a, b].map(|mean| span((mean, 0.0), self.unit()));
        let text = if a > 1.005 * b {
            format!("Jobs of {class} take {long} with {best}, and {short} with {other}.")
        } else {
            format!(
                "Nobody, as far as these runs tell: jobs of every type take as long or less with {best}; those of {class} gain least ({long}, and {short} with {other})."
            )
        };
        Some(("Who pays for it".into(), text))
    }

    /// Draws the means of all policies, and those of the class that is worst off.
    pub fn pictures(&self) -> Drawn<Vec<Panel>> {
        let title = format!("Mean time from arrival to end at {}", self.place());
        let mut panels = vec![self.bars(&title, |run| run.mean_response)?];
        let types = &self.settled[0].2.types;
        if let Some((n, _)) = self.worst_off().filter(|_| types.len() > 1) {
            let title = format!("The same of those that lose most, {}", types[n].name);
            panels.push(self.bars(&title, |run| run.types[n].mean_response)?);
        }
        Ok(panels)
    }

    fn bars(&self, title: &str, of: impl Fn(&Run<M, C>) -> Option<Estimate>) -> Drawn<Panel> {
        let times = self.settled.iter().filter_map(|(n, name, run)| {
            let own = of(run)?;
            let label = self.comparison.label(name).to_owned();
            Some((*n, label, [own.mean, own.half_width]))
        });
        bars(title, self.unit(), &Vec::from_iter(times))
    }

    /// Returns the mean and the 95th percentile of each type's time in queue, by policy.
    pub fn waits(&self) -> Section {
        let waits = self.settled.iter().filter_map(|own| own.2.mean_waiting);
        let (unit, factor) = fitting(waits.map(|own| own.mean).fold(0.0, f64::max), self.unit());
        let row = |name: &str, of: &dyn Fn(&Run<M, C>) -> Waits| {
            let cells = self.settled.iter().map(|(.., run)| {
                let (mean, percentiles) = of(run);
                let both = [mean.map(|own| own.mean), percentiles.map(|own| own[1])];
                let both = both.map(|own| own.map_or("–".into(), |own| brief(factor * own)));
                Shown::plain(both.join(" · "))
            });
            (name.to_owned(), cells.collect())
        };
        let types = self.settled[0].2.types.iter().enumerate();
        let types = types.map(|(n, own)| {
            row(&own.name, &|run| {
                (run.types[n].mean_waiting, run.types[n].waiting_percentiles)
            })
        });
        let all = row("all", &|run| (run.mean_waiting, run.waiting_percentiles));
        let names = self.settled.iter().map(|own| self.comparison.label(own.1));
        let place = self.place();
        let grid = Grid {
            caption: format!("mean · 95th percentile of the wait [{unit}] at {place}"),
            head: "type",
            columns: names.map(str::to_owned).collect(),
            rows: chain!(types, [all]).collect(),
        };
        let text = "From arrival to the (last) start.";
        Section::tabled("Who waits how long?", text, grid)
    }

    /// Draws the 95th percentile of the wait of the type where that is longest over the mean of all: a percentile of all
    /// jobs is that of the type of which most come.
    pub fn front(&self) -> Drawn<Section> {
        let times = self.settled.iter().filter_map(|(n, _, run)| {
            let of_types = run.types.iter().filter_map(|own| own.waiting_percentiles);
            let longest = of_types.map(|own| own[1]).reduce(f64::max)?;
            Some((*n, run.mean_waiting?.mean, longest))
        });
        let names = [
            "mean wait of all",
            "95th percentile of the wait of the type that waits longest",
        ];
        let panel = front(names, self.unit(), &times.collect_vec())?;
        Ok(Section::front(&format!(" at {}", self.place()), panel))
    }
}

/// A mean wait and its percentiles.
type Waits = (Option<Estimate>, Option<[f64; 3]>);
