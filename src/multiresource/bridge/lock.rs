use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};

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
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let mut file = opened.map_err(failed)?;
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
        let written = file.set_len(0).and_then(|()| file.rewind());
        written
            .and_then(|()| write!(file, "{}", std::process::id()))
            .map_err(failed)?;
        Ok(Lock { _file: file })
    }
}
