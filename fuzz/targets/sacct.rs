//! Reads a log in the format of sacct, which must be either accepted or rejected without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use synth_traces::trace::{ReadOptions, Servers, Source, Trace, TraceFormat};

fuzz_target!(|log: &[u8]| {
    let options = ReadOptions {
        format: Some(TraceFormat::Sacct),
        servers: Servers::shapes("40xcpu=96,memory=384,gpu=4").ok(),
        ..ReadOptions::default()
    };
    let source = Source::Text("fuzz".into(), log.to_vec());
    let Ok(mut trace) = Trace::open(&source, &options) else {
        return;
    };
    let _ = trace.jobs(|_| true);
});
