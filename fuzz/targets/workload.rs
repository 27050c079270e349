//! Reads a workload of any kind, which must be either accepted or rejected without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use synth_core::artifact::Content;

fn read<K: Content>(text: &str) {
    if let Err(error) = K::parse(text, "fuzz.yaml") {
        assert!(!error.to_string().trim().is_empty());
    }
}

fuzz_target!(|text: &str| {
    read::<synth_multiresource::artifact::Multiresource>(text);
    read::<synth_compatibility::artifact::Compatibility>(text);
    read::<synth_malleable::artifact::Malleable>(text);
    read::<synth_volunteer::artifact::Volunteer>(text);
});
