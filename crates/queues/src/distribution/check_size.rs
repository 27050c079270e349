use std::fmt::Display;
use std::ops::RangeInclusive;

use num_rational::BigRational;
use num_traits::One;

use super::SizeDistribution;
use synth_core::document::{Fault, FaultsAt, Place, place};
use synth_core::number::Decimal;

const MOST_STAGES: usize = 100;
const MOST_BRANCHES: usize = 20;
const MOST_VALUES: usize = 10_000;
/// With other squared coefficients of variation, a simulation sees a constant or misses the tail.
const SCV_RANGE: RangeInclusive<f64> = 1e-6..=1e6;

const VARIATION: &str = "squared coefficient of variation";

impl SizeDistribution {
    /// Returns the faults of the parameters, with places relative to the distribution. `part` and
    /// `owner`, such as "type `web`", are used in the messages.
    pub fn faults(&self, part: Part, owner: &str, time_unit: &str) -> Vec<Fault> {
        let mut faults = Faults::new(part, owner, time_unit);
        match self {
            Self::Exponential { mean } | Self::Deterministic { mean } => faults.check_mean(*mean),
            Self::Erlang { stages, mean } => {
                if !(1..=MOST_STAGES).contains(&(*stages as usize)) {
                    let whose = faults.whose();
                    let message = format!(
                        "stages of {whose} are {stages}, expected a whole number from 1 to {MOST_STAGES}"
                    );
                    let help = "k stages have the squared coefficient of variation 1/k; one stage is the exponential distribution";
                    faults.add(place!("stages"), message, help);
                }
                faults.check_mean(*mean);
            }
            Self::BalancedHyperexponential { mean, scv } => {
                faults.check_mean(*mean);
                faults.check_scv(*scv);
            }
            Self::Hyperexponential {
                probabilities,
                means,
            } => faults.check_branches(probabilities, means),
            Self::Coxian { means, onward } => faults.check_stages(means, onward),
            Self::Lognormal { mean, scv } | Self::Weibull { mean, scv } => {
                faults.check_mean(*mean);
                faults.check_variation(*scv);
            }
            Self::Pareto { shape, low, high } => {
                if *shape <= Decimal::ZERO {
                    let help =
                        "write the exponent of the tail: P(S > 2x) is about 2^−shape P(S > x)";
                    faults.add_value(place!("shape"), shape, "a number > 0", help);
                }
                faults.check_low(*low, *low > Decimal::ZERO, "a number > 0");
                faults.check_high(*low, *high);
            }
            Self::Uniform { low, high } => {
                faults.check_low(*low, *low >= Decimal::ZERO, "a number ≥ 0");
                faults.check_high(*low, *high);
            }
            Self::Empirical {
                values,
                probabilities,
            } => faults.check_values(values, probabilities.as_deref()),
        }
        if faults.found.is_empty() && !self.in_range() {
            faults.out_of_range();
        }
        faults.found
    }

    /// Adds these faults to `at`. If there are none, adds a fault if the mean is not in `means`.
    pub fn check(
        &self,
        part: Part,
        owner: &str,
        (time_unit, means): (&str, RangeInclusive<f64>),
        at: &mut FaultsAt<'_>,
    ) {
        let (faults, mean) = (self.faults(part, owner, time_unit), self.mean());
        if faults.is_empty() && !means.contains(&mean) {
            let message = format!("the mean is {mean:e}, outside of the supported range");
            at.refuse(message, "check its numbers, or choose other units");
        }
        at.extend(faults);
    }
}

/// The quantity that has this distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The sizes of jobs.
    Size,
    /// The arrivals of jobs.
    Arrivals,
    /// The times between the arrivals of a renewal process.
    Interarrival,
    /// Another quantity with this name.
    Other(&'static str),
}

impl Part {
    /// Returns a noun, and a description of the time.
    fn words(self) -> [&'static str; 2] {
        match self {
            Self::Size => ["size", "time in service of one job"],
            Self::Arrivals => ["arrival", "time between two arrivals"],
            Self::Interarrival => ["interarrival time", "time between two arrivals"],
            Self::Other(name) => [name, name],
        }
    }
}

