use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::report::{Fit, FitError, FitListener, NOTICED, Prediction};
use synth_multiresource::simulator::Contender;
use synth_multiresource::workload::Fleet;
use synth_simulation::{Estimate, Settings};
use synth_traces::replay::{
    Clock, DecisionState, DemandKinds, Log, ReplayError, Speed, Window, WindowMeasures, replay,
    replay_workload, visits,
};

/// The first rule never waits for large jobs, and the second uses the sizes to backfill.
const RULES: [&str; 3] = ["first-fit", "easy-backfill", "fcfs"];
/// The maximum number of jobs of a log that are replayed.
pub const MOST: usize = 100_000;
const EVENTS: u64 = 4_000_000;
const PRECISION: f64 = 0.01;

/// Compares the workload with its log for each of the rules, unless its load is at least 1 or
/// recent jobs have more weight. If the waits under the first rule differ, an [other](Fit::other)
/// arrival process is selected if its waits are closer.
///
/// # Errors
/// Returns an error if it is interrupted by the listener.
pub fn predict(mut fit: Fit, listener: FitListener<'_>) -> Result<Fit, FitError> {
    let log = fit.log.take().filter(|_| fit.report.load < 1.0);
    let Some(log) = log else {
        return Ok(fit);
    };
    let mut other = fit.other.take();
    for rule in RULES {
        if !listener(&format!("replaying the log under {rule}")) {
            return Err(FitError::Interrupted);
        }
        let Some(replayed) = replayed(&log, rule, listener)? else {
            continue;
        };
        let mut of = |fleet: &Fleet| {
            Ok::<_, FitError>(Prediction {
                rule,
                replayed,
                simulated: simulated(fleet, rule, listener)?,
            })
        };
        let mut own = of(&fit.workload)?;
        let is_off = own.differs_by(NOTICED) || own.simulated.is_none();
        if let Some((fleet, arrivals)) = other.take().filter(|_| is_off) {
            let levels = of(&fleet)?;
            if levels.distance() < own.distance() {
                (fit.workload, fit.report.arrivals, own) = (fleet, arrivals, levels);
            }
        }
        fit.report.predicted.push(own);
    }
    Ok(fit)
}

/// Returns the mean wait and response time of the log under a rule, if it supports the jobs.
fn replayed(
    log: &Log,
    rule: &str,
    listener: FitListener<'_>,
) -> Result<Option<[f64; 2]>, FitError> {
    let (clock, kinds) = (Clock::whole(Speed::ONE), DemandKinds::exact(log));
    let Ok((fleet, types)) = replay_workload(log, &log.jobs, &kinds, clock, 0.0, true) else {
        return Ok(None);
    };
    let Ok(contender) = Contender::named(rule, &fleet) else {
        return Ok(None);
    };
    let scene = DecisionState::new(&log.jobs, types, fleet, clock);
    let what = format!("replaying the log under {rule}");
    let played = match replay(&contender, &scene, &mut |_| listener(&what)) {
        Ok(played) => played,
        Err(ReplayError::Interrupted) => return Err(FitError::Interrupted),
        Err(_) => return Ok(None),
    };
    let per_second = log.tick.per_second() as f64;
    let visits: Vec<_> = visits(&scene, &played, per_second).collect();
    let within = Window::MIDDLE.within(log.span() / per_second);
    let measured = WindowMeasures::of(&visits, within, &kinds);
    let means = [measured.mean_wait, measured.mean_response];
    Ok(Some(means).filter(|means| means.iter().all(|mean| mean.is_finite())))
}

fn simulated(
    fleet: &Fleet,
    rule: &str,
    listener: FitListener<'_>,
) -> Result<Option<[Estimate; 2]>, FitError> {
    let Ok(contender) = Contender::named(rule, fleet) else {
        return Ok(None);
    };
    let interrupt = Arc::new(AtomicBool::new(false));
    let settings = Settings {
        events: EVENTS,
        precision: PRECISION,
        percentiles: false,
        interrupt: interrupt.clone(),
        ..Settings::default()
    };
    let run = contender.simulate_on(fleet, &settings, |_| {
        if !listener(&format!("simulating the workload under {rule}")) {
            interrupt.store(true, Ordering::Relaxed);
        }
    });
    if interrupt.load(Ordering::Relaxed) {
        return Err(FitError::Interrupted);
    }
    let means = run.ok().map(|run| (run.mean_waiting, run.mean_response));
    Ok(means.and_then(|(wait, response)| Some([wait?, response?])))
}
