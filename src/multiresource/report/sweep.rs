//! The cost over the switching rate, as CSV and as a page.

use itertools::Itertools;

use crate::multiresource::synthesis::SweepPoint;
use crate::multiresource::workload::Workload;
use crate::report::plot::{Axis, Curve, Drawn, Panel, Point, Scale, lines};
use crate::report::{Csv, Page, Section, Shown, number};

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

/// Mean response time over the switching rate, a curve for each route: exact, or the
/// approximation (which the legend says) where a point has no exact value.
///
/// # Errors
/// When the page cannot be rendered.
pub fn sweep_page(workload: &Workload, swept: &[SweepPoint]) -> Drawn<String> {
    let unit = workload.time_unit();
    let by_route = swept.iter().chunk_by(|point| point.route);
    let routes = by_route.into_iter().map(|(route, points)| {
        let points: Vec<&SweepPoint> = points.collect();
        let is_exact = points.iter().all(|point| point.mean_response.is_some());
        let how = if is_exact { "" } else { " (approximation)" };
        (format!("{route}{how}"), points)
    });
    let routes: Vec<(String, Vec<&SweepPoint>)> = routes.collect();
    let least = swept.iter().map(value).fold(f64::INFINITY, f64::min);
    let curve = |(n, (_, points)): (usize, &(String, Vec<&SweepPoint>))| {
        let points = points.iter();
        let points = points.map(|point| Point::exact(point.switching_rate, value(point)));
        Curve::new(n, points.filter(|p| p.value <= DRAWN * least).collect())
    };
    let curves: Vec<Curve> = routes.iter().enumerate().map(curve).collect();
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let x = Axis::around(&format!("α [1/{unit}]"), Scale::Log, points().map(|p| p.at));
    let y = Axis::around("", Scale::Log, points().map(|p| p.value));
    let title = format!("Mean response time [{unit}], log scale");
    let description = format!("{title}, over the switching rate");
    let row = |(route, points): &(String, Vec<&SweepPoint>)| {
        let best = points.iter().min_by(|a, b| value(a).total_cmp(&value(b)));
        let cells = best.map_or([f64::NAN; 2], |best| [value(best), best.switching_rate]);
        let cells = cells.map(|cell| Shown::plain(number(cell)));
        (route.clone(), cells.into())
    };
    let page = Page {
        what: "The best switching rate of each route".into(),
        caption: "A route in each row",
        columns: vec![format!("E[T] [{unit}]"), format!("at α [1/{unit}]")],
        rows: routes.iter().map(row).collect(),
        sections: vec![Section::new(
            "How does it change with the switching rate?",
            "A line for each route between the schedules.",
            vec![Panel::new(title, description, lines(&x, &y, &curves))],
        )],
        ..Page::new(
            "Mean response time over the switching rate".into(),
            routes.iter().map(|(route, _)| route.clone()),
        )
    };
    page.text()
}
