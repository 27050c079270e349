//! Progress on standard error, where a step takes longer than a second; none when that is
//! not a terminal.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use synth::report::number;
use synth::simulator::Progress;

use super::Common;

/// A line that shows up after a second and goes when it is dropped.
pub struct Spinner(ProgressBar);

impl Spinner {
    /// Says what is under way.
    pub fn set_message(&self, message: String) {
        self.0.set_message(message);
        if self.0.elapsed() >= Duration::from_secs(1)
            && self.0.is_hidden()
            && std::io::stderr().is_terminal()
        {
            self.0.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Starts a line of progress.
pub fn spinner(common: &Common, what: &str) -> Spinner {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
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

/// How far a simulation is.
pub fn events(what: &str, reached: Progress, wanted: f64) -> String {
    let precision = reached.precision.map_or("not settled yet".into(), |p| {
        format!(
            "± {} % (asked: {} %)",
            number(100.0 * p),
            number(100.0 * wanted)
        )
    });
    format!(
        "{what}: {:.1} million events, {precision}",
        reached.events as f64 / 1e6
    )
}
