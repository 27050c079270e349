//! Running a command with a time limit.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::columns::text;
use super::{Slurm, SlurmError};

/// More than this no command writes: a queue of 100,000 jobs has 80 MB.
const MOST_BYTES: u64 = 256 << 20;

/// How long to sleep before the next look whether a command that has closed its output has ended.
const LOOK: Duration = Duration::from_millis(1);

/// What a command wrote, and how it ended.
pub(super) struct Output {
    /// Standard output.
    pub bytes: Vec<u8>,
    /// Standard error.
    pub text: String,
    /// The exit code; none of a command that a signal ended.
    pub code: Option<i32>,
}

impl Slurm {
    /// Runs a command that answers on standard output; an exit code other than 0 is an error.
    pub(super) fn ask(&self, program: &str, words: &[&str]) -> Result<Vec<u8>, SlurmError> {
        let output = self.run(program, words, self.limit)?;
        match output.code {
            Some(0) => Ok(output.bytes),
            code => Err(SlurmError::Failed {
                program: program.into(),
                code,
                // `scontrol show` says on standard output that there is none.
                text: match output.text.trim() {
                    "" => text(&output.bytes),
                    _ => output.text,
                },
            }),
        }
    }

    /// Returns the same as text.
    pub(super) fn told(&self, program: &str, words: &[&str]) -> Result<String, SlurmError> {
        Ok(text(&self.ask(program, words)?))
    }

    /// Runs a command to its end, whatever its exit code. One that has not ended in time is killed. What it started
    /// itself may live on and keep its output open: nobody waits for that.
    pub(super) fn run(
        &self,
        program: &str,
        words: &[&str],
        limit: Duration,
    ) -> Result<Output, SlurmError> {
        let deadline = Instant::now() + limit;
        let child = self.command(program, words).spawn();
        let mut child = child.map_err(|source| failed(program, source))?;
        let output = gather(&mut child, program, deadline, limit);
        if output.is_err() {
            // It may have ended meanwhile; then there is nothing to kill.
            let _ = child.kill();
        }
        // Killed or ended: it leaves no zombie.
        let _ = child.wait();
        output
    }

    /// Returns the command in an environment in which it prints the same everywhere.
    fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env("LC_ALL", "C")
            .env("TZ", "UTC0")
            .env("SLURM_TIME_FORMAT", "standard")
            .env_remove("SLURM_CLUSTERS")
            .env_remove("SLURM_BITSTR_LEN");
        // Defaults of options, such as SQUEUE_USERS, would hide jobs.
        let starts = ["SQUEUE_", "SINFO_", "SCONTROL_"];
        for (name, _) in std::env::vars_os() {
            let own = name.to_string_lossy();
            if starts.iter().any(|start| own.starts_with(start)) {
                command.env_remove(&name);
            }
        }
        if let Some(file) = &self.configuration {
            command.env("SLURM_CONF", file);
        }
        if let Some(folder) = &self.programs {
            let others = std::env::var_os("PATH").unwrap_or_default();
            let folders = std::iter::once(folder.clone()).chain(std::env::split_paths(&others));
            if let Ok(path) = std::env::join_paths(folders) {
                command.env("PATH", path);
            }
        }
        command
    }
}

fn failed(program: &str, source: io::Error) -> SlurmError {
    SlurmError::Unusable(format!(
        "cannot run {program}: {source}: install the client commands of Slurm here, or put them into PATH"
    ))
}

/// Reads both outputs to their ends, and waits for the command's.
fn gather(
    child: &mut Child,
    program: &str,
    deadline: Instant,
    limit: Duration,
) -> Result<Output, SlurmError> {
    let late = || SlurmError::Late {
        program: program.into(),
        limit,
    };
    let bytes = reader(child.stdout.take());
    let error = reader(child.stderr.take());
    let read = |from: &Receiver<io::Result<Vec<u8>>>| {
        let left = deadline.saturating_duration_since(Instant::now());
        let read = from.recv_timeout(left).map_err(|why| match why {
            RecvTimeoutError::Timeout => late(),
            RecvTimeoutError::Disconnected => failed(program, io::ErrorKind::BrokenPipe.into()),
        })?;
        let bytes = read.map_err(|source| failed(program, source))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(SlurmError::Unusable(format!(
                "{program} wrote more than {MOST_BYTES} bytes, which is no answer of Slurm: see what `{program}` is in PATH"
            )));
        }
        Ok(bytes)
    };
    let (bytes, error) = (read(&bytes)?, read(&error)?);
    loop {
        if let Some(status) = child.try_wait().map_err(|source| failed(program, source))? {
            return Ok(Output {
                bytes,
                text: text(&error),
                code: status.code(),
            });
        }
        if Instant::now() >= deadline {
            return Err(late());
        }
        thread::sleep(LOOK);
    }
}

/// Reads in a thread of its own, since both outputs must be emptied at once, and since one may never end.
fn reader(pipe: Option<impl Read + Send + 'static>) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver): (Sender<io::Result<Vec<u8>>>, _) = channel();
    let read = move || {
        let mut bytes = Vec::new();
        let read = pipe.map_or(Ok(0), |pipe| {
            pipe.take(MOST_BYTES + 1).read_to_end(&mut bytes)
        });
        // Nobody listens where the time was over.
        let _ = sender.send(read.map(|_| bytes));
    };
    // Without a thread the sender is dropped, which the receiver sees.
    let thread = thread::Builder::new().name("slurm output".into());
    let _ = thread.spawn(read);
    receiver
}
