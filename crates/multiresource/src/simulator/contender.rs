use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::Arc;

use super::{Run, Simulation};
use crate::policy::{
    Backfilling, BackfillingConfig, Family, Information, NAMED_RULES, NamedRule, Parameter, Policy,
    Unsuitable, Violation, require_known,
};
use crate::workload::{Fleet, SizeInformation, Workload};
use synth_core::document::nearest;
use synth_simulation::{Progress, Settings};

/// A policy that can be simulated. The rules are documented in [`crate::policy`].
#[derive(Clone, Debug)]
pub enum Contender {
    /// A named rule, with its parameter if it has one.
    Rule(&'static NamedRule, Option<f64>),
    /// Backfilling with its options, from their names.
    Backfilling(Backfilling),
    /// A policy from an artifact.
    Policy(Box<Family>),
    /// A rule that is defined outside of the library.
    External(Arc<dyn ExternalRule>),
}

/// A named rule that is defined outside of the library. It must support one server and fleets.
pub trait ExternalRule: Debug + Send + Sync {
    /// Returns the name.
    fn name(&self) -> &'static str;

    /// Returns whether it may preempt jobs.
    fn preempts(&self) -> bool {
        false
    }

    /// Returns whether it must run on one thread at a time.
    fn runs_in_turn(&self) -> bool {
        false
    }

    /// Returns the information that it uses about the jobs of this fleet.
    fn information(&self, fleet: &Fleet) -> Information;

    /// Builds the rule for a fleet, or returns the reason why it cannot serve it.
    fn rule(&self, fleet: &Fleet) -> Result<Box<dyn Policy>, Unsuitable>;
}

thread_local! {
    static ADDED: RefCell<Vec<Arc<dyn ExternalRule>>> = const { RefCell::new(Vec::new()) };
}

/// Calls `run` with additional named rules, which are only available in this thread.
pub fn with_rules<T>(rules: Vec<Arc<dyn ExternalRule>>, run: impl FnOnce() -> T) -> T {
    struct Before(Vec<Arc<dyn ExternalRule>>);
    impl Drop for Before {
        fn drop(&mut self) {
            ADDED.set(std::mem::take(&mut self.0));
        }
    }
    let _before = Before(ADDED.replace(rules));
    run()
}

fn added(name: &str) -> Option<Arc<dyn ExternalRule>> {
    ADDED.with_borrow(|rules| rules.iter().find(|rule| rule.name() == name).cloned())
}

impl From<Family> for Contender {
    fn from(policy: Family) -> Self {
        Contender::Policy(Box::new(policy))
    }
}

impl From<&'static NamedRule> for Contender {
    fn from(rule: &'static NamedRule) -> Self {
        Contender::Rule(rule, rule.parameter.and_then(|own| own.default))
    }
}

