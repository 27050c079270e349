//! All that it takes to add a rule: its settings, what is known of them, and its decisions. In the library the line in
//! `policy/family.rs` that lists them comes beside, and then files and `compare` have it.

use super::*;
use crate::policy::{NamedRule, Rule};
use synth_core::artifact::Findings;

/// Starts jobs of the last type first, while fewer than so many jobs run.
#[derive(Clone)]
struct LastTypeFirst {
    most: u32,
}

impl Rule for LastTypeFirst {
    fn build(&self, _: &Fleet) -> Box<dyn Policy> {
        Box::new(self.clone())
    }

    fn words(&self, _: &Workload) -> String {
        format!("The last type first, {} jobs at most.", self.most)
    }

    fn check(&self, _: &Fleet, findings: &mut Findings) {
        if self.most == 0 {
            findings.differs("most", 0, "1 at least");
        }
    }
}

impl Policy for LastTypeFirst {
    fn react(&mut self, _: Event, system: &mut System) {
        for i in (0..system.types()).rev() {
            let runs =
                |system: &System| (0..system.types()).map(|i| system.running(i)).sum::<u32>();
            while system.waiting(i) > 0 && system.fits(i) && runs(system) < self.most {
                system.start(i);
            }
        }
    }
}

/// What `compare` needs to know of it.
static TOY: NamedRule = NamedRule {
    name: "last-type-first",
    about: "the last type first",
    settings: |_, _| Ok(Box::new(LastTypeFirst { most: 8 })),
    ..NamedRule::PLAIN
};

#[test]
fn a_new_rule_runs_beside_the_others() {
    let (workload, settings) = (one_type(8, 7.2), events(200_000));
    let mean = |contender: Contender| {
        let run = contender.simulate(&workload, &settings, quiet).unwrap();
        run.mean_response.unwrap().mean
    };
    // Of one type alone both start whatever fits.
    assert_eq!(mean(Contender::from(&TOY)), mean(rule("first-fit")));
    let mut findings = Findings::default();
    LastTypeFirst { most: 0 }.check(&workload.into(), &mut findings);
    assert_eq!(findings.into_list().len(), 1);
}
