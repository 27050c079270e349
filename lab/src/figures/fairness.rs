//! These are the figures 1 to 4 in a paper on balanced fairness (Bonald and Comte, Performance
//! Evaluation 116, 2017), which show the effect of the size distribution on the delay.

use super::curve::{BLUE, Curve, GREEN, GREY, Kind, Panel, VERMILLION, axis, sheet};
use super::rules::of_events;
use super::{Drawn, PaperFinding};
use synth::compatibility::analysis;
use synth::compatibility::simulator::{Rule, simulate};
use synth::compatibility::workload::{Cluster, ClusterDocument, Trial};
use synth::document::WorkloadDocument as _;
use synth::kind::VerbResult;
use synth::simulation::Estimate;

const LOADS: [f64; 10] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];

const INTERRUPTIONS: [(f64, usize, &str); 3] = [
    (0.0, VERMILLION, "first come, first served"),
    (1.0, BLUE, "one interruption a job"),
    (5.0, GREEN, "five"),
];

type System = (&'static str, &'static [&'static str], String, (f64, f64));

fn three(rate: u32) -> String {
    format!(
        "kind: compatibility
servers: [{{name: a, rate: 1}}, {{name: b, rate: {rate}}}, {{name: c, rate: 1}}]
classes:
  - {{name: class 1, servers: [a, c], arrival_rate: 1}}
  - {{name: class 2, servers: [b, c], arrival_rate: 1}}
mean_size: 1
"
    )
}

fn drawn(degree: u32) -> String {
    format!(
        "kind: compatibility\nassignment: {{random: {{servers: 100, rate: 1, degree: {degree}}}, arrival_rate: 90}}\nmean_size: 1\n"
    )
}

fn system(figure: u32) -> System {
    let (all, classes) = (&["all jobs"][..], &["class 1", "class 2"][..]);
    match figure {
        1 => ("three servers", all, three(1), (2.0, 5.0)),
        2 => (
            "two servers, class 2 on one",
            classes,
            three(0),
            (2.0, 15.0),
        ),
        3 => ("two of a hundred servers", all, drawn(2), (2.0, 3.0)),
        _ => ("three of a hundred servers", all, drawn(3), (3.0, 2.0)),
    }
}

/// Draws the rates above the delays, with one column for each size distribution.
pub(super) fn figure<const N: u32>(events: u64) -> VerbResult<Drawn> {
    let (title, classes, text, (rate, delay)) = system(N);
    let cluster = ClusterDocument::parse(&text, title)?.workload;
    let own = analysis::load(&cluster).load;
    let at = |load: f64| -> VerbResult<Cluster> {
        Ok(cluster.scaled(load / own).ok_or("out of range")?)
    };
    let fair = |load: f64, class: usize| -> VerbResult<f64> {
        let scaled = at(load)?;
        Ok(analysis::means(&scaled)?.numbers[class] / scaled.arrival_rates()[class])
    };
    let (mut above, mut below) = (Vec::new(), Vec::new());
    // If there is one interruption, this is how much larger the delays are at a load of 0.9.
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for trial in [Trial::Bimodal, Trial::Hyperexponential, Trial::Zipf] {
        let mut delays = Vec::new();
        for (class, label) in classes.iter().enumerate() {
            let loads = (1..=97).map(|percent| f64::from(percent) / 100.0);
            let exact = loads.map(|load| Ok((load, Some(fair(load, class)?))));
            let exact = exact.collect::<VerbResult<Vec<_>>>()?;
            let label = format!("balanced fairness, {label}");
            delays.push(Curve::known(label, GREY, Kind::Exact, exact));
        }
        for own in INTERRUPTIONS {
            let simulated = simulated(&at, trial, own, (classes, events))?;
            for (class, curve) in simulated.iter().enumerate() {
                if let Some(found) = curve.at(0.9).filter(|_| own.0 == 1.0) {
                    let beyond = found.mean / fair(0.9, class)? - 1.0;
                    (least, most) = (least.min(beyond), most.max(beyond));
                }
            }
            delays.extend(simulated);
        }
        let law = format!("{trial:?}").to_lowercase();
        let panel = |label, top, curves| {
            let across = axis("load ρ", (0.0, 1.0), false);
            let up = axis(label, (0.0, top), false);
            Panel::new(format!("{title}: {law}"), across, up, curves)
        };
        let rates = delays.iter().map(inverse).collect();
        above.push(panel("mean service rate", rate, rates));
        below.push(panel("mean delay", delay, delays));
    }
    let finding = PaperFinding {
        place: "figures 1 to 4",
        says: "in practice, it is enough to interrupt each job once",
        found: format!(
            "{title}: at a load of 0.9, the delays are larger than the delays of balanced fairness by {:.0} to {:.0} %",
            100.0 * least,
            100.0 * most
        ),
        holds: most.is_finite().then_some(most < 0.1),
    };
    above.extend(below);
    let figure = sheet(N, (400, 380), 3, above);
    Ok((vec![figure], vec![finding]))
}

fn simulated(
    at: &dyn Fn(f64) -> VerbResult<Cluster>,
    trial: Trial,
    (interruptions, color, rule): (f64, usize, &str),
    (classes, events): (&[&str], u64),
) -> VerbResult<Vec<Curve>> {
    let mut points = vec![Vec::new(); classes.len()];
    for load in LOADS {
        let scaled = at(load)?;
        let settings = of_events(events, 4);
        let sized = scaled.with_sizes(trial.distribution(scaled.size()));
        let run = simulate(&sized, &Rule::Fair(interruptions), &settings, |_| ())?;
        for (class, points) in points.iter_mut().enumerate() {
            points.push((load, run.types[class].mean_response));
        }
    }
    let curves = classes.iter().zip(points).map(|(class, points)| {
        Curve::new(format!("{rule}, {class}"), color, Kind::Simulated, points)
    });
    Ok(curves.collect())
}

fn inverse(delays: &Curve) -> Curve {
    let points = delays.points.iter().map(|(load, delay)| {
        let rate = delay.map(|own| Estimate {
            mean: 1.0 / own.mean,
            half_width: own.half_width / own.mean.powi(2),
            ..own
        });
        (*load, rate)
    });
    Curve::new(&delays.label, delays.color, delays.kind, points.collect())
}
