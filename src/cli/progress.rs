//! What a verb tells while it works, on standard error; progress of steps that take longer than a second, where that is
//! a terminal.

use std::io::{BufWriter, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use synth::kind::{Caller, Given, Word};
use synth::report::number;
use synth::simulation::sweep::Stage;
use synth::simulation::{Progress, Settings};

use super::{Common, interrupt, tell, width};

/// Does a verb, which is heard; nothing more is shown once it has an answer. Of simulations under these settings it is
/// told how much is left.
pub fn heard<T>(
    common: &Common,
    interrupt: &interrupt::Later,
    settings: Option<&Settings>,
    verb: impl FnOnce(&mut Caller<'_>) -> Given<T>,
) -> Given<T> {
    let mut listener = Listener::new(common, interrupt, settings);
    let mut output = BufWriter::new(std::io::stdout().lock());
    let answer = verb(&mut Caller {
        width: width(),
        changes: common.changes(),
        interrupt: interrupt.flag(),
        hears: &mut |word| listener.hear(word),
        output: &mut output,
    });
    output.flush()?;
    answer
}

/// Hears a verb: shows progress, and from when on Ctrl-C leaves something to tell.
struct Listener<'a> {
    common: &'a Common,
    interrupt: &'a interrupt::Later,
    settings: Option<&'a Settings>,
    spinner: Option<Spinner>,
    bar: Bar<'a>,
    started: Instant,
}

impl<'a> Listener<'a> {
    fn new(
        common: &'a Common,
        interrupt: &'a interrupt::Later,
        settings: Option<&'a Settings>,
    ) -> Self {
        Listener {
            common,
            interrupt,
            settings,
            spinner: None,
            bar: Bar::new(common),
            started: Instant::now(),
        }
    }

    /// Hears one word.
    fn hear(&mut self, word: Word<'_>) {
        match word {
            Word::Doing(what) => self.show(what.to_string()),
            Word::Known(text) => {
                self.spinner = None;
                tell(self.common, text);
            }
            Word::Interruptible => self.interrupt.listen(),
            Word::Simulating(what, reached) => {
                let elapsed = self.started.elapsed();
                let told = |settings| simulation(what, reached, settings, elapsed);
                self.show(self.settings.map_or_else(|| what.to_string(), told));
            }
            Word::Comparing(stage) => {
                self.spinner = None;
                if let Some(settings) = self.settings {
                    self.bar.stage(&stage, settings);
                }
            }
        }
    }

    fn show(&mut self, message: String) {
        match &self.spinner {
            Some(spinner) => spinner.set_message(message),
            None => {
                self.bar.end();
                self.spinner = Some(spinner(self.common, &message));
            }
        }
    }
}

/// A line of progress that appears after a second and is removed when it is dropped.
struct Spinner(ProgressBar);

impl Spinner {
    /// Says what is under way.
    fn set_message(&self, message: String) {
        self.0.set_message(message);
    }

    /// Removes the line before it is dropped.
    fn end(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Starts a line of progress.
fn spinner(common: &Common, what: &str) -> Spinner {
    line(common, None, "{spinner} {wide_msg} ({elapsed})", what)
}

fn line(common: &Common, length: Option<u64>, template: &str, what: &str) -> Spinner {
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(what.to_string());
    if !common.quiet && std::io::stderr().is_terminal() {
        let late = bar.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(1));
            if !late.is_finished() {
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(Duration::from_millis(200));
            }
        });
    }
    Spinner(bar)
}

/// Progress of several simulations, one after another.
struct Bar<'a> {
    common: &'a Common,
    /// None before the first cell.
    begun: Option<Begun>,
}

struct Begun {
    line: Spinner,
    started: Instant,
    cell_started: Instant,
}

/// Steps of the bar per cell.
const STEPS: f64 = 1000.0;

impl<'a> Bar<'a> {
    /// A bar that appears with the first cell.
    fn new(common: &'a Common) -> Self {
        Bar {
            common,
            begun: None,
        }
    }

    /// Removes the bar before it is dropped.
    fn end(&self) {
        if let Some(begun) = &self.begun {
            begun.line.end();
        }
    }

