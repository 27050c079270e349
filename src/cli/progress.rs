use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::kind::{Caller, Notice, VerbResult};
use crate::report::number;
use crate::simulation::Progress;

use super::interrupt::SignalFlag;
use super::terminal::{Common, Host};

pub(super) fn with_caller<T>(
    common: &Common,
    interrupt: &SignalFlag,
    verb: impl FnOnce(&mut Caller<'_>) -> VerbResult<T>,
) -> VerbResult<T> {
    let mut listener = Listener {
        common,
        interrupt,
        line: None,
    };
    let mut output = BufWriter::new(common.host.clone());
    let answer = verb(&mut Caller {
        command: common.command.clone(),
        changes: common.changes(),
        interrupt: interrupt.flag(),
        listener: &mut |word| listener.notify(word),
        output: &mut output,
    });
    output.flush()?;
    answer
}

/// Shows the progress, and starts to handle Ctrl-C as soon as there is a result to return.
struct Listener<'a> {
    common: &'a Common,
    interrupt: &'a SignalFlag,
    line: Option<Line>,
}

impl Listener<'_> {
    fn notify(&mut self, word: Notice<'_>) {
        match word {
            Notice::Doing(what) => self.show(what.to_string()),
            Notice::Known(text) => {
                self.line = None;
                self.common.tell(text);
            }
            Notice::Interruptible => self.interrupt.listen(),
            Notice::Simulating(what, reached) => self.show(format!("{what}: {}", events(reached))),
            Notice::Comparing(stage) => {
                let events = stage.reached.map_or(String::new(), events);
                self.show(format!(
                    "{} at ρ = {} (cell {} of {}): {events}",
                    stage.policy,
                    number(stage.load),
                    stage.done + 1,
                    stage.cells
                ));
            }
        }
    }

    fn show(&mut self, message: String) {
        if let Host::Program(program) = &self.common.host {
            return program.progress(&message);
        }
        let line = self.line.get_or_insert_with(|| Line::new(self.common));
        line.0.set_message(message);
    }
}

fn events(reached: Progress) -> String {
    let precision = reached.precision.map_or("not converged yet".into(), |p| {
        format!("± {} %", number(100.0 * p))
    });
    format!(
        "{:.1} million events, {precision}",
        reached.events as f64 / 1e6
    )
}

/// A progress line that is shown after one second and removed when it is dropped.
struct Line(ProgressBar);

impl Line {
    fn new(common: &Common) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} ({elapsed})") {
            bar.set_style(style);
        }
        if !common.quiet && io::stderr().is_terminal() {
            let late = bar.clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_secs(1));
                if !late.is_finished() {
                    late.set_draw_target(ProgressDrawTarget::stderr());
                    late.enable_steady_tick(Duration::from_millis(200));
                }
            });
        }
        Line(bar)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
