use std::borrow::Borrow;
use std::collections::HashMap;
use std::time::Duration;

use super::columns::text;
use super::{JobId, Slurm, SlurmError};

/// The refusal of an action on a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionRefusal {
    /// The job.
    pub id: JobId,
    /// The kind of the reason.
    pub why: RefusalKind,
    /// The message that was printed by Slurm.
    pub text: String,
}

/// The kind of reason for a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The caller is not an operator and does not own the job.
    NoRight,
    /// The job is running, has ended, or is unknown.
    Gone,
    /// Another reason.
    Other,
}

impl RefusalKind {
    /// The messages are the same in all versions from 22.05 to 26.05 (`src/common/slurm_errno.c`).
    fn of(text: &str) -> Self {
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if says(&["Invalid user id", "Access/permission denied"]) {
            RefusalKind::NoRight
        } else if says(&[
            "Invalid job id specified",
            "Job has already finished",
            "already completing or completed",
            "no longer pending execution",
            "not pending nor running",
        ]) {
            RefusalKind::Gone
        } else {
            RefusalKind::Other
        }
    }
}

const MOST_JOBS: usize = 500;
/// The additional time for each job. It took 35 ms to release a task of an array.
const EACH: Duration = Duration::from_millis(100);

impl Slurm {
    /// Releases held jobs, and returns the jobs for which this was refused. If there is an error,
    /// some of the jobs may have been released.
    pub fn release(&self, jobs: &[JobId]) -> Result<Vec<ActionRefusal>, SlurmError> {
        self.each("release", jobs)
    }

    /// Holds jobs as an operator. This has no effect on running jobs.
    pub fn hold(&self, jobs: &[JobId]) -> Result<Vec<ActionRefusal>, SlurmError> {
        self.each("hold", jobs)
    }

    /// Holds jobs like [`Slurm::hold`], but the owner of a job can also release it.
    pub fn hold_for_users(&self, jobs: &[JobId]) -> Result<Vec<ActionRefusal>, SlurmError> {
        self.each("uhold", jobs)
    }

    /// Restricts a pending job to these nodes (an empty list removes the restriction). At least
    /// `cpus` CPUs are used on each node, so that Slurm does not fill one node first.
    pub fn place(
        &self,
        job: JobId,
        nodes: &[impl Borrow<str>],
        cpus: Option<u128>,
    ) -> Result<Vec<ActionRefusal>, SlurmError> {
        let id = format!("JobId={job}");
        let list = format!("ReqNodeList={}", nodes.join(","));
        // Without this limit, Slurm might add other nodes to the list.
        let count = (!nodes.is_empty()).then(|| format!("NumNodes={0}-{0}", nodes.len()));
        let cpus = cpus.map(|cpus| format!("MinCPUsNode={cpus}"));
        let words = ["update", &id, &list].into_iter();
        let words = words.chain(count.as_deref()).chain(cpus.as_deref());
        self.act(&words.collect::<Vec<_>>(), &[job])
    }

    fn each(&self, what: &str, jobs: &[JobId]) -> Result<Vec<ActionRefusal>, SlurmError> {
        let mut refused = Vec::new();
        for some in jobs.chunks(MOST_JOBS) {
            let ids: Vec<String> = some.iter().map(JobId::to_string).collect();
            refused.extend(self.act(&[what, &ids.join(",")], some)?);
        }
        Ok(refused)
    }

    fn act(&self, words: &[&str], jobs: &[JobId]) -> Result<Vec<ActionRefusal>, SlurmError> {
        let limit = self.limit + EACH * u32::try_from(jobs.len()).unwrap_or(u32::MAX);
        let output = self.run("scontrol", words, limit)?;
        let text = text(&output.stderr);
        let refused = refusals(&text, jobs);
        // If one of many jobs is refused, the exit code is 1.
        match (output.status.code(), refused.is_empty()) {
            (Some(0), _) | (Some(_), false) => Ok(refused),
            (code, _) => Err(SlurmError::Failed {
                program: format!("scontrol {}", words[0]),
                code,
                text,
            }),
        }
    }
}

/// Parses lines such as `Invalid user id for job 17` or `17_3: Invalid node name specified`.
fn refusals(text: &str, jobs: &[JobId]) -> Vec<ActionRefusal> {
    let refusal = |id: JobId, text: &str| ActionRefusal {
        id,
        why: RefusalKind::of(text),
        text: text.to_owned(),
    };
    let mut refused: Vec<ActionRefusal> = Vec::new();
    let places: HashMap<String, JobId> = jobs.iter().map(|id| (id.to_string(), *id)).collect();
    for line in text.lines().map(str::trim) {
        let before = line.rsplit_once(" for job ").map(|(text, id)| (id, text));
        let mut reported = [before, line.split_once(": ")].into_iter().flatten();
        let of_job = reported.find_map(|(id, text)| Some((*places.get(id.trim())?, text)));
        if let Some((id, text)) = of_job.filter(|(_, text)| *text != "No error")
            && refused.iter().all(|own| own.id != id)
        {
            refused.push(refusal(id, text));
        }
    }
    if let ([], [only]) = (&refused[..], jobs)
        && RefusalKind::of(text) != RefusalKind::Other
    {
        refused.push(refusal(*only, text.trim()));
    }
    refused
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn refusals_are_reported_by_job() {
        let ids =
            |list: &[&str]| -> Vec<JobId> { list.iter().map(|id| id.parse().unwrap()).collect() };
        let of = |text, list: &[&str]| -> Vec<(String, RefusalKind)> {
            let refused = refusals(text, &ids(list)).into_iter();
            refused
                .map(|refusal| (refusal.id.to_string(), refusal.why))
                .collect()
        };
        let reported = "Invalid job id specified for job 999\nslurm_suspend error: No error\n";
        assert_eq!(
            of(reported, &["1", "999", "2"]),
            [("999".into(), RefusalKind::Gone)]
        );
        let reported =
            "Job has already finished for job 11\nslurm_suspend error: Job has already finished\n";
        assert_eq!(of(reported, &["11"]), [("11".into(), RefusalKind::Gone)]);
        let reported = "Invalid user id for job 2\nInvalid user id for job 3_1\nslurm_suspend error: Invalid user id\n";
        assert_eq!(
            of(reported, &["2", "3_1"]),
            [
                ("2".into(), RefusalKind::NoRight),
                ("3_1".into(), RefusalKind::NoRight)
            ]
        );
        let reported = "3_3: Invalid node name specified\n";
        assert_eq!(of(reported, &["3_3"]), [("3_3".into(), RefusalKind::Other)]);
        let reported = "scontrol: error: Could not load state information for job 9999: Invalid job id specified\n";
        assert_eq!(
            of(reported, &["9999"]),
            [("9999".into(), RefusalKind::Gone)]
        );
        let reported = "slurm_update error: Access/permission denied\n";
        assert_eq!(of(reported, &["7"]), [("7".into(), RefusalKind::NoRight)]);
        assert_eq!(
            of(
                "slurm_load_jobs error: Unable to contact slurm controller\n",
                &["7"]
            ),
            []
        );
    }
}
