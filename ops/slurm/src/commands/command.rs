use std::io::{self, Read};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::columns::text;
use super::{Slurm, SlurmError};

/// The maximum size of the output. A queue of 100,000 jobs has 80 MB.
const MOST_BYTES: u64 = 256 << 20;

const POLL_INTERVAL: Duration = Duration::from_millis(1);

impl Slurm {
    pub(super) fn ask(&self, program: &str, words: &[&str]) -> Result<Vec<u8>, SlurmError> {
        let output = self.run(program, words, self.limit)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        // `scontrol show` prints to the standard output that an entity does not exist.
        let said = match output.stderr.trim_ascii() {
            [] => &output.stdout,
            _ => &output.stderr,
        };
        Err(SlurmError::Failed {
            program: program.into(),
            code: output.status.code(),
            text: text(said),
        })
    }

    pub(super) fn ask_text(&self, program: &str, words: &[&str]) -> Result<String, SlurmError> {
        Ok(text(&self.ask(program, words)?))
    }

    /// Runs a command, and kills it at the time limit. Its child processes, which may keep the
    /// output open, are not waited for.
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
            let _ = child.kill();
        }
        let _ = child.wait();
        output
    }

    /// Returns the command in an environment in which its output is the same everywhere.
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
        // These variables set defaults of options. For example, `SQUEUE_USERS` would hide jobs.
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
        "cannot run {program}: {source}: install the client commands of Slurm on this host, or add them to the PATH"
    ))
}

fn gather(
    child: &mut Child,
    program: &str,
    deadline: Instant,
    limit: Duration,
) -> Result<Output, SlurmError> {
    let late = || SlurmError::Timeout {
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
                "{program} wrote more than {MOST_BYTES} bytes, which cannot be output of Slurm: check which `{program}` is in PATH"
            )));
        }
        Ok(bytes)
    };
    let (stdout, stderr) = (read(&bytes)?, read(&error)?);
    loop {
        if let Some(status) = child.try_wait().map_err(|source| failed(program, source))? {
            return Ok(Output {
                status,
                stdout,
                stderr,
            });
        }
        if Instant::now() >= deadline {
            return Err(late());
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Reads a pipe in a thread, because both outputs must be read at once and one may never end.
fn reader(pipe: Option<impl Read + Send + 'static>) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver): (Sender<io::Result<Vec<u8>>>, _) = channel();
    let read = move || {
        let mut bytes = Vec::new();
        let read = pipe.map_or(Ok(0), |pipe| {
            pipe.take(MOST_BYTES + 1).read_to_end(&mut bytes)
        });
        let _ = sender.send(read.map(|_| bytes));
    };
    // If the thread cannot be started, the sender is dropped, which is noticed by the receiver.
    let thread = thread::Builder::new().name("slurm output".into());
    let _ = thread.spawn(read);
    receiver
}
