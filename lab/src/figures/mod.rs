//! This module creates the figures of several papers again, and checks if the claims are true.

mod curve;
mod fairness;
mod hesrpt;
mod msr;
mod path;
mod quickswap;
mod rules;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use curve::Figure;
use synth::kind::table;
use synth::kind::{Caller, Notice, RunVerb, VerbOutput, VerbResult, folder_for_results, refuse};
use synth::report::{Csv, Section, WIDTH};
use synth::typed::count;

/// Compute the figures of a paper again, and compare its claims with the results
#[derive(Args)]
pub struct Arguments {
    /// The paper with the figures
    paper: Paper,

    /// The directory for the files figureN.svg, figureN.csv and findings.csv
    #[arg(long, value_name = "DIR")]
    output: PathBuf,

    /// Only compute the figures with these numbers
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    figure: Vec<u32>,

    /// The maximum number of events for each simulated point, which ends earlier at a precision of
    /// 1 % (three times as many for cell B of Borg)
    #[arg(long, value_name = "EVENTS", default_value = "2e7", value_parser = count)]
    events: u64,
}

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

#[derive(Clone, Copy, ValueEnum)]
enum Paper {
    /// Figures 2 to 5 of Chen, Grosof, Berg: Markovian Service Rate policies (POMACS 2025)
    Msr,
    /// Figures 1 to 8 of Chen et al.: Quickswap (2025)
    Quickswap,
    /// Figure 4 of Berg, Vesilo, Harchol-Balter: heSRPT (2020)
    Hesrpt,
    /// Figures 1 to 4 of Bonald, Comte: balanced fairness (2017)
    BalancedFairness,
}

/// A claim that is made in a paper, and the result of checking it.
struct PaperFinding {
    /// The section or the figure of the paper.
    place: &'static str,
    says: &'static str,
    found: String,
    /// Whether the claim is true, or `None` if the runs were too short to be sure.
    holds: Option<bool>,
}

type Drawn = (Vec<Figure>, Vec<PaperFinding>);
type Draw = fn(u64) -> VerbResult<Drawn>;

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
    /// Returns the result for each claim, and an error if one of the files could not be written.
    fn write(
        &self,
        mut tell: impl FnMut(&str),
    ) -> VerbResult<(Vec<PaperFinding>, std::io::Result<()>)> {
        let (only, folder): (&[u32], &Path) = (&self.figure, &self.output);
        let parts = self.paper.parts();
        let known = parts.iter().flat_map(|(numbers, _)| *numbers);
        let known: Vec<u32> = known.copied().collect();
        if let Some(missing) = only.iter().find(|number| !known.contains(number)) {
            return refuse(format!(
                "there is no figure {missing}; it must be one of {known:?}"
            ));
        }
        folder_for_results(folder)?;
        let (mut findings, mut written) = (Vec::new(), Ok(()));
        for (numbers, draw) in parts {
            if !only.is_empty() && !numbers.iter().any(|number| only.contains(number)) {
                continue;
            }
            let (figures, results) = draw(self.events)?;
            for (name, table, picture) in figures {
                let path = |end: &str| folder.join(format!("{name}.{end}"));
                let own = std::fs::write(path("csv"), table);
                let own = own.and_then(|()| std::fs::write(path("svg"), picture));
                if own.is_ok() {
                    tell(&format!("wrote {name}"));
                }
                written = written.and(own);
            }
            findings.extend(results);
        }
        let mut table = Csv::titled(["place", "says", "found", "holds"])?;
        for own in &findings {
            table.row([own.place, own.says, &own.found, own.verdict()])?;
        }
        let own = std::fs::write(folder.join("findings.csv"), table.text()?);
        Ok((findings, written.and(own)))
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

fn report(findings: &[PaperFinding]) -> Section {
    table!("Claims of the paper compared with the results", findings, own => {
        "place" => own.place,
        "claim" => own.says,
        "holds" => own.verdict(),
        "result" => &own.found,
    })
}
