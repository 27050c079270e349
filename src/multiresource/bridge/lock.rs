use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::BridgeError;

/// Keeps other bridges on this host away from a partition as long as it lives.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Of this partition of this cluster, for all users.
    pub fn take(cluster: &str, partition: &str) -> Result<Self, BridgeError> {
        let safe = |name: &str| -> String {
            name.chars()
                .map(|c| {
                    if c.is_alphanumeric() || "-.".contains(c) {
                        c
                    } else {
                        '_'
                    }
                })
                .collect()
        };
        let name = format!("synth-bridge-{}-{}.lock", safe(cluster), safe(partition));
        let path = std::env::temp_dir().join(name);
        let failed = |source| BridgeError::Lock {
            path: path.display().to_string(),
            source,
        };
        let mut file = open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(source)) => return Err(failed(source)),
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let known = file.read_to_string(&mut pid).is_ok() && !pid.trim().is_empty();
                return Err(BridgeError::Locked {
                    pid: if known {
                        pid.trim().into()
                    } else {
                        "unknown".into()
                    },
                    partition: partition.into(),
                    cluster: cluster.into(),
                    path: path.display().to_string(),
                });
            }
        }
        // Who runs it is of use to others, and no condition: where another user made the file it cannot be written.
        let written = file.set_len(0).and_then(|()| file.rewind());
        let _ = written.and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Lock { _file: file })
    }
}

/// Whoever ran a bridge before has made the file, and it stays: it is for all users. One that cannot be written can be
/// locked all the same.
fn open(path: &Path) -> io::Result<File> {
    let there = OpenOptions::new().read(true).write(true).open(path);
    match there {
        Err(why) if why.kind() == io::ErrorKind::NotFound => {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .open(path)?;
            file.set_permissions(Permissions::from_mode(0o666))?;
            Ok(file)
        }
        Err(why) if why.kind() == io::ErrorKind::PermissionDenied => File::open(path),
        other => other,
    }
}
