//! A test that adds a rule, whole: name, settings, decisions, in the order of a file in `policy/`. In the library two lines come
//! beside it, `mod` in `policy/mod.rs` and its place in the lists of `policy/family.rs`; then files and `compare` have it.

use crate::policy::{Event, NamedRule, Parameter, Policy, PolicyConfig, System};
use crate::workload::{Fleet, Workload};
use synth_core::artifact::Findings;

/// What `compare` needs to know of it: `longest-waiting`, or `longest-waiting:3`.
static NAMED: NamedRule = NamedRule {
    name: "longest-waiting",
    about: "the type whose oldest job has waited longest first, never more than m jobs of a type",
    parameter: Some(Parameter {
        what: "m: jobs of a type that run at once, at most",
        least: 1.0,
        default: Some(2.0),
        whole: true,
    }),
    // A rule of the library, which `policy/family.rs` lists, has `settings: |_, most| Ok(LongestWaitingConfig { … }.into())`.
    build: Some(|workload, most| {
        let most = most.map_or(2, |m| m as u32);
        Ok(LongestWaitingConfig { most }.build(&workload.clone().into()))
    }),
    ..NamedRule::PLAIN
};

/// Its settings, as a policy file would have them.
struct LongestWaitingConfig {
    /// m ≥ 1.
    most: u32,
}

impl PolicyConfig for LongestWaitingConfig {
    fn build(&self, _: &Fleet) -> Box<dyn Policy> {
        Box::new(LongestWaiting { most: self.most })
    }

    fn words(&self, _: &Workload) -> String {
        format!(
            "Of the types of which fewer than {} jobs run, that whose oldest job has waited longest starts one.",
            self.most
        )
    }

    fn check(&self, _: &Fleet, findings: &mut Findings) {
        if self.most == 0 {
            findings.differs("most", 0, "1 at least");
        }
    }
}

/// First-Fit with at most m jobs of each type in service: of the types with waiting jobs, room, and fewer than m
/// running ones, that whose oldest job waits longest starts one, until there is none. Without preemption. O(K) for each
/// job started. From no paper. A type is stable only if its offered load is below m.
#[derive(Clone, Debug)]
struct LongestWaiting {
    /// m.
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

/// Of one type alone it starts whatever fits, as First-Fit does, where m is not less than what fits; else m jobs run, as on
/// m servers.
#[test]
fn a_new_rule_runs_beside_the_others() {
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
