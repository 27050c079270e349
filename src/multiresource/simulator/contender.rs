//! Every rule by its name, and the dispatch to it: static, so that each rule is compiled into the
//! simulator's step.

use super::rules::{Parameter, RULES, Rule};
use super::{Run, Simulation};
use crate::document::nearest;
use crate::multiresource::artifact::{Family, StaticQuickswapPolicy, each_family};
use crate::multiresource::policy::{
    AdaptiveQuickswap, ByNeed, ConservativeBackfill, EasyBackfill, Estimates, FamilyRule, Fcfs,
    FirstFit, MaxWeight, Msfq, Policy, RandomizedTimers, ServerFilling, StaticQuickswap,
    Unsuitable, Violation,
};
use crate::multiresource::workload::{Known, Workload};
use crate::simulation::sweep::Knows;
use crate::simulation::{Progress, Settings};

/// Policies that can be simulated by name or from an artifact. What each does stands with the rule
/// in [`crate::multiresource::policy`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Contender {
    /// First come, first served.
    Fcfs,
    /// First-Fit.
    FirstFit,
    /// Best-Fit.
    BestFit,
    /// Most Servers First.
    MostServersFirst,
    /// Least Servers First.
    LeastServersFirst,
    /// EASY backfilling, with the inflation f of size estimates, at least 1; where none is given, by what the
    /// workload says is known, and else by sizes.
    EasyBackfill(Option<f64>),
    /// EASY backfilling by the types' mean sizes.
    EasyByMean,
    /// Conservative backfilling, with the same.
    ConservativeBackfill(Option<f64>),
    /// Randomized Timers, with clocks of this rate.
    RandomizedTimers(f64),
    /// MaxWeight over schedules that there are jobs for.
    MaxWeight,
    /// ServerFilling.
    ServerFilling,
    /// MSFQ(ℓ), lazy; ℓ = k − 1 where none is given.
    Msfq(Option<u32>),
    /// Static Quickswap.
    StaticQuickswap,
    /// Adaptive Quickswap.
    AdaptiveQuickswap,
    /// A policy from an artifact.
    Policy(Box<Family>),
}

impl From<Family> for Contender {
    fn from(policy: Family) -> Self {
        Contender::Policy(Box::new(policy))
    }
}

/// Why a text names no rule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NameError {
    /// There is no such rule.
    #[error("there is no rule `{found}`{}; the rules are {}", meant(.found), Contender::NAMES.join(", "))]
    Unknown {
        /// What was asked for.
        found: String,
    },
    /// The rule has no parameter, and was given one.
    #[error("the rule {rule} has no parameter, and was given `{found}`; write just {rule}")]
    NoParameter {
        /// The rule.
        rule: &'static str,
        /// What it was given.
        found: String,
    },
    /// The rule's parameter is not what it can be.
    #[error(
        "the parameter of {rule} is {}, from {} to {}, and not `{found}`; write for instance {rule}:{}",
        .parameter.what, .parameter.least, .parameter.most, .parameter.example()
    )]
    Parameter {
        /// The rule.
        rule: &'static str,
        /// What it can be.
        parameter: Parameter,
        /// What was found.
        found: String,
    },
}

