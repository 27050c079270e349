//! Policies that can be simulated: rules by their names, and policies from artifacts.

use super::rules::{RULES, Rule, require_known};
use super::{Run, Simulation};
use crate::artifact::Family;
use crate::policy::{Policy, Unsuitable, Violation};
use crate::workload::{Fleet, Known, Workload};
use synth_core::document::nearest;
use synth_simulation::sweep::Knows;
use synth_simulation::{Progress, Settings};

/// A policy that can be simulated. What each does stands with the rule in [`crate::policy`].
#[derive(Clone, Debug)]
pub enum Contender {
    /// A rule by its name, with its parameter where it has one.
    Rule(&'static Rule, Option<f64>),
    /// A policy from an artifact.
    Policy(Box<Family>),
}

impl From<Family> for Contender {
    fn from(policy: Family) -> Self {
        Contender::Policy(Box::new(policy))
    }
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
    /// Returns all rules that need no artifact.
    pub fn rules() -> &'static [Rule] {
        RULES
    }

    /// Returns the rule for one server that a text names: `name`, or `name:parameter`.
    ///
    /// # Errors
    /// Where there is no such rule, or its parameter is not what it can be.
    pub fn parse(text: &str) -> Result<Contender, String> {
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        let rule = Rule::named(name).ok_or_else(|| unknown(name, "", |_| true))?;
        rule.with(parameter)
    }

    /// Returns the rule that a text names for such servers: on one server all that are made for one, and over several
    /// those that pool them.
    ///
    /// # Errors
    /// What is wrong with the name, and which there are.
    pub fn named(text: &str, fleet: &Fleet) -> Result<Self, String> {
        if fleet.is_one_server() {
            return Contender::parse(text);
        }
        let pooled = Rule::named(text).and_then(|rule| rule.pooled);
        let pools = |rule: &Rule| rule.pooled.is_some();
        pooled
            .map(|policy| policy().into())
            .ok_or_else(|| unknown(text, " over the servers of a fleet", pools))
    }

