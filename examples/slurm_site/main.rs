//! This example prints four weeks of accounting data of a synthetic Slurm site, like `sacct -aXP`.
//!
//! ```text
//! cargo run --release --example slurm_site > sacct.txt synth fit sacct.txt --servers
//! "40xcpu=64,memory=256;4xcpu=64,memory=1024;8xcpu=64,memory=512,gpu=4" -o site.yaml
//! ```

mod site;

fn main() {
    print!("{}", site::sacct(1, 12_000, 28));
}