/// Why there is no run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    /// The rule cannot serve this workload.
    #[error("{rule} cannot serve this workload: {why}; rules that can are {others}")]
    Unsuitable {
        /// The rule.
        rule: &'static str,
        /// Why not.
        why: Unsuitable,
        /// The rules that can.
        others: String,
    },
    /// The rule is for other servers.
    #[error("{0}")]
    Servers(&'static str),
    /// The rule made a decision that no server could carry out.
    #[error(transparent)]
    Violation(#[from] Violation),
}

impl Contender {
    /// The names of the rules that need no artifact.
    pub const NAMES: [&'static str; RULES.len()] = {
        let mut names = [""; RULES.len()];
        let mut n = 0;
        while n < names.len() {
            names[n] = RULES[n].name;
            n += 1;
        }
        names
    };

    /// All rules that need no artifact.
    pub fn rules() -> &'static [Rule] {
        RULES
    }

    /// The rule that a text names: `name`, or `name:parameter`.
    ///
    /// # Errors
    /// Where there is no such rule, or its parameter is not what it can be.
    pub fn parse(text: &str) -> Result<Contender, NameError> {
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        let rule = Rule::named(name).ok_or_else(|| NameError::Unknown {
            found: name.to_owned(),
        })?;
        rule.with(parameter)
    }

    /// The name of the rule, without its parameter; of a policy from an artifact, its family's.
    pub fn name(&self) -> &'static str {
        if let Contender::Policy(family) = self {
            return family.name();
        }
        let own = RULES.iter().find(|rule| rule.makes(self));
        own.map_or("", |rule| rule.name)
    }

    /// Whether it is one of the rules by name that stop running jobs. Of a policy from an artifact the
    /// artifact tells.
    pub fn preempts(&self) -> bool {
        let own = RULES.iter().find(|rule| rule.makes(self));
        own.is_some_and(|rule| rule.preempts)
    }

    /// What the rule knows of the jobs of this workload.
    pub fn knows(&self, workload: &Workload) -> Knows {
        let own = RULES.iter().find(|rule| rule.makes(self));
        let own = own.map_or(Knows::Means, |rule| rule.knows);
        match (self, workload.known()) {
            (Contender::EasyBackfill(Some(f)) | Contender::ConservativeBackfill(Some(f)), _) => {
                match *f > 1.0 {
                    true => Knows::Estimates,
                    false => Knows::Sizes,
                }
            }
            (Contender::Policy(family), known) if family.needs_limits() => match known {
                Some(Known::Size) => Knows::Sizes,
                _ => Knows::Estimates,
            },
            (
                Contender::EasyBackfill(None) | Contender::ConservativeBackfill(None),
                Some(Known::Limit(_) | Known::TypeLimit),
            ) => Knows::Estimates,
            _ => own,
        }
    }

    /// Whether the rule can serve this workload.
    ///
    /// # Errors
    /// Why not.
    pub fn suits(&self, workload: &Workload) -> Result<(), Unsuitable> {
        self.starts_once(workload)?;
        match self {
            Contender::ServerFilling => ServerFilling::new(workload).map(drop),
            Contender::EasyBackfill(f) | Contender::ConservativeBackfill(f) => {
                estimates(workload, *f).map(drop)
            }
            Contender::Policy(family) if family.needs_limits() => {
                Unsuitable::unless_known(workload, false)
            }
            Contender::Msfq(l) => Msfq::new(workload, *l, false).map(drop),
            _ => Ok(()),
        }
    }

    /// A start latency is of jobs that start once.
    fn starts_once(&self, workload: &Workload) -> Result<(), Unsuitable> {
        let stops = match self {
            Contender::Policy(family) => family.preempts(),
            rule => rule.preempts(),
        };
        match stops && workload.start_latency().is_some() {
            true => Err(Unsuitable::StartLatency),
            false => Ok(()),
        }
    }

    /// Whether the rule can serve this workload, with the rules that can where it cannot.
    ///
    /// # Errors
    /// [`Failure::Unsuitable`].
    pub fn fit(&self, workload: &Workload) -> Result<(), Failure> {
        self.suits(workload)
            .map_err(|why| self.unsuitable(why, workload))
    }

    /// Simulates this contender; see [`simulate`].
    ///
    /// # Errors
    /// Where the rule cannot serve the workload; and as [`simulate`].
    pub fn simulate(
        &self,
        workload: &Workload,
        settings: &Settings,
        mut progress: impl FnMut(Progress),
    ) -> Result<Run, Failure> {
        Ok(self
            .begin(workload, settings)?
            .run(settings, &mut progress)?)
    }

    /// Begins a simulation of this contender.
    ///
    /// # Errors
    /// Where the rule cannot serve the workload.
    pub fn begin<'w>(
        &self,
        workload: &'w Workload,
        settings: &Settings,
    ) -> Result<Simulation<'w>, Failure> {
        let begun = self.made(workload, Begin { workload, settings });
        begun.map_err(|why| self.unsuitable(why, workload))
    }

    /// The rule behind one interface: for the servers of a fleet.
    ///
    /// # Errors
    /// Where the rule cannot serve the workload.
    pub fn online(&self, workload: &Workload) -> Result<Box<dyn Policy + Send>, Failure> {
        self.made(workload, Boxed)
            .map_err(|why| self.unsuitable(why, workload))
    }

    /// The one dispatch: makes the rule for this workload, and hands it on.
    ///
    /// # Errors
    /// Where the rule cannot serve the workload.
    pub(in crate::multiresource) fn made<U: With>(
        &self,
        w: &Workload,
        with: U,
    ) -> Result<U::Output, Unsuitable> {
        self.starts_once(w)?;
        Ok(match self {
            Contender::Fcfs => with.with(Fcfs),
            Contender::FirstFit => with.with(FirstFit),
            Contender::BestFit | Contender::MostServersFirst => with.with(ByNeed::largest_first(w)),
            Contender::LeastServersFirst => with.with(ByNeed::smallest_first(w)),
            Contender::EasyBackfill(f) => with.with(EasyBackfill::new(w, estimates(w, *f)?)),
            Contender::EasyByMean => with.with(EasyBackfill::new(w, Estimates::by_mean(w))),
            Contender::ConservativeBackfill(f) => {
                with.with(ConservativeBackfill::new(w, estimates(w, *f)?))
            }
            Contender::RandomizedTimers(rate) => with.with(RandomizedTimers::new(w, *rate)),
            Contender::MaxWeight => with.with(MaxWeight::plain(w)),
            Contender::ServerFilling => with.with(ServerFilling::new(w)?),
            Contender::Msfq(l) => with.with(Msfq::new(w, *l, false)?),
            Contender::StaticQuickswap => with.with(StaticQuickswap::new(
                &StaticQuickswapPolicy::published(w),
                w,
            )),
            Contender::AdaptiveQuickswap => with.with(AdaptiveQuickswap::new(w)),
            Contender::Policy(family) => {
                self.suits(w)?;
                each_family!(&**family, policy => with.with(policy.rule(w)))
            }
        })
    }

    /// Why there is no run of it, with the rules that can serve the workload.
    pub(in crate::multiresource) fn unsuitable(
        &self,
        why: Unsuitable,
        workload: &Workload,
    ) -> Failure {
        let all = RULES.iter().filter(|rule| {
            let made = rule.with(None);
            made.is_ok_and(|contender| contender.suits(workload).is_ok())
        });
        let names: Vec<&str> = all.map(|rule| rule.name).collect();
        Failure::Unsuitable {
            rule: self.name(),
            why,
            others: names.join(", "),
        }
    }
}

