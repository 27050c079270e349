//! The figures of papers, recomputed as tables and pictures, with findings on the papers' claims.

mod curve;
mod fairness;
mod hesrpt;
mod msr;
mod path;
mod quickswap;
mod rules;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use curve::{Done, Figure};
use synth::kind::table;
use synth::kind::{
    Caller, NamesFiles, Notice, RunVerb, VerbOutput, VerbResult, folder_for_results, refuse,
};
use synth::report::{Csv, Section, WIDTH};
use synth::typed::count;

/// Recompute the figures of a paper: pictures, tables, and its claims compared with the results
#[derive(Args)]
pub struct Arguments {
    /// The paper
    paper: Paper,

    /// Folder for figureN.svg, figureN.csv and findings.csv
    #[arg(long, value_name = "DIR")]
    output: PathBuf,

    /// Draw only these figures
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    figure: Vec<u32>,

    /// Maximum events per simulated point (Borg cell B: three times as many)
    #[arg(long, value_name = "EVENTS", default_value = "2e7", value_parser = count)]
    events: u64,
}

impl NamesFiles for Arguments {}

impl RunVerb for Arguments {
    fn run(&self, caller: &mut Caller<'_>) -> VerbResult<VerbOutput> {
        let (findings, written) = self.write(|what| caller.notify(Notice::Known(what)))?;
        let section = report(&findings);
        if let Err(why) = written {
            let text = section.text(WIDTH);
            caller.output.write_all(text.as_bytes())?;
            return refuse(format!("cannot write to {}: {why}", self.output.display()));
        }
        Ok(VerbOutput::of_section(section))
    }
}

/// A paper with figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Paper {
    /// Chen, Grosof, Berg: Markovian Service Rate policies (POMACS 2025), figures 2 to 5
    Msr,
    /// Chen, Grosof, Berg: Quickswap (2025), figures 1 to 8
    Quickswap,
    /// Berg, Vesilo, Harchol-Balter: heSRPT (2020), figure 4
    Hesrpt,
    /// Bonald, Comte: balanced fairness (2017), figures 1 to 4
    BalancedFairness,
}

/// A claim of a paper and the finding.
#[derive(Clone, Debug)]
pub struct PaperFinding {
    /// The section or figure.
    pub place: &'static str,
    /// The claim.
    pub says: &'static str,
    /// The finding.
    pub found: String,
    /// Whether the claim holds; `None` if the runs were too short to tell.
    pub holds: Option<bool>,
}

/// Figures that are computed together, with the findings.
pub struct DrawnFigures {
    figures: Vec<Figure>,
    findings: Vec<PaperFinding>,
}

impl DrawnFigures {
    fn new(figures: impl Into<Vec<Figure>>, findings: impl Into<Vec<PaperFinding>>) -> Self {
        let (figures, findings) = (figures.into(), findings.into());
        DrawnFigures { figures, findings }
    }
}

type Draw = fn(u64) -> Done<DrawnFigures>;

impl Paper {
    fn parts(self) -> Vec<(&'static [u32], Draw)> {
        match self {
            Paper::Msr => vec![
                (&[2], msr::figure2),
                (&[3], msr::figure3),
                (&[4], msr::figure4),
                (&[5], msr::figure5),
            ],
            Paper::Quickswap => vec![
                (&[1], quickswap::figure1),
                (&[2], quickswap::figure2),
                (&[3], quickswap::figure3),
                (&[4], quickswap::figure4),
                (&[5, 8], quickswap::figure5_and_8),
                (&[6, 7], quickswap::figure6_and_7),
            ],
            Paper::Hesrpt => vec![(&[4], hesrpt::figure4)],
            Paper::BalancedFairness => vec![
                (&[1], fairness::figure::<1>),
                (&[2], fairness::figure::<2>),
                (&[3], fairness::figure::<3>),
                (&[4], fairness::figure::<4>),
            ],
        }
    }
}

impl Arguments {
    /// Writes all or the requested figures as CSV and SVG, and the findings to `findings.csv`.
    /// Returns the findings and whether all files were written; errors if a figure is unknown or
    /// the folder not writable.
    fn write(&self, mut tell: impl FnMut(&str)) -> Done<(Vec<PaperFinding>, Done<()>)> {
        let (only, folder): (&[u32], &Path) = (&self.figure, &self.output);
        let parts = self.paper.parts();
        let known = parts.iter().flat_map(|(numbers, _)| *numbers);
        let known: Vec<u32> = known.copied().collect();
        if let Some(missing) = only.iter().find(|number| !known.contains(number)) {
            return refuse(format!(
                "there is no figure {missing}: choose from {known:?}"
            ));
        }
        folder_for_results(folder)?;
        let (mut findings, mut written) = (Vec::new(), Ok(()));
        for (numbers, draw) in parts {
            if !only.is_empty() && !numbers.iter().any(|number| only.contains(number)) {
                continue;
            }
            let drawn = draw(self.events)?;
            for figure in drawn.figures {
                let own = figure.write(folder);
                if own.is_ok() {
                    tell(&format!("wrote {}", figure.name));
                }
                written = written.and(own);
            }
            findings.extend(drawn.findings);
        }
        let mut table = Csv::titled(["place", "says", "found", "holds"])?;
        for own in &findings {
            table.row([own.place, own.says, &own.found, own.verdict()])?;
        }
        let own = std::fs::write(folder.join("findings.csv"), table.text()?);
        Ok((findings, written.and(own.map_err(Into::into))))
    }
}

impl PaperFinding {
    fn verdict(&self) -> &'static str {
        match self.holds {
            Some(true) => "yes",
            Some(false) => "no",
            None => "undecided",
        }
    }
}

/// Returns the table of findings.
pub fn report(findings: &[PaperFinding]) -> Section {
    let title = "Claims of the paper compared with the results";
    table!(title, findings, own => {
        "place" => own.place,
        "claim" => own.says,
        "holds" => own.verdict(),
        "result" => &own.found,
    })
}
