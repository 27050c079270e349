//! What a verb tells while it works, on standard error.

use std::io::{BufWriter, Write as _};
use std::time::Instant;

use synth::kind::{Caller, Given, Word};
use synth::simulation::Settings;

use super::progress::{Bar, Spinner, simulation, spinner};
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
pub struct Listener<'a> {
    common: &'a Common,
    interrupt: &'a interrupt::Later,
    settings: Option<&'a Settings>,
    spinner: Option<Spinner>,
    bar: Bar<'a>,
    started: Instant,
}

impl<'a> Listener<'a> {
    /// A listener; of simulations under these settings it tells how much is left.
    pub fn new(
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
    pub fn hear(&mut self, word: Word<'_>) {
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