/// Inflated sizes, or what the workload says is known, and sizes where it says nothing.
fn estimates(workload: &Workload, inflation: Option<f64>) -> Result<Estimates, Unsuitable> {
    let given = inflation.is_some();
    Unsuitable::unless_known(workload, given || workload.known().is_none())?;
    if !given && workload.has_limits() {
        return Ok(Estimates::Limits);
    }
    Ok(Estimates::Inflated(inflation.unwrap_or(1.0)))
}

/// What is done with a rule, whichever it is.
pub(in crate::multiresource) trait With {
    /// What comes of it.
    type Output;

    /// Does it.
    fn with<P: Policy + Clone + Send + 'static>(self, policy: P) -> Self::Output;
}

struct Begin<'w, 's> {
    workload: &'w Workload,
    settings: &'s Settings,
}

impl<'w> With for Begin<'w, '_> {
    type Output = Simulation<'w>;

    fn with<P: Policy + Clone + Send + 'static>(self, policy: P) -> Self::Output {
        Simulation::on_server(self.workload, &policy, self.settings)
    }
}

struct Boxed;

impl With for Boxed {
    type Output = Box<dyn Policy + Send>;

    fn with<P: Policy + Clone + Send + 'static>(self, policy: P) -> Self::Output {
        Box::new(policy)
    }
}

/// " (did you mean …?)" where a rule's name is near.
fn meant(found: &str) -> String {
    let aliases = RULES.iter().flat_map(|rule| rule.aliases);
    let known: Vec<&str> = Contender::NAMES
        .into_iter()
        .chain(aliases.copied())
        .collect();
    nearest(found, &known).map_or(String::new(), |name| format!(" (did you mean `{name}`?)"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_rule_is_found_by_its_names_and_knows_its_own() {
        for rule in Contender::rules() {
            for name in [rule.name].iter().chain(rule.aliases) {
                assert_eq!(Contender::parse(name).unwrap().name(), rule.name);
            }
        }
    }

    /// What a rule says of itself is what the simulator sees of it: on two types that fill three
    /// servers, or share them, each rule that may preempts.
    #[test]
    fn rules_preempt_and_know_as_they_say() {
        let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 4}}\njobs:
  - {name: small, demand: {cpu: 1}, arrival_rate: 1, mean_size: 1}
  - {name: large, demand: {cpu: 4}, arrival_rate: .4, mean_size: 1}\n";
        let workload = Workload::parse(text, "t").unwrap().workload;
        let settings = Settings {
            events: 20_000,
            ..Settings::default()
        };
        for rule in Contender::rules() {
            let contender = rule.with(None).unwrap();
            let run = contender.simulate(&workload, &settings, |_| ()).unwrap();
            assert_eq!(
                run.own.counters.preemptions > 0,
                contender.preempts(),
                "{}",
                rule.name
            );
            let needs = contender.online(&workload).unwrap().needs_sizes();
            let knows = contender.knows(&workload);
            assert_eq!(needs, knows == Knows::Sizes, "{}", rule.name);
        }
        assert_eq!(
            Contender::parse("easy:3").unwrap().knows(&workload),
            Knows::Estimates
        );
    }

    #[test]
    fn an_unknown_name_is_told_the_nearest_and_all() {
        let said = |text| Contender::parse(text).unwrap_err().to_string();
        let text = said("frst-fit");
        assert!(text.contains("did you mean `first-fit`?"), "{text}");
        assert!(
            text.contains("fcfs") && text.contains("server-filling"),
            "{text}"
        );
        assert!(!said("a rule of mine").contains("did you mean"));
    }
}
