//! The cost over the switching rate, as CSV and as a page.

use std::error::Error;

use itertools::Itertools as _;

use crate::multiresource::synthesis::SweepPoint;
use crate::multiresource::workload::Workload;
use crate::report::plot::{Chart, Curve, Point, Scale};
use crate::report::{Csv, Report};
use synth_verb::table;

type Drawn<T> = Result<T, Box<dyn Error>>;

/// Writes one line a point; empty where there is no exact value.
///
/// # Errors
/// When the text cannot be put together.
pub fn sweep_csv(workload: &Workload, swept: &[SweepPoint]) -> Drawn<String> {
    let unit = workload.time_unit();
    let mut table = Csv::titled([
        "route".to_owned(),
        format!("switching_rate [1/{unit}]"),
        format!("mean_response [{unit}]"),
        format!("weighted_response [{unit}]"),
        format!("lower_bound [{unit}]"),
        format!("approximation [{unit}]"),
        format!("upper_bound [{unit}]"),
    ])?;
    let exact = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    for point in swept {
        table.row([
            &point.route.to_string(),
            &point.switching_rate.to_string(),
            &exact(point.mean_response),
            &exact(point.weighted_response),
            &point.lower.to_string(),
            &point.approximation.to_string(),
            &point.upper.to_string(),
        ])?;
    }
    table.text()
}

fn value(point: &SweepPoint) -> f64 {
    point.mean_response.unwrap_or(point.approximation)
}

/// Times above this many times the least are not drawn.
const DRAWN: f64 = 300.0;

/// Returns the mean response time over the switching rate, a curve for each route: exact, or the approximation (which the
/// legend tells) if a point has no exact value.
///
/// # Errors
/// When the page cannot be rendered.
pub fn sweep_page(workload: &Workload, swept: &[SweepPoint], command: String) -> Drawn<String> {
    let unit = workload.time_unit();
    let by_route = swept
        .iter()
        .into_group_map_by(|point| point.route.to_string());
    let routes = by_route.into_iter().sorted_by(|a, b| a.0.cmp(&b.0));
    let routes = routes.map(|(route, points)| {
        let is_exact = points.iter().all(|point| point.mean_response.is_some());
        let how = if is_exact { "" } else { " (approximation)" };
        (format!("{route}{how}"), points)
    });
    let routes = routes.collect_vec();
    let least = swept.iter().map(value).fold(f64::INFINITY, f64::min);
    let curve = |(n, (label, points)): (usize, &(String, Vec<&SweepPoint>))| {
        let points = points.iter();
        let points = points.map(|point| Point::exact(point.switching_rate, value(point)));
        let shown = points.filter(|p| p.value <= DRAWN * least);
        Curve::line(n, label, shown.collect())
    };
    let curves = routes.iter().enumerate().map(curve);
    let title = format!("Mean response time [{unit}]");
    let across = format!("α [1/{unit}]");
    let chart = Chart::around(&title, [&across, ""], [Scale::Log; 2], curves.collect());
    let best = routes.iter().filter_map(|(route, points)| {
        let best = points.iter().min_by(|a, b| value(a).total_cmp(&value(b)));
        Some((route, best?))
    });
    let mut section = table!("The best switching rate of each route", best, (route, best) => {
        "route" => route,
        format!("E[T] [{unit}]") => value(best),
        format!("at α [1/{unit}]") => best.switching_rate,
    });
    section.figures.extend(chart.figure());
    let report = Report {
        title: "Mean response time over the switching rate".into(),
        sections: vec![section],
        command,
        ..Report::default()
    };
    report.page()
}