    /// Returns the name of the rule, without its parameter; of a policy from an artifact, its family's.
    pub fn name(&self) -> &'static str {
        match self {
            Contender::Rule(rule, _) => rule.name,
            Contender::Policy(policy) => policy.name(),
        }
    }

    /// Whether it stops running jobs.
    pub fn preempts(&self) -> bool {
        match self {
            Contender::Rule(rule, _) => rule.preempts,
            Contender::Policy(policy) => policy.preempts(),
        }
    }

    /// Returns what it knows of the jobs of this fleet.
    pub fn knows_of(&self, fleet: &Fleet) -> Knows {
        let plans = match self {
            Contender::Rule(rule, _) => rule.knows != Knows::Means,
            Contender::Policy(policy) => policy.needs_limits(),
        };
        match (self, fleet.envelope().known()) {
            _ if !plans => Knows::Means,
            (Contender::Rule(_, Some(inflation)), _) if *inflation > 1.0 => Knows::Estimates,
            (Contender::Rule(_, Some(_)), _) => Knows::Sizes,
            (_, Some(Known::Limit(_) | Known::TypeLimit)) => Knows::Estimates,
            _ => Knows::Sizes,
        }
    }

    /// Makes the rule for a fleet.
    ///
    /// # Errors
    /// Where the rule cannot serve the fleet: why not, and which rules can.
    pub fn rule(&self, fleet: &Fleet) -> Result<Box<dyn Policy>, Failure> {
        let pooled = match self {
            Contender::Policy(policy) if policy.pools() => Some(policy),
            _ => None,
        };
        match (pooled, fleet.is_one_server()) {
            (Some(policy), false) => Ok(policy.rule(fleet)),
            (None, true) => self.on_server(fleet).map_err(|why| {
                let all = RULES.iter().filter_map(|rule| rule.with(None).ok());
                let can = all.filter(|other| other.on_server(fleet).is_ok());
                let names: Vec<&str> = can.map(|other| other.name()).collect();
                Failure::Unsuitable {
                    rule: self.name(),
                    why,
                    others: names.join(", "),
                }
            }),
            (Some(_), true) => Err(Failure::Servers(
                "the policy is for a fleet, and here is one server",
            )),
            (None, false) => Err(Failure::Servers(
                "the policy is for one server, and here is a fleet",
            )),
        }
    }

    fn on_server(&self, fleet: &Fleet) -> Result<Box<dyn Policy>, Unsuitable> {
        let workload = fleet.envelope();
        // A start latency is of jobs that start once.
        if self.preempts() && workload.start_latency().is_some() {
            return Err(Unsuitable(PREEMPTED_LATENCY.into()));
        }
        match self {
            Contender::Rule(rule, parameter) => (rule.make)(workload, *parameter),
            Contender::Policy(policy) => {
                if policy.needs_limits() {
                    require_known(workload, false)?;
                }
                Ok(policy.rule(fleet))
            }
        }
    }

    /// Simulates it on one server; see [`simulate`](super::simulate).
    ///
    /// # Errors
    /// As [`Contender::simulate_on`].
    pub fn simulate(
        &self,
        workload: &Workload,
        settings: &Settings,
        progress: impl FnMut(Progress),
    ) -> Result<Run, Failure> {
        self.simulate_on(&workload.clone().into(), settings, progress)
    }

    /// Simulates it on a fleet; see [`simulate`](super::simulate).
    ///
    /// # Errors
    /// Where the rule cannot serve the fleet, or makes a decision that no server could carry out.
    pub fn simulate_on(
        &self,
        fleet: &Fleet,
        settings: &Settings,
        mut progress: impl FnMut(Progress),
    ) -> Result<Run, Failure> {
        let mut simulation = self.begin_on(fleet, settings)?;
        Ok(simulation.run(settings, &mut progress)?)
    }

    /// Begins a simulation on a fleet.
    ///
    /// # Errors
    /// Where the rule cannot serve the fleet.
    pub fn begin_on<'w>(
        &self,
        fleet: &'w Fleet,
        settings: &Settings,
    ) -> Result<Simulation<'w>, Failure> {
        Ok(Simulation::new(fleet, &*self.rule(fleet)?, settings))
    }
}

const PREEMPTED_LATENCY: &str = "it stops jobs, and the workload has a start latency, of which it is not said what a stopped job pays again: take a rule that stops none, or leave the start latency out: setup times (--preemption setup) say what a stopped job costs";

/// Says that there is no rule of this name in a scope, which is near, and which there are.
fn unknown(name: &str, scope: &str, is_there: impl Fn(&Rule) -> bool) -> String {
    let rules = || RULES.iter().filter(|rule| is_there(rule));
    let names: Vec<&str> = rules().map(|rule| rule.name).collect();
    let aliases = rules().flat_map(|rule| rule.aliases);
    let known: Vec<&str> = names.iter().chain(aliases).copied().collect();
    let meant =
        nearest(name, &known).map_or(String::new(), |near| format!(" (did you mean `{near}`?)"));
    format!(
        "there is no rule `{name}`{scope}{meant}; the rules are {}",
        names.join(", ")
    )
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
            let fleet = workload.clone().into();
            let needs = contender.rule(&fleet).unwrap().needs_sizes();
            let knows = contender.knows_of(&fleet);
            assert_eq!(needs, knows == Knows::Sizes, "{}", rule.name);
        }
        let inflated = Contender::parse("easy:3").unwrap();
        assert_eq!(inflated.knows_of(&workload.into()), Knows::Estimates);
    }

    #[test]
    fn an_unknown_name_is_told_the_nearest_and_all() {
        let said = |text| Contender::parse(text).unwrap_err();
        let text = said("frst-fit");
        assert!(text.contains("did you mean `first-fit`?"), "{text}");
        assert!(
            text.contains("fcfs") && text.contains("server-filling"),
            "{text}"
        );
        assert!(!said("a rule of mine").contains("did you mean"));
    }
}
