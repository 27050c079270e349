//! The answer of a comparison: which policy is the fastest, and which types pay for it.

use itertools::{Itertools as _, chain};

use super::Compared;
use crate::cells;
use crate::report::plot::{Bar, Figure, bars};
use crate::report::{Cell, Column, Section, list, percent, span};
use synth_simulation::Estimate;
use synth_simulation::sweep::AtLoad;

/// The maximum number of job types in the table of the waits.
const TYPES: usize = 12;

impl<M, C> Compared<'_, M, C> {
    pub(super) fn headline(&self, at: &AtLoad) -> String {
        let (place, order) = (self.place(at.load), &at.ranking.order);
        let leaders = order.iter().filter(|own| own.places[0] == 1);
        let leaders = leaders.map(|own| self.comparison.label(&own.policy));
        let mut text = match &*leaders.collect_vec() {
            [] => return format!("No policy has a mean at {place}."),
            [one] if order.len() == 1 => {
                let names = self.comparison.names();
                let unstable = names.filter(|name| self.comparison.unstable(name, at.load));
                let unstable = unstable.map(|name| self.comparison.label(name));
                let others = match &*unstable.collect_vec() {
                    [] => String::new(),
                    some => format!("; the queue keeps growing under {}", list(some)),
                };
                return format!("At {place}, only {one} has a mean{others}.");
            }
            [one] => format!("At {place}, {one} has the shortest mean response time."),
            several => format!(
                "At {place}, the mean response times of {} do not differ significantly, and no other policy is faster.",
                list(several)
            ),
        };
        let [first, .., last] = &order[..] else {
            return text;
        };
        if let Some(pair) = at.ranking.pair(&first.policy, &last.policy)
            && pair.apart
        {
            let slowest = self.comparison.label(&last.policy);
            text += &format!(
                " {slowest} is the slowest; its mean is {} higher.",
                percent(pair.ratio.mean - 1.0)
            );
        }
        text
    }

    /// Describes the type whose mean wait depends most on the policy. `None` if no type's does.
    pub(super) fn verdict(&self, at: &AtLoad) -> Option<String> {
        let runs = at.ranking.order.iter();
        let runs = runs.filter_map(|own| {
            let run = self.comparison.converged(&own.policy, at.load)?;
            Some((self.comparison.label(&own.policy), &run.types))
        });
        let runs = runs.collect_vec();
        let (_, first) = runs.first()?;
        let types = first.iter().enumerate().filter_map(|(n, own)| {
            let waits = runs
                .iter()
                .filter_map(|(name, of)| Some((name, of[n].mean_waiting?)));
            let ends = waits.minmax_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
            let (least, most) = ends.into_option()?;
            let apart = most.1.mean - least.1.mean;
            let is_apart = apart > most.1.half_width + least.1.half_width;
            is_apart.then_some((apart, own, least, most))
        });
        let (_, own, least, most) = types.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let [least, most] = [least, most].map(|(name, wait)| {
            let wait = span((wait.mean, wait.half_width), self.unit);
            format!("{wait} under {name}")
        });
        Some(format!(
            "The choice matters most for {}: its mean wait is {least}, and {most}.",
            own.name
        ))
    }

    pub(super) fn waits(&self, at: &AtLoad) -> Section {
        let title = format!("Mean wait by type at {}", self.place(at.load));
        let mut section = Section::new(title, ["policy"]);
        let names = self.comparison.names();
        let runs = names.filter_map(|own| Some((own, self.comparison.converged(own, at.load)?)));
        let runs = runs.collect_vec();
        let Some((_, first)) = runs.first() else {
            return section;
        };
        let types = first.types.iter().map(|own| &*own.name).collect_vec();
        section.is_detail = types.len() > TYPES;
        let columns = types.iter().map(|name| Column::of(name, self.unit));
        section
            .columns
            .extend(chain!(columns, [Column::of("all", self.unit)]));
        for (name, run) in &runs {
            let waits = run.types.iter().map(|own| Cell::from(own.mean_waiting));
            let name = self.comparison.titled(name);
            section
                .rows
                .push(cells![name; chain!(waits, [Cell::from(run.mean_waiting)])]);
        }
        for (n, name) in types.iter().enumerate().take(TYPES) {
            let values = runs.iter();
            let values = values.map(|(name, run)| (*name, run.types[n].mean_waiting));
            let title = format!("Mean wait of {name} [{}]", self.unit);
            section.figures.extend(self.bars(&title, values));
        }
        section
    }

    pub(super) fn bars<'b>(
        &self,
        title: &str,
        values: impl Iterator<Item = (&'b str, Option<Estimate>)>,
    ) -> Option<Figure> {
        let values = values.filter_map(|(name, value)| {
            let own = value?;
            let ends = [own.mean - own.half_width, own.mean + own.half_width];
            Some(Bar {
                label: self.comparison.titled(name),
                value: own.mean,
                ends: (own.half_width > 0.0).then_some(ends),
                is_baseline: false,
            })
        });
        bars(title, &values.collect_vec())
    }
}
