use super::claimed;
use super::options::{Basis, Chosen};
use crate::analysis::value;
use crate::program::Solution;
use crate::synthesis::partition::{Partitioned, partition};
use crate::synthesis::proof::solved;
use crate::synthesis::{
    RELEVANT_DIFFERENCE, Synthesis, SynthesisError, SynthesisOptions, SynthesisOutcome, of_solution,
};
use synth_multiresource::artifact::{Artifact, Family, Objective};
use synth_multiresource::policy::TuningContext;
use synth_multiresource::simulator::Run;
use synth_multiresource::workload::{Fleet, Shape};

/// The solution of program (7), and the policy known by analysis.
#[derive(Debug)]
pub enum Analysed {
    /// The MSR policy of one server.
    Server(Box<Synthesis>),
    /// The solved program of a fleet, and a stable partition if one is found.
    Fleet(Box<Solution>, Option<Partitioned>),
}

impl From<Box<Synthesis>> for Analysed {
    fn from(msr: Box<Synthesis>) -> Self {
        Analysed::Server(msr)
    }
}

impl Analysed {
    /// Solves the program of a fleet and computes a partition of its servers.
    ///
    /// # Errors
    /// Returns an error if options conflict or the solver fails.
    pub fn of_fleet(
        fleet: &Fleet,
        options: &SynthesisOptions,
    ) -> Result<SynthesisOutcome<Self>, SynthesisError> {
        solved(fleet, options)?.and_then(|solution| {
            let slots = partition(fleet, &solution);
            Ok(Analysed::Fleet(Box::new(solution), slots))
        })
    }

    /// Returns the solution of the program.
    pub fn solution(&self) -> &Solution {
        match self {
            Analysed::Server(msr) => &msr.solution,
            Analysed::Fleet(solution, _) => solution,
        }
    }

    pub(super) fn slots(&self) -> Option<&Partitioned> {
        match self {
            Analysed::Server(_) => None,
            Analysed::Fleet(_, slots) => slots.as_ref(),
        }
    }

    /// Returns the partition of a fleet as a policy.
    ///
    /// # Errors
    /// Returns an error if no stable partition was found.
    pub fn partitioned(&self, fleet: &Fleet) -> Result<Chosen, SynthesisError> {
        let Some(slots) = self.slots() else {
            return Err(SynthesisError::InvalidOptions("no partition of this fleet is stable at this load, because the number of slots must be an integer and it takes time to change the assignment. Use --family auto, reduce the number of jobs, or add more servers".into()));
        };
        let policy = slots.policy.clone().into();
        let artifact = claimed::artifact(fleet, (self.solution(), Some(slots)), &policy, None);
        Ok(Chosen::new(artifact, Basis::Given))
    }

    /// Returns the partition if no other rule can be better by a relevant margin.
    pub(super) fn already_optimal(&self, fleet: &Fleet, objective: Objective) -> Option<Chosen> {
        let (slots, workload) = (self.slots()?, fleet.envelope());
        let cost = value(slots.numbers.as_ref()?, workload, objective);
        let is_proved = Family::from(slots.policy.clone()).is_proved_stable(workload);
        // This is infinite for a percentile, whose lower bound is 0.
        let above = cost / claimed::least(objective, workload) - 1.0;
        let is_optimal = is_proved && above <= RELEVANT_DIFFERENCE;
        let chosen = self.partitioned(fleet).ok().filter(|_| is_optimal)?;
        Some(Chosen {
            basis: Basis::Analysis,
            skipped: vec![format!(
                "rules that need a simulation: under the partition, the jobs stay {:.2} % longer than they run, so this is the most by which another rule can be better",
                100.0 * above
            )],
            ..chosen
        })
    }

    pub(super) fn context<'a>(&self, fleet: &'a Fleet) -> TuningContext<'a> {
        match self {
            Analysed::Server(msr) => {
                let selected = msr.routes.iter().find(|r| r.route == msr.policy.route);
                let outlook = selected.expect("the selected route has an outlook");
                TuningContext::new(fleet.envelope(), outlook.largest)
            }
            Analysed::Fleet(..) => TuningContext {
                servers: fleet.shapes().iter().map(Shape::count).collect(),
                ..TuningContext::new(fleet.envelope(), f64::INFINITY)
            },
        }
    }

    /// Returns the policy file with the claims of a run, and the synthesis if it is an MSR policy.
    pub(super) fn artifact(
        self,
        fleet: &Fleet,
        options: &SynthesisOptions,
        policy: &Family,
        run: Option<&Run>,
    ) -> Result<(Artifact, Option<Box<Synthesis>>), SynthesisError> {
        match (self, policy.msr()) {
            (Analysed::Server(mut msr), Some(tuned)) => {
                if *tuned != msr.policy {
                    let options = SynthesisOptions {
                        switching_rate: Some(tuned.switching_rate),
                        route: Some(tuned.route),
                        ..options.clone()
                    };
                    let own = of_solution(fleet.envelope(), &options, msr.solution, None)?;
                    msr = Box::new(own);
                }
                Ok((msr.artifact.clone(), Some(msr)))
            }
            (own, _) => {
                let run = run.map(|run| (run, options.objective));
                let known = (own.solution(), own.slots());
                Ok((claimed::artifact(fleet, known, policy, run), None))
            }
        }
    }
}
