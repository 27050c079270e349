//! The answer of a comparison for people who do not queue: sentences, two pictures and a table about policies on the same jobs.

use itertools::{Itertools as _, chain};

use super::plot::{Panel, bars, front};
use super::{Grid, Section, Shown, brief, fitting, span};

/// What is known of policies on the same jobs.
pub struct Answer<'a> {
    /// The load or the speed in words.
    pub place: String,
    /// The unit of time.
    pub unit: &'a str,
    /// How sentences begin: `At a load of 0.8 jobs`.
    pub jobs: String,
    /// What jobs do for the time that is compared, and until when: `take` and `from arrival to end `.
    pub verb: [&'static str; 2],
    /// The title of pictures of that time.
    pub title: &'static str,
    /// Each class with what is said of it besides.
    pub classes: Vec<(String, Vec<String>)>,
    /// How much a class loses that takes the first time instead of the second.
    pub loss: fn(f64, f64) -> f64,
    /// A class that loses no more than this does not lose.
    pub least_loss: f64,
    /// The policies in the order that was typed.
    pub policies: Vec<Answering>,
}

/// What is known of a policy.
pub struct Answering {
    /// Its place among all that were typed, by which it looks.
    pub place: usize,
    /// Its name in pictures and tables, and at its first occurrence.
    pub names: [String; 2],
    /// Whether it is a policy that could be taken; else it only stands beside the others.
    pub competes: bool,
    /// The mean time with half the width of its interval.
    pub mean: [f64; 2],
    /// How long all jobs wait.
    pub waits: Waits,
    /// How long the unluckiest wait.
    pub longest: Option<f64>,
    /// Of each class the mean time with half the width of its interval, and how long its jobs wait.
    pub classes: Vec<(Option<[f64; 2]>, Waits)>,
}

/// A mean wait, and the 95th percentile of the wait.
pub type Waits = [Option<f64>; 2];

impl Answer<'_> {
    /// Returns the policy with the least mean, and the one that it is held against: the first that was typed, else the next.
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

    /// Says who wins, by how much and how surely: `ratio` is that of the means of the [two](Answer::two), if it is known,
    /// `within` where it may be, and `is_sure` whether it is surely not 1.
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

    /// Returns the class of jobs that loses most with the best policy beside the other, with both means.
    fn worst_off(&self) -> Option<(usize, [f64; 2])> {
        let [best, other] = self.two()?;
        let pairs = best.classes.iter().zip(&other.classes).enumerate();
        let means = pairs.filter_map(|(n, (a, b))| Some((n, [a.0?[0], b.0?[0]])));
        let loss = |[a, b]: [f64; 2]| (self.loss)(a, b);
        means.max_by(|a, b| loss(a.1).total_cmp(&loss(b.1)))
    }

    /// Says who pays for it; nothing where all jobs are alike.
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

    /// Draws the means of all policies, and those of the class that is worst off.
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

    /// Returns the mean and the 95th percentile of each class's time in queue, by policy, beside what is said of it
    /// besides below these heads.
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

    /// Draws how long the unluckiest wait over the mean wait of all; `names` are those of both.
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
