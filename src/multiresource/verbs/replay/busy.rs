//! This module finds the part of a replay that is shown in the chart of running jobs.

use std::cmp::Ordering;

use itertools::Itertools as _;

use super::results::ReplayResult;
use crate::multiresource::replay::{DemandKinds, Groups, Log, Visit, WindowMeasures};
use crate::simulation::{Stint, Stretch};

const JOBS: usize = 400;

/// Returns the start and the end in seconds, or `None` if no job waited or the start times are not
/// known. Three quarters of the part are before the start of the job that waited for the longest
/// time, among the jobs that hold the most. The length is twice the run time above which there is
/// half of the work, but there are at most [`JOBS`] jobs.
fn busiest(visits: &[Visit], kinds: &DemandKinds) -> Option<[f64; 2]> {
    if visits.iter().any(|visit| visit.start.is_nan()) {
        return None;
    }
    let held = |visit: &Visit| kinds.most_held(visit.kind);
    let waited = visits.iter().filter(|own| own.start > own.submit);
    let order = |own: &Visit| (held(own), own.start - own.submit);
    let awaited =
        waited.max_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(Ordering::Equal))?;
    let work = visits.iter().map(|own| (own.size, own.size * held(own)));
    let work = work.sorted_by(|a, b| a.0.total_cmp(&b.0)).collect_vec();
    let half = work.iter().map(|own| own.1).sum::<f64>() / 2.0;
    let mut below = 0.0;
    let (mut run, _) = *work.iter().find(|own| {
        below += own.1;
        below >= half
    })?;
    let start = awaited.start;
    let around = |run: f64| [(start - 1.5 * run).max(0.0), start + 0.5 * run];
    let count = |[from, to]: [f64; 2]| {
        let is_in = |own: &&Visit| own.start < to && own.end > from;
        visits.iter().filter(is_in).count()
    };
    while count(around(run)) > JOBS && run > f64::MIN_POSITIVE {
        run /= 2.0;
    }
    (run > 0.0).then(|| around(run))
}

pub(super) fn stretch(
    (log, groups, kinds): (&Log, &Groups, &DemandKinds),
    visits: &[Visit],
    first: Option<&ReplayResult>,
    measured: &WindowMeasures,
) -> Option<Stretch> {
    let used = &first.map_or(measured, |first| &first.measured).utilization;
    let most = (0..used.len()).max_by(|a, b| used[*a].total_cmp(&used[*b]))?;
    let [from, to] = match first {
        None => busiest(visits, kinds)?,
        Some(first) => first.stretch.as_ref().map(|own| [own.from, own.to])?,
    };
    if visits.iter().any(|visit| visit.start.is_nan()) {
        return None;
    }
    let (classes, of_jobs) = groups.first_way();
    let stint = |(n, visit): (usize, &Visit)| Stint {
        class: of_jobs.get(n).map_or(0, |class| u32::from(*class)),
        part: kinds.held[visit.kind as usize][most],
        start: visit.start,
        end: visit.end,
    };
    let servers = &log.servers;
    let mut stretch = Stretch {
        from,
        to,
        resource: (servers.resources[most].clone(), servers.total()[most]),
        classes: classes.to_vec(),
        ..Stretch::default()
    };
    if classes.is_empty() {
        stretch.classes.push("all jobs".into());
    }
    let stints = visits.iter().enumerate().map(stint);
    let seen = stints.filter(|own| stretch.overlaps(own.start, own.end));
    stretch.stints = seen.sorted_by(|a, b| a.start.total_cmp(&b.start)).collect();
    stretch.waiting = waiting(visits, [from, to]);
    Some(stretch)
}

/// Returns the time and the new number of waiting jobs for each change of this number.
fn waiting(visits: &[Visit], [from, to]: [f64; 2]) -> Vec<(f64, f64)> {
    let waits = visits.iter().filter(|visit| visit.start > visit.submit);
    let changes = waits.flat_map(|visit| [(visit.submit, 1.0), (visit.start, -1.0)]);
    let changes = changes
        .filter(|(time, _)| *time < to)
        .sorted_by(|a, b| a.0.total_cmp(&b.0));
    let mut count = 0.0;
    let mut found: Vec<(f64, f64)> = Vec::new();
    for (time, change) in changes {
        let time = time.max(from);
        count += change;
        match found.last_mut() {
            Some(last) if last.0 == time => last.1 = count,
            _ => found.push((time, count)),
        }
    }
    found
}