/// The reason why there is no run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    /// The rule cannot serve this workload.
    #[error("{rule} cannot serve this workload: {why}; the rules that can are {others}")]
    Unsuitable {
        /// The name of the rule.
        rule: &'static str,
        /// The reason.
        why: Unsuitable,
        /// The names of the rules that can.
        others: String,
    },
    /// The policy does not match the servers.
    #[error("{0}")]
    Servers(&'static str),
    /// The rule made a decision that is not feasible.
    #[error(transparent)]
    Violation(#[from] Violation),
}

impl Contender {
    /// Returns all named rules.
    pub fn rules() -> &'static [NamedRule] {
        NAMED_RULES
    }

    /// Parses a rule for one server, `name` or `name:parameter`.
    pub fn parse(text: &str) -> Result<Contender, String> {
        if let Some(rule) = added(text) {
            return Ok(Contender::External(rule));
        }
        if let Some(choices) = Backfilling::parse(text) {
            return choices.map(Contender::Backfilling);
        }
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        let rule = find(name, "", |_| true)?;
        Ok(Contender::Rule(rule, parameter_of(rule, parameter)?))
    }

    /// Parses a rule for a fleet, which must pool the servers if there are several.
    pub fn named(text: &str, fleet: &Fleet) -> Result<Self, String> {
        if fleet.is_one_server() || text.contains('+') || added(text).is_some() {
            return Contender::parse(text);
        }
        let scope = match fleet.devices().is_empty() {
            true => " for the servers of a fleet",
            false => " that places jobs on devices",
        };
        let rule = find(text, scope, |rule| rule.is_for_fleet)?;
        Ok(Contender::Rule(rule, None))
    }

    /// Returns the name of the rule or of the policy's family.
    pub fn name(&self) -> &'static str {
        match self {
            Contender::Rule(rule, _) => rule.name,
            Contender::Backfilling(_) => "backfilling",
            Contender::Policy(policy) => policy.called(),
            Contender::External(rule) => rule.name(),
        }
    }

    /// Returns whether it preempts jobs.
    pub fn preempts(&self) -> bool {
        match self {
            Contender::Rule(rule, _) => rule.preempts,
            Contender::Backfilling(_) => false,
            Contender::Policy(policy) => policy.preempts(),
            Contender::External(rule) => rule.preempts(),
        }
    }

    /// Returns the information that it uses about the jobs of this fleet.
    pub fn information_about(&self, fleet: &Fleet) -> Information {
        if let Contender::External(rule) = self {
            return rule.information(fleet);
        }
        let plans = match self {
            Contender::Rule(rule, _) => rule.information != Information::Means,
            Contender::Policy(policy) => {
                let looks = (**policy).clone().job_order_mut().is_some();
                policy.needs_limits() || looks && fleet.envelope().has_limits()
            }
            Contender::Backfilling(_) | Contender::External(_) => true,
        };
        match (self, fleet.envelope().size_information()) {
            _ if !plans => Information::Means,
            (Contender::Rule(_, Some(inflation)), _) if *inflation > 1.0 => Information::Estimates,
            (Contender::Rule(_, Some(_)), _) => Information::Sizes,
            (_, Some(SizeInformation::Limit(_) | SizeInformation::TypeLimit)) => {
                Information::Estimates
            }
            _ => Information::Sizes,
        }
    }

    /// Builds the rule for a fleet. If it cannot serve the fleet, the error contains the reason and
    /// the rules that can.
    pub fn build_policy(&self, fleet: &Fleet) -> Result<Box<dyn Policy>, Failure> {
        let is_one = fleet.is_one_server();
        match self {
            Contender::Rule(rule, None) if !is_one && rule.is_for_fleet => {
                let unsuitable = |why| Failure::Unsuitable {
                    rule: rule.name,
                    why,
                    others: "first-fit, fcfs and best-fit".into(),
                };
                rule.rule(fleet, None).map_err(unsuitable)
            }
            Contender::Rule(..) | Contender::Policy(_) if !fleet.devices().is_empty() => {
                Err(Failure::Servers(
                    "the policy works with amounts, but a resource of this workload consists of devices: choose a rule such as fcfs, first-fit, best-fit, easy or easy+sjf",
                ))
            }
            Contender::Policy(policy) if !is_one && policy.is_for_fleet() => {
                Ok(policy.build(fleet))
            }
            Contender::Rule(..) | Contender::Policy(_) if !is_one => Err(Failure::Servers(
                "the policy is for one server, but the workload has a fleet",
            )),
            Contender::Policy(policy) if policy.is_for_fleet() => Err(Failure::Servers(
                "the policy is for a fleet, but the workload has one server",
            )),
            _ => {
                let can = |other: &Self| match is_one {
                    true => other.build(fleet).is_ok(),
                    false => other.build_policy(fleet).is_ok(),
                };
                self.build(fleet).map_err(|why| self.unsuitable(why, can))
            }
        }
    }

    /// Returns its settings in a policy file for this fleet. It is an error if the rule cannot
    /// serve the fleet, or policy files do not support it.
    pub fn settings(&self, fleet: &Fleet) -> Result<Family, Failure> {
        if !fleet.devices().is_empty() {
            return Err(Failure::Servers(
                "a resource consists of devices, which policy files do not support: simulate or replay the rule instead",
            ));
        }
        let of = |own: &Self| match own {
            Contender::Rule(rule, _) if !(fleet.is_one_server() || rule.is_for_fleet) => {
                Err(Unsuitable("it is for one server".into()))
            }
            Contender::Policy(policy) => Ok((**policy).clone()),
            Contender::Backfilling(choices) => {
                require_known(fleet.envelope(), false)?;
                Ok(BackfillingConfig::of(*choices, fleet)?.into())
            }
            Contender::External(_) => Err(Unsuitable("policy files do not support it".into())),
            Contender::Rule(rule, parameter) => {
                let settings = (rule.settings)(fleet, *parameter)?;
                if settings.needs_limits() {
                    require_known(fleet.envelope(), false)?;
                }
                Ok(settings)
            }
        };
        self.build_policy(fleet)?;
        of(self).map_err(|why| self.unsuitable(why, |other| of(other).is_ok()))
    }

    fn unsuitable(&self, why: Unsuitable, can: impl Fn(&Self) -> bool) -> Failure {
        let rules = NAMED_RULES.iter();
        let others = rules.filter(|rule| can(&Contender::from(*rule)));
        let names: Vec<&str> = others.map(|rule| rule.name).collect();
        Failure::Unsuitable {
            rule: self.name(),
            why,
            others: names.join(", "),
        }
    }

    fn build(&self, fleet: &Fleet) -> Result<Box<dyn Policy>, Unsuitable> {
        let workload = fleet.envelope();
        match self {
            Contender::Backfilling(choices) => choices.with_declared_information(fleet),
            Contender::External(rule) => rule.rule(fleet),
            // The start latency is only defined for jobs that start once.
            _ if self.preempts() && workload.start_latency().is_some() => {
                Err(Unsuitable(PREEMPTED_LATENCY.into()))
            }
            Contender::Rule(rule, parameter) => rule.rule(fleet, *parameter),
            Contender::Policy(policy) => {
                if policy.needs_limits() {
                    require_known(workload, false)?;
                }
                Ok(policy.build(fleet))
            }
        }
    }

    /// Simulates it on one server; see [`simulate`](super::simulate).
    pub fn simulate(
        &self,
        workload: &Workload,
        settings: &Settings,
        progress: impl FnMut(Progress),
    ) -> Result<Run, Failure> {
        self.simulate_on(&workload.clone().into(), settings, progress)
    }

    /// Simulates it on a fleet; see [`simulate`](super::simulate).
    pub fn simulate_on(
        &self,
        fleet: &Fleet,
        settings: &Settings,
        mut progress: impl FnMut(Progress),
    ) -> Result<Run, Failure> {
        let mut simulation = Simulation::new(fleet, &*self.build_policy(fleet)?, settings);
        let settings = match self {
            Contender::External(rule) if rule.runs_in_turn() => &Settings {
                in_turn: true,
                ..settings.clone()
            },
            _ => settings,
        };
        Ok(simulation.run(settings, &mut progress)?)
    }
}

