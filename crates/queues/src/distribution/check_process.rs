use petgraph::algo::has_path_connecting;
use petgraph::graph::NodeIndex;

use super::ArrivalProcess;
use super::check_size::{Faults, Part};
use super::process::chain;
use synth_core::document::{Fault, Place, place, within};
use synth_core::number::Decimal;

const MOST_STATES: usize = 20;
/// The maximum mean number of state changes for each arrival. Faster changes only cost time.
const MOST_SWITCHES: f64 = 1e4;
pub(super) const MOST_SIZES: usize = 100;
const LARGEST_BATCH: u32 = 100_000;

impl ArrivalProcess {
    /// Returns the faults of the parameters. `owner` is used in the messages, such as "type `web`".
    pub fn faults(&self, owner: &str, time_unit: &str) -> Vec<Fault> {
        let mut faults = Faults::new(Part::Arrivals, owner, time_unit);
        match self {
            Self::Poisson { rate } if *rate < Decimal::ZERO => faults.add(
                place!("rate"),
                format!("arrival rate of {owner} is {rate}, expected a number > 0"),
                format!("write its mean number of arrivals per {time_unit}, or 0 to omit the type"),
            ),
            Self::Poisson { .. } => {}
            Self::Renewal {
                interarrival,
                batch,
            } => {
                let found = interarrival.faults(Part::Interarrival, owner, time_unit);
                faults.found = within(found, &place!("interarrival"));
                faults.check_batch(place!("batch"), *batch);
            }
            Self::MarkovModulated { rates, switching } => {
                let each =
                    format!("write the mean number of arrivals per {time_unit} in that state");
                let some =
                    "give one state a rate > 0; to omit the type, write `arrival_rate: 0` instead";
                if faults.check_states("rates", rates, [&each, some]) {
                    faults.check_switching(switching, rates.len());
                }
                if faults.found.is_empty() {
                    let rate = self.rate();
                    let help = format!(
                        "write `arrival_rate: {rate:.6}`: such fast modulation is equivalent to Poisson arrivals at the mean rate"
                    );
                    faults.check_pace(rate, self.switching_frequency(), help);
                }
            }
            Self::Batches {
                rate,
                sizes,
                probabilities,
                alike,
            } => {
                if *rate <= Decimal::ZERO {
                    let what = format!("rate of batches of {owner}");
                    let message = format!("{what} is {rate}, expected a number > 0");
                    let help = format!(
                        "write the mean number of batches per {time_unit}; to omit the type, write `arrival_rate: 0` instead"
                    );
                    faults.add(place!("rate"), message, help);
                }
                faults.check_batches(sizes, probabilities.as_deref());
                if !(0.0..=1.0).contains(&alike.value()) {
                    let help = "write the fraction of batches whose jobs all have the same size, or omit it for 0";
                    faults.add_value(place!("alike"), alike, "a number from 0 to 1", help);
                }
            }
        }
        let is_idle = matches!(self, Self::Poisson { rate } if rate.is_zero());
        if faults.found.is_empty() && !is_idle && !self.in_range() {
            faults.out_of_range();
        }
        faults.found
    }
}

impl Faults<'_> {
    /// Returns `true` if the number of states is valid. The help is for `each` or `some` entry.
    pub(super) fn check_states(
        &mut self,
        key: &'static str,
        entries: &[Decimal],
        [each, some]: [&str; 2],
    ) -> bool {
        if !self.check_length(place!(key), entries.len(), 2..=MOST_STATES, "") {
            return false;
        }
        let sound = self.check_entries(key, entries, |x| x >= 0.0, "a number ≥ 0", each);
        if sound && entries.iter().all(Decimal::is_zero) {
            let message = format!("{key} of {} are all 0, so no jobs arrive", self.whose());
            self.add(place!(key), message, some);
        }
        true
    }

    pub(super) fn check_switching(&mut self, switching: &[Vec<Decimal>], states: usize) {
        let (rows, why) = (switching.len(), "a row for each state");
        if !self.check_length(place!("switching"), rows, states..=states, why) {
            return;
        }
        let before = self.found.len();
        for (s, row) in switching.iter().enumerate() {
            let (place, why) = (place!("switching", s), "a rate to each state");
            if self.check_length(place, row.len(), states..=states, why) {
                self.check_row(s, row);
            }
        }
        if self.found.len() == before {
            self.check_irreducible(switching);
        }
    }

    fn check_row(&mut self, s: usize, row: &[Decimal]) {
        for (t, rate) in row.iter().enumerate() {
            let expected = match s == t {
                true if *rate != Decimal::ZERO => "0: a state does not switch to itself",
                false if *rate < Decimal::ZERO => "a number ≥ 0",
                _ => continue,
            };
            let unit = self.time_unit;
            let help = format!(
                "write the rate per {unit} from state {s} to state {t}, and 0 from a state to itself"
            );
            self.add_value(place!("switching", s, t), rate, expected, help);
        }
    }

    fn check_irreducible(&mut self, switching: &[Vec<Decimal>]) {
        let chain = chain(switching);
        let is_cut = |(s, t): &(usize, usize)| {
            let [from, to] = [*s, *t].map(NodeIndex::new);
            !has_path_connecting(&chain, from, to, None)
        };
        let states = || 0..switching.len();
        let mut pairs = (states().map(|t| (0, t))).chain(states().map(|s| (s, 0)));
        if let Some((s, t)) = pairs.find(is_cut) {
            let message = format!(
                "switching of {} never leads from state {s} to state {t}, but every state must be reachable from every other",
                self.whose()
            );
            let help = "add the missing rate, or remove the states that are never entered again";
            self.add(place!("switching"), message, help);
        }
    }

    pub(super) fn check_pace(&mut self, arrivals: f64, switches: f64, help: String) {
        if switches > MOST_SWITCHES * arrivals {
            let message = format!(
                "switching of {} changes the state {:.0e} times per arrival, expected at most {MOST_SWITCHES:.0e} times",
                self.whose(),
                switches / arrivals
            );
            self.add(place!("switching"), message, help);
        }
    }

    fn check_batches(&mut self, sizes: &[u32], probabilities: Option<&[Decimal]>) {
        if !self.check_length(place!("sizes"), sizes.len(), 1..=MOST_SIZES, "") {
            return;
        }
        for (n, size) in sizes.iter().enumerate() {
            self.check_batch(place!("sizes", n), *size);
        }
        if let Some(probabilities) = probabilities {
            self.check_probabilities(probabilities, sizes.len(), "size");
        }
    }

    fn check_batch(&mut self, place: Place, size: u32) {
        if !(1..=LARGEST_BATCH).contains(&size) {
            let expected = format!("a whole number from 1 to {LARGEST_BATCH}");
            let help = "write the number of jobs that arrive together, at least 1";
            self.add_value(place, size, &expected, help);
        }
    }
}
