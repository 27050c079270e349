use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Locks a partition until the file is closed, so that no user on this host can run another bridge.
pub(super) fn locked(cluster: &str, partition: &str) -> Result<File, String> {
    let safe = |name: &str| -> String {
        name.replace(|c: char| !(c.is_alphanumeric() || "-.".contains(c)), "_")
    };
    let name = format!("synth-bridge-{}-{}.lock", safe(cluster), safe(partition));
    let path = std::env::temp_dir().join(name);
    let failed = |why: io::Error| {
        format!(
            "cannot lock {}: {why}; use TMPDIR to set the folder for lock files",
            path.display()
        )
    };
    let mut file = open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::Error(why)) => return Err(failed(why)),
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            let known = file.read_to_string(&mut pid).is_ok() && !pid.trim().is_empty();
            let pid = if known { pid.trim() } else { "unknown" };
            return Err(format!(
                "another bridge (process {pid}) runs the partition `{partition}` of `{cluster}`: stop it first; the file {} is locked",
                path.display()
            ));
        }
    }
    // The process id is only informative, and it cannot be written to the file of another user.
    let written = file.set_len(0).and_then(|()| file.rewind());
    let _ = written.and_then(|()| write!(file, "{}", std::process::id()));
    Ok(file)
}

/// Opens the lock file of all users, which is never removed. It can be locked even if it is
/// read-only.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    match options.read(true).write(true).open(path) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => {
            let file = options.create_new(true).open(path)?;
            file.set_permissions(Permissions::from_mode(0o666))?;
            Ok(file)
        }
        Err(why) if why.kind() == io::ErrorKind::PermissionDenied => File::open(path),
        other => other,
    }
}