const PREEMPTED_LATENCY: &str = "it preempts jobs and the workload has a start latency, but it is not defined what a preempted job pays again: choose a rule that does not preempt, or omit the start latency and use setup times (--preemption setup), which define the cost of a preemption";

fn find(
    name: &str,
    scope: &str,
    is_there: impl Fn(&NamedRule) -> bool,
) -> Result<&'static NamedRule, String> {
    let rules = || NAMED_RULES.iter().filter(|rule| is_there(rule));
    let is_called = |rule: &&NamedRule| rule.name == name || rule.aliases.contains(&name);
    rules().find(is_called).ok_or_else(|| {
        let known = rules().flat_map(|rule| rule.aliases.iter().chain([&rule.name]));
        let near = nearest(name, &known.copied().collect::<Vec<_>>());
        let help = match near {
            _ if TUNED.contains(&name) => format!(
                "it is a family, whose parameters are tuned: `synth WORKLOAD --family {name} -o p.json` writes a policy file"
            ),
            _ if NAMED_RULES.iter().any(|rule| rule.name == name) => {
                "this rule is only for one server".into()
            }
            Some(near) => format!("did you mean `{near}`?"),
            None => "`synth rules` lists all rules".into(),
        };
        format!("there is no rule `{name}`{scope}; {help}")
    })
}

/// The families that are no rules, since their parameters are tuned for a workload.
const TUNED: [&str; 6] = [
    "msr",
    "quickswap",
    "tdc",
    "reserving",
    "pooled",
    "partition",
];

fn parameter_of(rule: &NamedRule, text: Option<&str>) -> Result<Option<f64>, String> {
    let name = rule.name;
    match (rule.parameter, text) {
        (own, None) => Ok(own.and_then(|own| own.default)),
        (None, Some(text)) => Err(format!(
            "the rule {name} takes no parameter, but `{text}` was given; write just {name}"
        )),
        (Some(own), Some(text)) => {
            let can_be = |x: &f64| {
                (own.least..=Parameter::MOST).contains(x) && (!own.whole || x.fract() == 0.0)
            };
            let value = text.parse().ok().filter(can_be);
            value.map(Some).ok_or_else(|| {
                format!(
                    "the parameter of {name} is {}, from {} to {}, but `{text}` was given; write for instance {name}:{}",
                    own.meaning, own.least, Parameter::MOST, own.default.unwrap_or(own.least)
                )
            })
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn parses_all_names_and_aliases() {
        for rule in Contender::rules() {
            for name in [rule.name].iter().chain(rule.aliases) {
                assert_eq!(Contender::parse(name).unwrap().name(), rule.name);
            }
        }
    }

    #[test]
    fn rules_preempt_and_use_information_as_declared() {
        let text = "kind: multiresource\ntime_unit: s\nserver: {capacity: {cpu: 4}}\njobs:
  - {name: small, demand: {cpu: 1}, arrival_rate: 1, mean_size: 1}
  - {name: large, demand: {cpu: 4}, arrival_rate: .4, mean_size: 1, priority: 5}\n";
        let workload = Workload::parse(text, "t").unwrap().workload;
        let settings = Settings {
            events: 20_000,
            ..Settings::default()
        };
        for rule in Contender::rules() {
            let contender = Contender::from(rule);
            let run = contender.simulate(&workload, &settings, |_| ()).unwrap();
            assert_eq!(
                run.own.counters.preemptions > 0,
                contender.preempts(),
                "{}",
                rule.name
            );
            let fleet = workload.clone().into();
            let built = contender.build_policy(&fleet).unwrap();
            assert_eq!(
                built.information(),
                contender.information_about(&fleet),
                "{}",
                rule.name
            );
        }
        let inflated = Contender::parse("easy:3").unwrap();
        assert_eq!(
            inflated.information_about(&workload.into()),
            Information::Estimates
        );
    }

    #[test]
    fn unknown_names_get_suggestions() {
        let said = |text| Contender::parse(text).unwrap_err();
        let text = said("frst-fit");
        assert!(text.contains("did you mean `first-fit`?"), "{text}");
        assert!(said("a rule of mine").contains("`synth rules` lists all rules"));
        assert!(said("pooled").contains("--family pooled"));
    }
}
