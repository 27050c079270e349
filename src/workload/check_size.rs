//! The checks of a law of sizes.

use num_rational::BigRational;
use num_traits::One;

use super::Size;
use super::decimal::Decimal;
use super::fault::{Fault, Place};

/// The most stages of an Erlang or a Coxian law.
const MOST_STAGES: usize = 100;
/// The most branches of a hyperexponential law.
const MOST_BRANCHES: usize = 20;

impl Size {
    /// What is wrong with the law's parameters, those of the type of this index and name.
    pub(super) fn faults(&self, i: usize, name: &str, time_unit: &str) -> Vec<Fault> {
        let mut faults = Faults {
            i,
            name,
            time_unit,
            found: Vec::new(),
        };
        match self {
            Self::Exponential { mean } => faults.check_mean(Place::Size(i), *mean),
            Self::Erlang { stages, mean } => {
                if !(1..=MOST_STAGES).contains(&(*stages as usize)) {
                    faults.found.push(wrong_stages(i, name, stages));
                }
                faults.check_mean(Place::Parameter(i, "mean", None), *mean);
            }
            Self::BalancedHyperexponential { mean, scv } => {
                faults.check_mean(Place::Parameter(i, "mean", None), *mean);
                faults.check_scv(*scv);
            }
            Self::Hyperexponential {
                probabilities,
                means,
            } => faults.check_branches(probabilities, means),
            Self::Coxian { means, onward } => faults.check_stages(means, onward),
        }
        faults.found
    }
}

/// Stages that are no whole number, or too few, or too many.
pub(super) fn wrong_stages(i: usize, name: &str, found: &dyn std::fmt::Display) -> Fault {
    Fault::new(
        Place::Parameter(i, "stages", None),
        format!(
            "stages of type `{name}` are {found}, expected a whole number from 1 to {MOST_STAGES}"
        ),
        "k stages have the squared coefficient of variation 1/k; one is the exponential law",
    )
}

/// Faults of one type's law.
struct Faults<'a> {
    i: usize,
    name: &'a str,
    time_unit: &'a str,
    found: Vec<Fault>,
}

impl Faults<'_> {
    fn add(&mut self, place: Place, message: String, help: impl Into<String>) {
        self.found.push(Fault::new(place, message, help));
    }

    fn parameter(&self, key: &'static str) -> Place {
        Place::Parameter(self.i, key, None)
    }

    fn check_mean(&mut self, place: Place, mean: Decimal) {
        if mean <= Decimal::ZERO {
            let message = format!(
                "mean size of type `{}` is {mean}, expected a number > 0",
                self.name
            );
            let help = format!(
                "write the mean time in service of one job, in {}",
                self.time_unit
            );
            self.add(place, message, help);
        }
    }

    fn check_scv(&mut self, scv: Decimal) {
        let help = match scv.value() {
            scv if scv > 1.0 => return,
            1.0 => "squared coefficient of variation 1 is `law: exponential`".to_owned(),
            scv if 1.0 / scv >= 1.5 && 1.0 / scv <= 100.0 => format!(
                "below 1 fits `law: erlang`, with `stages: {:.0}` for this one",
                1.0 / scv
            ),
            _ => "below 1 fits `law: erlang`, from .01 on; exactly 1 is `law: exponential`".into(),
        };
        let message = format!(
            "squared coefficient of variation of type `{}` is {scv}, expected a number > 1",
            self.name
        );
        self.add(self.parameter("scv"), message, help);
    }

    /// Whether a list has this many entries.
    fn check_length(&mut self, key: &'static str, found: usize, most: usize, least: usize) -> bool {
        let right = (least..=most).contains(&found);
        if !right {
            let message = format!(
                "{key} of type `{}` has length {found}, expected {least} to {most}",
                self.name
            );
            self.add(self.parameter(key), message, "write one number for each");
        }
        right
    }

    /// Whether the second list is as long as the first one calls for.
    fn check_match(&mut self, key: &'static str, found: usize, expected: usize, why: &str) -> bool {
        if found != expected {
            let message = format!(
                "{key} of type `{}` has length {found}, expected {expected}: {why}",
                self.name
            );
            self.add(self.parameter(key), message, "add or delete entries");
        }
        found == expected
    }

    fn check_entries(
        &mut self,
        key: &'static str,
        entries: &[Decimal],
        sound: impl Fn(f64) -> bool,
        expected: &str,
        help: &str,
    ) -> bool {
        let before = self.found.len();
        for (n, entry) in entries
            .iter()
            .enumerate()
            .filter(|(_, e)| !sound(e.value()))
        {
            let message = format!(
                "{key}[{n}] of type `{}` is {entry}, expected {expected}",
                self.name
            );
            self.add(Place::Parameter(self.i, key, Some(n)), message, help);
        }
        self.found.len() == before
    }

    fn check_means(&mut self, means: &[Decimal]) {
        let help = format!("write the mean time spent there, in {}", self.time_unit);
        self.check_entries("means", means, |m| m > 0.0, "a number > 0", &help);
    }

    fn check_branches(&mut self, probabilities: &[Decimal], means: &[Decimal]) {
        if !self.check_length("probabilities", probabilities.len(), MOST_BRANCHES, 2)
            || !self.check_match(
                "means",
                means.len(),
                probabilities.len(),
                "one for each probability",
            )
        {
            return;
        }
        self.check_means(means);
        let sound = self.check_entries(
            "probabilities",
            probabilities,
            |p| p > 0.0,
            "a number > 0",
            "write the probability of that branch, or delete the branch",
        );
        let sum: BigRational = probabilities.iter().map(|p| p.exact()).sum();
        if sound && !sum.is_one() {
            let near: f64 = probabilities.iter().map(|p| p.value()).sum();
            let message = format!(
                "probabilities of type `{}` sum to {near}, expected 1 exactly",
                self.name
            );
            let help = "correct one of them: they are taken as the decimals written";
            self.add(self.parameter("probabilities"), message, help);
        }
    }

    fn check_stages(&mut self, means: &[Decimal], onward: &[Decimal]) {
        if !self.check_length("means", means.len(), MOST_STAGES, 1)
            || !self.check_match(
                "onward",
                onward.len(),
                means.len() - 1,
                "one for each stage but the last",
            )
        {
            return;
        }
        self.check_means(means);
        self.check_entries(
            "onward",
            onward,
            |q| q > 0.0 && q <= 1.0,
            "a probability > 0 and ≤ 1",
            "write the probability that the next stage follows; where it never does, leave out the rest",
        );
    }
}
