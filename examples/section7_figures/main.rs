//! Draws Figures 2, 3 and 4 of the MSR paper's section 7 from models/section7.yaml: exact means,
//! theorem 8's bounds, the approximation of section 6.4, and simulations beside them.
//!
//!     cargo run --release --example section7_figures [FOLDER]
//!
//! Writes figure2.svg, figure3.svg, figure4.svg and a table of each (.csv) to docs/section7, or to
//! the folder that is named, and prints what docs/section7.md says of them. All means are total
//! numbers in system, Σ E[Q_i] \[jobs\].
mod draw;
mod figures;
mod findings;
#[path = "../figures/picture.rs"]
mod picture;
mod table;
mod theory;

use std::path::{Path, PathBuf};

use synth::multiresource::workload::Workload;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or("docs/section7".into()));
    std::fs::create_dir_all(&folder)?;
    let model = Workload::read(Path::new("models/section7.yaml"))?.workload;
    let mut figures = Vec::new();
    for make in [figures::figure2, figures::figure3, figures::figure4] {
        figures.push(make(&model)?.finish(&model, &folder)?);
    }
    findings::findings(&model, &figures)
}
