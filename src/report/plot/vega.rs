//! The same pictures for others to draw: a Vega-Lite document with the numbers in it.

use serde_json::{Value, json};

use super::schedule::rectangles;
use super::{Data, Form, Panel, Scale};

/// Writes panels below each other as one Vega-Lite document (version 5); `labels` are those of the looks of curves.
pub fn vega<'a>(title: &str, panels: impl Iterator<Item = &'a Panel>, labels: &[String]) -> Value {
    let each = panels.filter_map(|panel| view(panel, panel.picture.data.as_ref()?, labels));
    json!({
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": title,
        "vconcat": each.collect::<Vec<_>>(),
        "resolve": {"scale": {"color": "independent", "y": "independent"}},
    })
}

fn view(panel: &Panel, data: &Data, labels: &[String]) -> Option<Value> {
    if let Form::Schedule(stretch, factor) = &data.form {
        let rows = rectangles(stretch, *factor).map(|(class, [start, end, low, high])| json!({"class": class, "start": start, "end": end, "low": low, "high": high}));
        return Some(json!({
            "title": panel.title,
            "description": panel.description,
            "width": WIDTH,
            "data": {"values": rows.collect::<Vec<_>>()},
            "mark": {"type": "rect", "stroke": "white", "strokeWidth": 0.5},
            "encoding": {
                "x": {"field": "start", "type": "quantitative", "title": data.x.0},
                "x2": {"field": "end"},
                "y": {"field": "low", "type": "quantitative", "title": stretch.resource.0},
                "y2": {"field": "high"},
                "color": {"field": "class", "type": "nominal", "sort": stretch.classes, "title": null},
            },
        }));
    }
    let label = |n: usize| labels.get(n).map_or("", String::as_str);
    let rows = data.curves.iter().flat_map(|curve| {
        curve.points.iter().map(move |own| {
            let mut row =
                json!({"policy": label(curve.look.place()), "at": own.at, "value": own.value});
            if let Form::Rows(names) = &data.form {
                row["at"] = names.get(own.at as usize).cloned().into();
            }
            if own.half_width > 0.0 {
                row["low"] = (own.value - own.half_width).into();
                row["high"] = (own.value + own.half_width).into();
            }
            row
        })
    });
    let rows: Vec<Value> = rows.collect();
    let axis = |field: &str, (title, scale): &(String, Scale)| {
        let title = if title.is_empty() {
            &panel.title
        } else {
            title
        };
        let scale = if *scale == Scale::Log {
            "log"
        } else {
            "linear"
        };
        json!({"field": field, "type": "quantitative", "title": title, "scale": {"type": scale, "zero": false}})
    };
    let nominal =
        |field: &str| json!({"field": field, "type": "nominal", "title": null, "sort": null});
    let (marks, x, y, along) = match data.form {
        Form::Curves => (
            json!({"type": "line", "point": true}),
            axis("at", &data.x),
            axis("value", &data.y),
            "y",
        ),
        Form::Lines => (
            json!("line"),
            axis("at", &data.x),
            axis("value", &data.y),
            "y",
        ),
        Form::Rows(_) => (json!("point"), axis("value", &data.x), nominal("at"), "x"),
        Form::Bars | Form::Schedule(..) => {
            let mut x = axis("value", &data.x);
            x["scale"] = json!({"zero": true});
            (json!("bar"), x, nominal("policy"), "x")
        }
    };
    let mut low = if along == "x" { x.clone() } else { y.clone() };
    low["field"] = json!("low");
    let interval = json!({along: low, format!("{along}2"): {"field": "high"}});
    Some(json!({
        "title": panel.title,
        "description": panel.description,
        "width": WIDTH,
        "data": {"values": rows},
        "encoding": {"x": x, "y": y, "color": {"field": "policy", "type": "nominal", "sort": labels, "title": null}},
        "layer": [{"mark": marks}, {"mark": "rule", "encoding": interval}],
    }))
}

/// Width of a view in pixels.
const WIDTH: u32 = 560;
