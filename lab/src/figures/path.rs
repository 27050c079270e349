use synth::kind::VerbResult;
use synth::multiresource::policy::{
    Event, Policy as _, StaticQuickswap, StaticQuickswapConfig, System,
};
use synth::multiresource::workload::Workload;
use synth::simulation::Streams;

/// Returns the number of jobs at `count` points in time. The arrivals are the same for each
/// threshold. The sizes have no memory, so the next completion is drawn at each event.
pub(super) fn path(
    workload: &Workload,
    threshold: u32,
    (length, count): (f64, usize),
) -> VerbResult<Vec<(f64, f64)>> {
    let policy = StaticQuickswapConfig {
        strict: false,
        ..StaticQuickswapConfig::strict_msfq(workload, Some(f64::from(threshold)))?
    };
    let mut rule = StaticQuickswap::new(&policy, workload);
    let mut system = System::new(workload, 0, false);
    let (types, total) = (workload.types(), workload.total_arrival_rate());
    let mut streams = Streams::new(1, 0);
    let mut next_arrival = streams.arrivals.exponential() / total;
    // The probability of each index is proportional to its rate.
    let pick = |rates: &[f64], place: f64| {
        let mut left = place * rates.iter().sum::<f64>();
        let found = rates.iter().position(|rate| {
            left -= rate;
            left < 0.0
        });
        found.unwrap_or(0)
    };
    let arriving: Vec<f64> = types.iter().map(|kind| kind.arrival_rate()).collect();
    let mut points = Vec::new();
    for n in 0..count {
        let time = length * n as f64 / count as f64;
        while system.now() < time {
            let ending = types.iter().enumerate();
            let ending = ending.map(|(i, kind)| f64::from(system.running(i)) * kind.service_rate());
            let ending: Vec<f64> = ending.collect();
            let end = system.now() + streams.service.exponential() / ending.iter().sum::<f64>();
            let event = if next_arrival <= end {
                let kind = pick(&arriving, streams.arrivals.uniform());
                system.arrive(kind, next_arrival);
                next_arrival += streams.arrivals.exponential() / total;
                Event::Arrival(kind)
            } else {
                let kind = pick(&ending, streams.service.uniform());
                system.complete(kind, 0, end);
                Event::Completion(kind)
            };
            rule.react(event, &mut system);
            system.clear_actions();
        }
        let jobs: u64 = (0..types.len()).map(|i| system.present(i)).sum();
        points.push((time, jobs as f64));
    }
    Ok(points)
}
