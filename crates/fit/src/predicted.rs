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

/// The first one that supports the jobs also selects the arrivals; it waits least for large jobs.
const RULES: [&str; 3] = ["first-fit", "easy-backfill", "fcfs"];

/// Adds a [`Prediction`] for each rule that supports the jobs, unless there is no log (recent jobs
/// have more weight) or the load is at least 1. If the waits under the first such rule differ or
/// have not converged, the [other](Fit::other) arrivals are selected if their waits are closer.
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
        let mut predict_rule = |fleet: &Fleet| {
            Ok::<_, FitError>(Prediction {
                rule,
                replayed,
                simulated: simulated(fleet, rule, listener)?,
            })
        };
        let mut fitted = predict_rule(&fit.workload)?;
        let is_off = fitted.differs_by(NOTICED) || fitted.simulated.is_none();
        if let Some((fleet, arrivals)) = other.take().filter(|_| is_off) {
            let with_other = predict_rule(&fleet)?;
            if with_other.distance() < fitted.distance() {
                (fit.workload, fit.report.arrivals, fitted) = (fleet, arrivals, with_other);
            }
        }
        fit.report.predicted.push(fitted);
    }
    Ok(fit)
}

/// Returns the mean wait and response time in the middle of the log under a rule that supports it.
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
        events: 4_000_000,
        precision: 0.01,
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
