//! Figures as tables: panels of curves of rows, each a policy at a load; their simulation.
use std::fmt::Write;
use std::path::Path;

use plotters::style::RGBColor;
use synth::multiresource::artifact::{Family, MsrPolicy, Preemption};
use synth::multiresource::simulator::{Contender, Estimate, Settings};
use synth::multiresource::workload::Workload;

use crate::Result;
use crate::draw::picture;
use crate::picture::{Axis, Mark};
use crate::theory::{Theory, at_load, total};

/// One policy at one load.
#[derive(Clone)]
pub struct Row {
    pub load: f64,
    pub rule: Contender,
    pub theory: Option<Theory>,
    /// Events to simulate; 0 for none.
    pub events: u64,
    pub simulated: Option<Estimate>,
}

impl Row {
    pub fn exact(workload: &Workload, load: f64, policy: MsrPolicy) -> Result<Self> {
        let theory = Some(total(workload, &policy)?);
        Ok(Row {
            theory,
            ..Row::simulated(load, Contender::from(Family::Msr(policy)), 0)
        })
    }

    pub fn simulated(load: f64, rule: Contender, events: u64) -> Self {
        let (theory, simulated) = (None, None);
        Row {
            load,
            rule,
            theory,
            events,
            simulated,
        }
    }

    pub fn policy(&self) -> Option<&MsrPolicy> {
        match &self.rule {
            Contender::Policy(policy) => policy.msr(),
            _ => None,
        }
    }

    pub fn cells(&self) -> String {
        let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.6}"));
        let of = |f: fn(&MsrPolicy) -> Option<f64>| number(self.policy().and_then(f));
        let route = self
            .policy()
            .filter(|p| p.preemption != Preemption::Full)
            .map_or(String::new(), |p| p.route.to_string());
        let theory = |f: fn(&Theory) -> f64| number(self.theory.as_ref().map(f));
        [
            self.load.to_string(),
            route,
            of(|p| Some(p.switching_rate)),
            of(|p| p.setup_rate),
            theory(|t| t.lower),
            theory(|t| t.exact),
            theory(|t| t.approximation),
            theory(|t| t.upper),
            theory(|t| t.printed[0]),
            theory(|t| t.printed[1]),
            theory(|t| t.printed[2]),
            number(self.simulated.map(|e| e.mean)),
            number(self.simulated.map(|e| e.half_width)),
        ]
        .join(",")
    }
}

pub const COLUMNS: &str = "panel,policy,load,route,switching_rate,setup_rate,lower,exact,approximation,\
    upper,printed_lower,printed_approximation,printed_upper,simulated,half_width";

/// How a curve is drawn.
#[derive(Clone, Copy, PartialEq)]
pub enum Look {
    /// Bounds shaded, approximation dashed, exact curve, simulated points.
    Full,
    /// The exact curve and simulated points.
    Thin,
    /// Simulated points, joined.
    Points,
}

pub struct Curve {
    pub label: String,
    pub color: RGBColor,
    pub look: Look,
    pub rows: Vec<Row>,
}

pub struct Panel {
    pub title: String,
    pub axis: Axis,
    /// Where a row stands on it.
    pub at: fn(&Row) -> f64,
    pub heights: (f64, f64),
    pub curves: Vec<Curve>,
    pub marks: Vec<Mark>,
}

pub struct Figure {
    pub name: &'static str,
    pub size: (u32, u32),
    pub grid: (usize, usize),
    pub panels: Vec<Panel>,
}

impl Figure {
    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut Row> {
        let curves = self.panels.iter_mut().flat_map(|p| &mut p.curves);
        curves.flat_map(|c| &mut c.rows)
    }

    pub fn table(&self) -> String {
        let mut text = COLUMNS.to_string() + "\n";
        for panel in &self.panels {
            for curve in &panel.curves {
                for row in &curve.rows {
                    let (title, label) = (&panel.title, &curve.label);
                    text += &format!("\"{title}\",\"{label}\",{}\n", row.cells());
                }
            }
        }
        text
    }

    pub fn curve(&self, panel: usize, label: &str) -> Option<&Curve> {
        let mut curves = self.panels[panel].curves.iter();
        curves.find(|c| c.label.starts_with(label))
    }

    pub fn finish(mut self, workload: &Workload, folder: &Path) -> Result<Self> {
        simulate(workload, self.rows_mut().filter(|r| r.events > 0).collect())?;
        let path = |end: &str| folder.join(format!("{}.{end}", self.name));
        std::fs::write(path("csv"), self.table())?;
        picture(&self).draw(&path("svg"))?;
        println!("wrote {}", path("svg").display());
        Ok(self)
    }
}

/// Simulates all rows, each with a seed of its own: with one seed for all, rows at the same load
/// would see the same arrivals, and miss the exact value together.
pub fn simulate(workload: &Workload, rows: Vec<&mut Row>) -> Result<()> {
    for (seed, row) in (1..).zip(rows) {
        simulate_row(workload, row, seed)?;
    }
    Ok(())
}

fn simulate_row(workload: &Workload, row: &mut Row, seed: u64) -> Result<()> {
    let workload = at_load(workload, row.load)?;
    let settings = Settings {
        seed,
        events: row.events,
        ..Settings::default()
    };
    let run = row.rule.simulate(&workload, &settings, |_| ())?;
    row.simulated = run.mean_number;
    let mut line = match row.policy() {
        Some(p) => format!("{:?} at α = {:.4}", p.preemption, p.switching_rate),
        None => format!("{:?}", row.rule),
    };
    write!(line, ", ρ = {}: ", row.load)?;
    match row.simulated {
        Some(e) => write!(line, "{:.3} ± {:.3}", e.mean, e.half_width)?,
        None => write!(line, "{:?}, no mean", run.health)?,
    }
    if let Some(theory) = &row.theory {
        write!(line, " (exact {:.3})", theory.exact)?;
    }
    println!("  {line}");
    Ok(())
}
