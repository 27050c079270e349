use std::fmt;
use std::str::FromStr;

use super::amounts::whole;

/// The number of a job, with the task of a job array (`17_3`) or the component of a heterogeneous
/// job (`17+1`). Identifiers are ordered as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId {
    job: u32,
    part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Part {
    Whole,
    Task(u32),
    Component(u32),
}

/// The key that identifies a job. The number is not sufficient, because Slurm may use it again
/// after a crash. A requeued job has a new submission time and so a new key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobKey {
    /// The submission time \[s since 1970, UTC\].
    pub submitted: i64,
    /// The number.
    pub id: JobId,
}

impl JobId {
    /// Returns `true` if this is a component of a heterogeneous job.
    pub fn is_component(self) -> bool {
        matches!(self.part, Part::Component(_))
    }
}

impl FromStr for JobId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let split = |mark| text.split_once(mark);
        let (job, part) = match (split('_'), split('+')) {
            (Some((job, task)), _) => (job, whole(task).map(Part::Task)),
            (None, Some((job, component))) => (job, whole(component).map(Part::Component)),
            (None, None) => (text, Some(Part::Whole)),
        };
        match (whole::<u32>(job), part) {
            (Some(job), Some(part)) if job > 0 => Ok(JobId { job, part }),
            _ => Err(format!("`{text}` is not a job id such as 17 or 17_3")),
        }
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Part::Whole => write!(f, "{}", self.job),
            Part::Task(task) => write!(f, "{}_{task}", self.job),
            Part::Component(component) => write!(f, "{}+{component}", self.job),
        }
    }
}

impl FromStr for JobKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (id, submitted) = text.split_once('@').unwrap_or((text, ""));
        let (id, submitted) = (id.parse()?, submitted.parse());
        let submitted =
            submitted.map_err(|_| format!("`{text}` is not a job key such as 17@1795628139"))?;
        Ok(JobKey { submitted, id })
    }
}

impl fmt::Display for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.id, self.submitted)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn parses_and_orders_ids() {
        for text in ["17", "17_3", "17+1"] {
            let id: JobId = text.parse().unwrap();
            assert_eq!(id.to_string(), text);
        }
        for text in [
            "",
            "0",
            "17_",
            "_3",
            "17_[1-4]",
            "1-7",
            "17_3_4",
            "+5",
            "17 ",
            "99999999999",
        ] {
            assert!(text.parse::<JobId>().is_err(), "{text}");
        }
        let mut ids: Vec<JobId> = ["17_10", "9", "17_9", "18"]
            .iter()
            .map(|id| id.parse().unwrap())
            .collect();
        ids.sort_unstable();
        let ids: Vec<String> = ids.iter().map(JobId::to_string).collect();
        assert_eq!(ids, ["9", "17_9", "17_10", "18"]);
    }
}
