//! The Python package: its own tests, by `scripts/python`.

use std::io::Write as _;
use std::process::{Command, Stdio};

const NEEDED: &str = "SYNTH_NEEDS_PYTHON";

/// That `scripts/python` found no Python, or no index of packages.
const ABSENT: i32 = 77;

#[test]
fn the_package_passes_its_tests() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/python");
    let run = Command::new(script)
        .env("SYNTH", env!("CARGO_BIN_EXE_synth"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [run.stdout, run.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let is_needed = std::env::var_os(NEEDED).is_some();
    if run.status.code() == Some(ABSENT) && !is_needed {
        // Not by a macro, whose output a passed test hides.
        let why = said[1].trim_end();
        let _ = writeln!(
            std::io::stderr(),
            "skipped, the tests of the Python package: {why}"
        );
        return;
    }
    assert!(run.status.success(), "{}{}", said[0], said[1]);
}
