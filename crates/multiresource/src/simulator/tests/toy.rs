//! An example of how to add a new rule: its name, its settings, and its decisions. A rule of the
//! library also needs a `mod` in `policy/mod.rs` and entries in the lists of `policy/family.rs`.

use crate::policy::{Event, NamedRule, Parameter, Policy, PolicyConfig, System};
use crate::workload::{Fleet, Workload};
use synth_core::artifact::Findings;

/// The entry for `compare`: `longest-waiting`, or `longest-waiting:3`.
static NAMED: NamedRule = NamedRule {
    name: "longest-waiting",
    description: "prefers the type whose oldest job has waited longest, with at most m running jobs of a type",
    parameter: Some(Parameter {
        meaning: "m: the limit on running jobs of a type",
        least: 1.0,
        default: Some(2.0),
        whole: true,
    }),
    // A rule in `policy/family.rs` has `settings: |_, most| Ok(LongestWaitingConfig { … }.into())`.
    build: Some(|workload, most| {
        let most = most.map_or(2, |m| m as u32);
        Ok(LongestWaitingConfig { most }.build(&workload.clone().into()))
    }),
    ..NamedRule::PLAIN
};

struct LongestWaitingConfig {
    /// m ≥ 1.
    most: u32,
}

impl PolicyConfig for LongestWaitingConfig {
    fn build(&self, _: &Fleet) -> Box<dyn Policy> {
        Box::new(LongestWaiting { most: self.most })
    }

    fn describe(&self, _: &Workload) -> String {
        format!(
            "Among the types with fewer than {} running jobs, the one whose oldest job has waited longest starts a job.",
            self.most
        )
    }

    fn check(&self, _: &Fleet, findings: &mut Findings) {
        if self.most == 0 {
            findings.differs("most", 0, "at least 1");
        }
    }
}

/// First-Fit with a limit of m running jobs for each type, which is not preemptive and not from a
/// paper. A start costs O(K). A type is stable only if its load is less than m.
#[derive(Clone, Debug)]
struct LongestWaiting {
    most: u32,
}

impl LongestWaiting {
    fn next(&self, system: &System) -> Option<usize> {
        let may = |i: &usize| system.running(*i) < self.most && system.fits(*i);
        let types = system.queued().filter(may);
        types.min_by_key(|i| system.oldest(*i).map(|job| job.number))
    }
}

impl Policy for LongestWaiting {
    fn react(&mut self, _: Event, system: &mut System) {
        while let Some(i) = self.next(system) {
            system.start(i);
        }
    }
}

use super::{Contender, agrees, erlang_c, events, one_type, quiet, rule};

#[test]
fn a_new_rule_can_be_simulated() {
    let (workload, settings) = (one_type(8, 2.4), events(200_000));
    let mean = |contender: Contender| {
        let run = contender.simulate(&workload, &settings, quiet).unwrap();
        run.mean_response
    };
    let all = mean(Contender::Rule(&NAMED, Some(8.0)));
    assert_eq!(all.unwrap().mean, mean(rule("first-fit")).unwrap().mean);
    let three = mean(Contender::Rule(&NAMED, Some(3.0)));
    agrees(three, 1.0 + erlang_c(3, 2.4) / (3.0 - 2.4), 0.2, NAMED.name);
    let mut findings = Findings::default();
    LongestWaitingConfig { most: 0 }.check(&workload.into(), &mut findings);
    assert_eq!(findings.into_list().len(), 1);
}
