//! Draws Figures 1 to 7 of the Quickswap paper from models/one_or_all.yaml, four_types.yaml and
//! borg_cell_b.yaml, with exact means and the policies of this project beside what the paper has.
//!
//!     cargo run --release --example quickswap_figures [FOLDER]
//!
//! Writes figure1.svg … figure7.svg and a table of each (.csv) to docs/quickswap, or to the folder
//! that is named, and prints what docs/quickswap.md says of them.
mod findings;
mod many_types;
mod one_or_all;
mod path;
#[expect(dead_code, reason = "only the figures of section 7 have bands")]
#[path = "../figures/picture.rs"]
mod picture;
mod rules;
mod table;

use std::path::PathBuf;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or("docs/quickswap".into()));
    std::fs::create_dir_all(&folder)?;
    let mut figures = one_or_all::figures(&folder)?;
    figures.extend(many_types::figures(&folder)?);
    findings::findings(&figures)
}