pub(super) struct Faults<'a> {
    part: Part,
    pub owner: &'a str,
    pub time_unit: &'a str,
    pub found: Vec<Fault>,
}

impl<'a> Faults<'a> {
    pub(super) fn new(part: Part, owner: &'a str, time_unit: &'a str) -> Self {
        Faults {
            part,
            owner,
            time_unit,
            found: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, place: Place, message: String, help: impl Into<String>) {
        self.found.push(Fault::new(place, message, help));
    }

    pub(super) fn out_of_range(&mut self) {
        let law = match self.part {
            Part::Other(name) => format!("the {name}"),
            part => format!("{}s", part.words()[0]),
        };
        let owner = self.owner;
        let message =
            format!("the distribution of {law} of {owner} is out of the range of numbers");
        let help = "check its numbers, or choose another unit";
        self.add(Place::DOCUMENT, message, help);
    }

    pub(super) fn add_value(
        &mut self,
        place: Place,
        found: impl Display,
        expected: &str,
        help: impl Into<String>,
    ) {
        let what = place.to_string().replace("scv", VARIATION);
        let message = format!("{what} of {} is {found}, expected {expected}", self.whose());
        self.add(place, message, help);
    }

    pub(super) fn whose(&self) -> String {
        match self.part {
            Part::Size => self.owner.to_owned(),
            Part::Other(name) => format!("the {name} of {}", self.owner),
            part => format!("the {}s of {}", part.words()[0], self.owner),
        }
    }

    fn time(&self) -> String {
        format!("{}, in {}", self.part.words()[1], self.time_unit)
    }

    fn check_mean(&mut self, mean: Decimal) {
        if mean <= Decimal::ZERO {
            let (noun, owner) = (self.part.words()[0], self.owner);
            let message = format!("mean {noun} of {owner} is {mean}, expected a number > 0");
            self.add(
                place!("mean"),
                message,
                format!("write the mean {}", self.time()),
            );
        }
    }

    fn check_scv(&mut self, scv: Decimal) {
        let help = match scv.value() {
            scv if scv > 1.0 => return,
            1.0 => "for squared coefficient of variation 1 use `law: exponential`".to_owned(),
            scv if (1.5..=100.0).contains(&(1.0 / scv)) => {
                let stages = 1.0 / scv;
                format!("for a value below 1 use `law: erlang`, here with `stages: {stages:.0}`")
            }
            _ => "for values from 0.01 to 1 use `law: erlang`, for exactly 1 `law: exponential`"
                .into(),
        };
        self.add_value(place!("scv"), scv, "a number > 1", help);
    }

    fn check_variation(&mut self, scv: Decimal) {
        if !SCV_RANGE.contains(&scv.value()) {
            let (least, most) = SCV_RANGE.into_inner();
            let expected = format!("a number from {least:e} to {most:e}");
            let help = "for 0 use `law: deterministic`; for an even heavier tail use `law: pareto`";
            self.add_value(place!("scv"), scv, &expected, help);
        }
    }

    fn check_low(&mut self, low: Decimal, is_sound: bool, expected: &str) {
        if !is_sound {
            let help = format!("write the smallest {}", self.time());
            self.add_value(place!("low"), low, expected, help);
        }
    }

    fn check_high(&mut self, low: Decimal, high: Decimal) {
        if high <= low || high <= Decimal::ZERO {
            let expected = format!("a number > low, which is {low}");
            let time = self.time();
            let help = format!("write the largest {time}; for a constant use `law: deterministic`");
            self.add_value(place!("high"), high, &expected, help);
        }
    }

    fn check_values(&mut self, values: &[Decimal], probabilities: Option<&[Decimal]>) {
        if !self.check_length(place!("values"), values.len(), 1..=MOST_VALUES, "") {
            return;
        }
        let help = format!("write the measured {}", self.time());
        // A time may be 0, unless all values are 0. The size of a job must be positive.
        let is_time = matches!(
            self.part,
            Part::Interarrival | Part::Other("start latency" | "delay")
        );
        if is_time && values.iter().all(|value| *value == Decimal::ZERO) {
            self.add_value(place!("values"), "0", "at least one number > 0", help);
        } else if is_time {
            self.check_entries("values", values, |x| x >= 0.0, "a number ≥ 0", &help);
        } else {
            self.check_positive("values", values, &help);
        }
        if let Some(probabilities) = probabilities {
            self.check_probabilities(probabilities, values.len(), "value");
        }
    }

    pub(super) fn check_probabilities(
        &mut self,
        probabilities: &[Decimal],
        expected: usize,
        of: &str,
    ) {
        let (place, why) = (place!("probabilities"), format!("one for each {of}"));
        if self.check_length(place, probabilities.len(), expected..=expected, &why) {
            self.check_sum(probabilities, of);
        }
    }

    fn check_sum(&mut self, probabilities: &[Decimal], of: &str) {
        let help = format!("write the probability of that {of}, or delete the {of}");
        let sound = self.check_positive("probabilities", probabilities, &help);
        let sum: BigRational = probabilities.iter().map(|p| p.exact()).sum();
        if sound && !sum.is_one() {
            let near: f64 = probabilities.iter().map(|p| p.value()).sum();
            let whose = self.whose();
            let message = format!("probabilities of {whose} sum to {near}, expected 1 exactly");
            let help = "correct one of them: they are read as exact decimals";
            self.add(place!("probabilities"), message, help);
        }
    }

    /// Checks the length of a list. `why` is used in the message if only one length is allowed.
    pub(super) fn check_length(
        &mut self,
        place: Place,
        found: usize,
        expected: RangeInclusive<usize>,
        why: &str,
    ) -> bool {
        let is_right = expected.contains(&found);
        if !is_right {
            let expected = match (expected.start(), expected.end()) {
                (least, most) if least == most => format!("{least}: {why}"),
                (least, most) => format!("{least} to {most}"),
            };
            let whose = self.whose();
            let message = format!("{place} of {whose} has length {found}, expected {expected}");
            self.add(place, message, "add or delete entries");
        }
        is_right
    }

    pub(super) fn check_entries(
        &mut self,
        key: &'static str,
        entries: &[Decimal],
        sound: impl Fn(f64) -> bool,
        expected: &str,
        help: &str,
    ) -> bool {
        let before = self.found.len();
        let numbered = entries.iter().enumerate();
        for (n, entry) in numbered.filter(|(_, entry)| !sound(entry.value())) {
            self.add_value(place!(key, n), entry, expected, help);
        }
        self.found.len() == before
    }

    fn check_positive(&mut self, key: &'static str, entries: &[Decimal], help: &str) -> bool {
        self.check_entries(key, entries, |x| x > 0.0, "a number > 0", help)
    }

    fn check_means(&mut self, means: &[Decimal]) {
        let help = format!("write the mean time spent there, in {}", self.time_unit);
        self.check_positive("means", means, &help);
    }

    fn check_branches(&mut self, probabilities: &[Decimal], means: &[Decimal]) {
        let (branches, why) = (probabilities.len(), "one for each probability");
        if !self.check_length(place!("probabilities"), branches, 2..=MOST_BRANCHES, "")
            || !self.check_length(place!("means"), means.len(), branches..=branches, why)
        {
            return;
        }
        self.check_means(means);
        self.check_sum(probabilities, "branch");
    }

    fn check_stages(&mut self, means: &[Decimal], onward: &[Decimal]) {
        let ways = means.len().saturating_sub(1);
        let why = "one for each stage but the last";
        if !self.check_length(place!("means"), means.len(), 1..=MOST_STAGES, "")
            || !self.check_length(place!("onward"), onward.len(), ways..=ways, why)
        {
            return;
        }
        self.check_means(means);
        let is_sound = |q: f64| q > 0.0 && q <= 1.0;
        let help = "write the probability that the next stage follows; if it never does, remove the remaining stages";
        self.check_entries(
            "onward",
            onward,
            is_sound,
            "a probability > 0 and ≤ 1",
            help,
        );
    }
}
