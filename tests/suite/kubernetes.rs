//! The example on Kubernetes against the API server of its own: a policy decides when pods lose their gate, while requests
//! fail, watches break off and the bridge is killed.

use std::process::{Command, Stdio};

use crate::common::*;

fn python() -> String {
    std::env::var("PYTHON").unwrap_or_else(|_| "python3".into())
}

/// Whether there is a Python that the example can run with; says so where there is none.
fn there_is_a_python() -> bool {
    let mut asked = Command::new(python());
    let asked = asked.args(["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]);
    let there = asked.stdin(Stdio::null()).output();
    let there = there.is_ok_and(|output| output.status.success());
    if !there {
        eprintln!(
            "examples/kubernetes is not run: no Python 3.9 or later, as python3 or by $PYTHON"
        );
    }
    there
}

#[test]
fn pods_are_released_by_a_policy() {
    if !there_is_a_python() {
        return;
    }
    let ran = Command::new(python())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("SYNTH", env!("CARGO_BIN_EXE_synth"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg("examples/kubernetes/try.py")
        .output()
        .unwrap();
    let printed = stdout(&ran);
    assert_eq!(code(&ran), 0, "{printed}{}", stderr(&ran));
    for family in ["quickswap", "msr"] {
        let line = format!("{family}: 40 pods in ");
        has(&printed, &line);
    }
}
