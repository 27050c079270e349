//! `synth dispatch`: a request of a host is answered.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::document::{called, fault_of_json, text_of};
use crate::kind::{Answered, Caller, Given, json};
use crate::report::{Table, number};
use crate::typed::PolicyFile;
use crate::volunteer::artifact::Checked;
use crate::volunteer::policy::{Answer, Kept, Request, Sent, Verdict, decide};

/// What is typed.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    policy: PolicyFile,

    /// The request, a JSON file: what the host has and wants, and the jobs that there are
    #[arg(long, value_name = "FILE")]
    request: PathBuf,

    /// Write the answers as JSON to this file (`-`: to standard output, in place of the table)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Arguments {
    /// Files that are read, and those that are written.
    pub fn files(&self) -> (Vec<&Path>, Vec<&Path>) {
        let written = self.output.iter().map(PathBuf::as_path);
        let read = self.policy.typed().into_iter().chain([&*self.request]);
        (read.collect(), written.collect())
    }
}

/// Answers.
pub fn run(arguments: &Arguments, caller: &mut Caller<'_>) -> Given<Answered> {
    let policy = Checked::read_with(arguments.policy.file()?, caller.changes)?;
    let request: Request = serde_json::from_str(&read(&arguments.request)?)
        .map_err(|error| format!("{}: {}", arguments.request.display(), fault_of_json(&error)))?;
    request
        .check()
        .map_err(|why| format!("{}: {why}", arguments.request.display()))?;
    let answers = decide(&policy.artifact().policy.dispatch, &request);
    let mut documents = Vec::new();
    if let Some(output) = &arguments.output {
        documents.push((output.clone(), json(&answers)?));
    }
    Ok(Answered {
        table: table(&answers, policy.workload().time_unit(), caller.width),
        documents,
        ..Answered::default()
    })
}

fn read(file: &Path) -> Given<String> {
    text_of(file).map_err(|source| format!("cannot read {}: {source}", called(file)).into())
}

fn table(answers: &[Answer], time: &str, width: usize) -> String {
    let mut table = Table::new(["job".to_owned(), format!("deadline [{time}]"), "why".into()])
        .words(2)
        .wrapping(2);
    for answer in answers {
        let (deadline, why) = match answer.verdict {
            Verdict::Sent {
                deadline,
                tight,
                why,
                ..
            } => {
                let tight = if tight {
                    "; tight: other jobs have to stop"
                } else {
                    ""
                };
                (number(deadline), format!("{}{tight}", sent(why)))
            }
            Verdict::Kept(why) => ("not sent".into(), kept(why)),
        };
        table.row([answer.id.to_string(), deadline, why]);
    }
    table.within(width) + "\n"
}

fn sent(why: Sent) -> &'static str {
    match why {
        Sent::First => "above the first percentile, and the batch has no estimate",
        Sent::InTime => "done before the batch is expected to end",
        Sent::Above => "above the tight percentile",
    }
}

fn kept(why: Kept) -> String {
    match why {
        Kept::Had => "the host has had it before".into(),
        Kept::NoVersion => "the host can run no version of its application".into(),
        Kept::NoRoom => "the host wants no more work for a processor that could run it".into(),
        Kept::EnoughFirst => "the host has enough jobs of batches without an estimate".into(),
        Kept::NotFirst {
            percentile,
            threshold,
        } => format!(
            "no estimate, and the percentile {} is not above {}",
            number(percentile),
            number(threshold)
        ),
        Kept::TooLate {
            earliest,
            end,
            percentile,
            threshold,
        } => format!(
            "done at {} at the earliest, after {}, and the percentile {} is not above {}",
            number(earliest),
            number(end),
            number(percentile),
            number(threshold)
        ),
    }
}
