//! The answer to a comparison of policies on the same jobs, in sentences, pictures and a table for readers without a background in
//! queueing.

use itertools::{Itertools as _, chain};

use super::plot::{Panel, bars, front};
use super::{Grid, Section, Shown, brief, fitting, span};

/// What is known about policies that were run on the same jobs.
pub struct Answer<'a> {
    /// The load or the speed, in words.
    pub place: String,
    /// The unit of time.
    pub unit: &'a str,
    /// The beginning of a sentence about jobs, such as `At a load of 0.8 jobs`.
    pub jobs: String,
    /// The verb for the time that is compared, and what follows the time: `take` and `from arrival to end `.
    pub verb: [&'static str; 2],
    /// The title of pictures of that time.
    pub title: &'static str,
    /// The name of each class of jobs, and the cells that the table of waits shows beside it.
    pub classes: Vec<(String, Vec<String>)>,
    /// Returns the loss of a class whose mean time is the first argument under one policy and the second under the other.
    pub loss: fn(f64, f64) -> f64,
    /// The largest loss that does not count as one.
    pub least_loss: f64,
    /// The policies, in the order in which they were typed.
    pub policies: Vec<Answering>,
}

/// What is known about a policy.
pub struct Answering {
    /// Its place among all policies that were typed, which decides its colour.
    pub place: usize,
    /// Its name in pictures and tables, and its longer name for the headline.
    pub names: [String; 2],
    /// Whether it can win. A recorded schedule cannot: it is only shown beside the others.
    pub competes: bool,
    /// The mean time, and half the width of its interval.
    pub mean: [f64; 2],
    /// The waits of all jobs.
    pub waits: Waits,
    /// The wait of those who wait longest.
    pub longest: Option<f64>,
    /// For each class, the mean time with half the width of its interval, and the waits.
    pub classes: Vec<(Option<[f64; 2]>, Waits)>,
}

/// A mean wait, and the 95th percentile of the wait.
pub type Waits = [Option<f64>; 2];

