//! The answer to a comparison over loads.

use itertools::Itertools as _;

use crate::report::{Answer, Answering, brief};
use synth_simulation::sweep::Comparison;
use synth_simulation::{Estimate, Run};

/// Returns the load that the answer is about, the answer itself, and the sentence about the winner; `None` if no policy has a mean.
///
/// The load is the highest of those at which the most policies have means.
pub fn answer<M, C>(comparison: &Comparison<M, C>) -> Option<(f64, Answer<'_>, Option<String>)> {
    let settled = |load: f64| {
        let names = comparison.names().enumerate();
        let own = names.filter_map(|(n, name)| Some((n, name, comparison.settled(name, load)?)));
        own.collect_vec()
    };
    let loads = comparison.rankings.iter();
    let loads = loads.sorted_by(|a, b| a.load.total_cmp(&b.load));
    let at = loads.max_by_key(|at| settled(at.load).len())?;
    let settled = settled(at.load);
    let header = &comparison.header;
    let place = header.place(at.load);
    let named = format!(
        "a load of {} (1 is the most that any policy can carry)",
        brief(at.load)
    );
    let classes = settled.first()?.2.types.iter();
    let policies = settled.iter().filter_map(|(n, name, run)| {
        let names = [comparison.label(name).to_owned(), comparison.titled(name)];
        answering(*n, names, run)
    });
    let answer = Answer {
        place,
        unit: &header.workload.time_unit,
        jobs: format!("At {named} jobs"),
        verb: ["take", "from arrival to end "],
        title: "Mean time from arrival to end",
        classes: classes.map(|own| (own.name.clone(), Vec::new())).collect(),
        loss: |a, b| a / b,
        least_loss: 1.005,
        policies: policies.collect(),
    };
    let headline = answer.two().and_then(|[best, other]| {
        let ratio = best.mean[0] / other.mean[0];
        let [best, other] = [best, other].map(|own| &*header.policies[own.place].name);
        let pair = at.ranking.pair(other, best);
        let ratio = pair.map_or(ratio, |own| 1.0 / own.ratio.mean);
        answer.headline(Some(ratio), None, pair.map(|own| own.apart))
    });
    Some((at.load, answer, headline))
}

/// Returns what a run shows about a policy; `None` if it has no mean.
fn answering<M, C>(place: usize, names: [String; 2], run: &Run<M, C>) -> Option<Answering> {
    let with_error = |own: Estimate| [own.mean, own.half_width];
    let waits = |mean: Option<Estimate>, percentiles: Option<[f64; 3]>| {
        [mean.map(|own| own.mean), percentiles.map(|own| own[1])]
    };
    let classes = run.types.iter().map(|own| {
        let waits = waits(own.mean_waiting, own.waiting_percentiles);
        (own.mean_response.map(with_error), waits)
    });
    // A percentile of all jobs is that of the type of which most come.
    let longest = run.types.iter().filter_map(|own| own.waiting_percentiles);
    Some(Answering {
        place,
        names,
        competes: true,
        mean: run.mean_response.map(with_error)?,
        waits: waits(run.mean_waiting, run.waiting_percentiles),
        longest: longest.map(|own| own[1]).reduce(f64::max),
        classes: classes.collect(),
    })
}
