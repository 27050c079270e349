mod online;
mod settings;

pub use online::Partition;
pub use settings::PartitionConfig;

use super::Policy;
use super::rule::PolicyConfig;
use crate::schedule::Packing;
use crate::workload::{Fleet, JobType, Workload};
use synth_core::artifact::{Findings, positive};

impl PolicyConfig for PartitionConfig {
    fn build(&self, fleet: &Fleet) -> Box<dyn Policy> {
        Box::new(Partition::new(self, fleet))
    }

    fn describe(&self, workload: &Workload) -> String {
        let types = workload.types().iter();
        let nodes: Vec<u32> = types.clone().map(|t| t.nodes()).collect();
        let each = types.zip(self.jobs(0, &nodes));
        let slots: Vec<String> = each.map(|(t, c)| format!("{c} of {}", t.name())).collect();
        let slots = slots.join(", ");
        match self.switching_rate {
            None => format!(
                "Partition, without preemption: each server always uses the same schedule, and a job waits in a common queue until there is a free slot of its type. Slots: {slots}."
            ),
            Some(rate) => format!(
                "Partition with {} assignments, without preemption: each server uses the same schedule until a clock (α = {rate} per {}) switches to the next assignment. If the schedule of a server changes, it does not start any jobs until it is empty. A job waits in a common queue until there is a free slot of its type. Initial slots: {slots}.",
                self.assignments.len(),
                workload.time_unit()
            ),
        }
    }

    fn check(&self, fleet: &Fleet, findings: &mut Findings) {
        let (shapes, types, each) = (fleet.shapes(), fleet.types().len(), "server shape");
        let packing = Packing::new(fleet.envelope());
        findings.length("schedules", self.schedules.len(), shapes.len(), each);
        for (h, (schedules, shape)) in self.schedules.iter().zip(shapes).enumerate() {
            for (s, schedule) in schedules.iter().enumerate() {
                let path = format!("schedules[{h}][{s}]");
                findings.length(&path, schedule.len(), types, "job type");
                if schedule.len() == types && !packing.fits_in(schedule, &fleet.units(h)) {
                    let message = format!("does not fit on a server of shape `{}`", shape.name());
                    findings.add(path, message);
                }
            }
        }
        if self.assignments.is_empty() {
            findings.add("assignments", "no assignments, expected at least one");
        }
        for (m, servers) in self.assignments.iter().enumerate() {
            let path = format!("assignments[{m}]");
            findings.length(&path, servers.len(), shapes.len(), each);
            for (h, (counts, shape)) in servers.iter().zip(shapes).enumerate() {
                let path = format!("{path}[{h}]");
                let schedules = self.schedules.get(h).map_or(0, Vec::len);
                findings.length(&path, counts.len(), schedules, "schedule");
                let all: u64 = counts.iter().map(|count| u64::from(*count)).sum();
                if all != u64::from(shape.count()) {
                    findings.differs(path, format!("{all} servers in total"), shape.count());
                }
            }
        }
        let loops = self.assignments.len();
        findings.positive_shares("weights", &self.weights, loops, "assignment");
        match (self.switching_rate, loops > 1) {
            (Some(rate), true) => positive("switching_rate", rate, findings),
            (None, false) => {}
            (Some(_), false) => findings.add(
                "switching_rate",
                "expected none, because there is only one assignment",
            ),
            (None, true) => findings.differs(
                "switching_rate",
                "absent",
                "a rate, because there are several assignments",
            ),
        }
    }

    fn is_for_fleet(&self) -> bool {
        true
    }

    fn is_proved_stable(&self, workload: &Workload) -> bool {
        workload.types().iter().all(JobType::is_memoryless) && workload.is_poisson()
    }
}