    /// Says how far a comparison is.
    fn stage(&mut self, stage: &Stage<'_>, settings: &Settings) {
        let begun = self.begun.get_or_insert_with(|| {
            let template = "{bar:12.cyan/dim} {wide_msg} ({elapsed})";
            let length = (stage.cells as f64 * STEPS) as u64;
            let now = Instant::now();
            Begun {
                line: line(self.common, Some(length), template, "simulating"),
                started: now,
                cell_started: now,
            }
        });
        match stage.reached {
            None => begun.cell_started = Instant::now(),
            Some(reached) => begun.reached(stage, reached, settings),
        }
    }
}

impl Begun {
    fn reached(&self, stage: &Stage<'_>, reached: Progress, settings: &Settings) {
        let share = share(reached, settings, self.cell_started.elapsed());
        let steps = (stage.done as f64 + share) * STEPS;
        self.line.0.set_position(steps as u64);
        let left = about(self.left(stage, share));
        let events = events(reached, settings.precision);
        self.line.set_message(format!(
            "{} at ρ = {} (cell {} of {}): {events}{left}",
            stage.policy,
            stage.load,
            stage.done + 1,
            stage.cells
        ));
    }

    /// Time left: the rest of this cell, and for each later cell the mean time of a cell so far.
    fn left(&self, stage: &Stage<'_>, share: f64) -> Option<Duration> {
        let cell = rest(self.cell_started.elapsed(), share)?;
        let others = (stage.cells - stage.done - 1) as u32;
        let so_far = self.started.elapsed() + cell;
        Some(cell + so_far / (stage.done as u32 + 1) * others)
    }
}

/// How far one simulation is, and how much longer it may take.
fn simulation(what: &str, reached: Progress, settings: &Settings, elapsed: Duration) -> String {
    let left = rest(elapsed, share(reached, settings, elapsed));
    let events = events(reached, settings.precision);
    format!("{what}: {events}{}", about(left))
}

fn events(reached: Progress, wanted: f64) -> String {
    let precision = reached.precision.map_or("not settled yet".into(), |p| {
        let [p, wanted] = [p, wanted].map(|x| number(100.0 * x));
        format!("± {p} % (asked: {wanted} %)")
    });
    format!(
        "{:.1} million events, {precision}",
        reached.events as f64 / 1e6
    )
}

/// The part of a simulation that is done, in (0, 1], by the limit that will be reached first. The
/// precision is proportional to 1/√events.
fn share(reached: Progress, settings: &Settings, elapsed: Duration) -> f64 {
    let precision = reached
        .precision
        .map_or(0.0, |p| (settings.precision / p).powi(2));
    let events = reached.events as f64 / settings.events as f64;
    let time = settings
        .time
        .map_or(0.0, |t| elapsed.as_secs_f64() / t.as_secs_f64());
    precision.max(events).max(time).clamp(1e-6, 1.0)
}

/// Time left if the pace stays as it is; unknown in the first moments.
fn rest(elapsed: Duration, share: f64) -> Option<Duration> {
    let left = elapsed.as_secs_f64() * (1.0 / share - 1.0);
    (elapsed > Duration::from_millis(200) && left < 1e7).then(|| Duration::from_secs_f64(left))
}

fn about(left: Option<Duration>) -> String {
    let Some(left) = left else {
        return String::new();
    };
    let seconds = left.as_secs_f64();
    match seconds {
        s if s < 90.0 => format!(", about {:.0} s left", s.max(1.0)),
        s if s < 5400.0 => format!(", about {:.0} min left", s / 60.0),
        s => format!(", about {:.1} h left", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four times the events halve the interval; the limit that is reached first decides.
    #[test]
    fn the_rest_follows_from_precision_and_budgets() {
        let settings = Settings {
            precision: 0.01,
            events: 100_000_000,
            ..Settings::default()
        };
        let reached = |events, precision| Progress { events, precision };
        let at = |reached| share(reached, &settings, Duration::from_secs(1));
        assert!((at(reached(1_000_000, Some(0.02))) - 0.25).abs() < 1e-12);
        assert!((at(reached(50_000_000, Some(0.1))) - 0.5).abs() < 1e-12);
        assert!((at(reached(1_000_000, None)) - 0.01).abs() < 1e-12);
        let left = rest(Duration::from_secs(10), 0.25).map(|d| d.as_secs());
        assert_eq!(left, Some(30));
        assert_eq!(about(Some(Duration::from_secs(600))), ", about 10 min left");
    }
}