impl Answer<'_> {
    /// Returns the policy with the least mean and the one that it is compared with: the first that was typed, or the second best if the
    /// first is the best.
    pub fn two(&self) -> Option<[&Answering; 2]> {
        let typed = self.policies.iter().filter(|own| own.competes);
        let first = typed.clone().next()?;
        let order = typed.sorted_by(|a, b| a.mean[0].total_cmp(&b.mean[0]));
        let order = order.collect_vec();
        let is_first = order[0].place == first.place;
        Some([order[0], if is_first { order.get(1)? } else { first }])
    }

    fn time(&self, time: f64) -> String {
        span((time, 0.0), self.unit)
    }

    /// Describes which policy wins, by how much, and how certain that is.
    ///
    /// `ratio` is the ratio of the means of the [two](Answer::two) policies, `within` its 95 % interval, and `is_sure` whether the ratio
    /// differs from 1 significantly; each is `None` where it is not known.
    pub fn headline(
        &self,
        ratio: Option<f64>,
        within: Option<[f64; 2]>,
        is_sure: Option<bool>,
    ) -> Option<String> {
        let [best, other] = self.two()?;
        let [shortest, longer] = [best, other].map(|own| self.time(own.mean[0]));
        let (jobs, [verb, until]) = (&self.jobs, self.verb);
        let [best, other] = [&best.names[1], &other.names[1]];
        let change = |ratio: f64| match 100.0 * (1.0 - ratio) {
            less if less >= 0.0 => format!("{less:.0} % less"),
            more => format!("{:.0} % more", -more),
        };
        let within = within.map(|ends| format!(": {}", ends.map(change).join(" to ")));
        let within = within.unwrap_or_default();
        let surely = match is_sure {
            None => "and nothing can be said of how surely".to_owned(),
            Some(true) => format!("and chance alone would not do that (95 %{within})"),
            Some(false) => {
                format!("which may be chance (they cannot be told apart at 95 %{within})")
            }
        };
        let change = ratio.map_or(String::new(), |own| format!(": {}, {surely}", change(own)));
        Some(format!(
            "{jobs} {verb} {shortest} {until}on average with {best}, and {longer} with {other}{change}."
        ))
    }

    /// Returns the class of jobs that loses most under the best policy, compared with the other one, with both means.
    fn worst_off(&self) -> Option<(usize, [f64; 2])> {
        let [best, other] = self.two()?;
        let pairs = best.classes.iter().zip(&other.classes).enumerate();
        let means = pairs.filter_map(|(n, (a, b))| Some((n, [a.0?[0], b.0?[0]])));
        let loss = |[a, b]: [f64; 2]| (self.loss)(a, b);
        means.max_by(|a, b| loss(a.1).total_cmp(&loss(b.1)))
    }

    /// Describes which class of jobs pays for the shorter mean; `None` if there are no classes.
    pub fn who_pays(&self) -> Option<(String, String)> {
        let [best, other] = self.two()?.map(|own| &own.names[0]);
        let (n, [a, b]) = self.worst_off()?;
        let (class, [verb, _]) = (&self.classes[n].0, self.verb);
        let [long, short] = [a, b].map(|mean| self.time(mean));
        let text = if (self.loss)(a, b) > self.least_loss {
            format!("Jobs of {class} {verb} {long} with {best}, and {short} with {other}.")
        } else {
            format!(
                "Nobody, as far as these runs tell: jobs of every class {verb} as long or less with {best}; those of {class} gain least ({long}, and {short} with {other})."
            )
        };
        Some(("Who pays for it".into(), text))
    }

    /// Draws the means of all policies, for all jobs and for the class that loses most.
    pub fn pictures(&self) -> Vec<Panel> {
        let title = format!("{} at {}", self.title, self.place);
        let mut panels = vec![self.bars(&title, |own| Some(own.mean))];
        if let Some((n, _)) = self.worst_off().filter(|_| self.classes.len() > 1) {
            let title = format!("The same of those that lose most, {}", self.classes[n].0);
            panels.push(self.bars(&title, |own| own.classes[n].0));
        }
        panels
    }

    fn bars(&self, title: &str, of: impl Fn(&Answering) -> Option<[f64; 2]>) -> Panel {
        let policies = self.policies.iter();
        let times = policies.filter_map(|own| Some((own.place, own.names[0].clone(), of(own)?)));
        bars(title, self.unit, &times.collect_vec())
    }

    /// Returns the table of mean waits and their 95th percentiles, by class and policy. `heads` are the heads of the columns that stand
    /// beside the name of each class.
    pub fn waits(&self, text: &str, heads: &[&str]) -> Section {
        let waits = self.policies.iter().filter_map(|own| own.waits[0]);
        let (unit, factor) = fitting(waits.fold(0.0, f64::max), self.unit);
        let row = |name: &str, about: &[String], of: &dyn Fn(&Answering) -> Waits| {
            let waits = self.policies.iter().map(|own| {
                let times = of(own).map(|own| own.map_or("–".into(), |own| brief(factor * own)));
                times.join(" · ")
            });
            let cells = chain!(about.iter().cloned(), waits).map(Shown::plain);
            (name.to_owned(), cells.collect())
        };
        let classes = self.classes.iter().enumerate();
        let classes = classes.map(|(n, (name, about))| row(name, about, &|own| own.classes[n].1));
        let all = row("all", &vec![String::new(); heads.len()], &|own| own.waits);
        let names = self.policies.iter().map(|own| &*own.names[0]);
        let columns = chain!(heads.iter().copied(), names).map(str::to_owned);
        let grid = Grid {
            caption: format!(
                "mean · 95th percentile of the wait [{unit}] at {}",
                self.place
            ),
            head: "jobs of",
            columns: columns.collect(),
            rows: chain!(classes, [all]).collect(),
        };
        Section::tabled("Who waits how long?", text, grid)
    }

    /// Draws the longest wait over the mean wait of all jobs; `names` are the names of the two axes.
    pub fn front(&self, names: [&str; 2]) -> Section {
        let policies = self.policies.iter();
        let times = policies.filter_map(|own| Some((own.place, own.waits[0]?, own.longest?)));
        let panel = front(names, self.unit, &times.collect_vec());
        let text = format!(
            "Each mark is a policy at {}. Left and below is better: one that has another both left of it and below it is worth nothing here.",
            self.place
        );
        let title = "What does a short mean wait cost those who wait longest?";
        Section::new(title, text, [panel])
    }
}
